#!/bin/sh
# Puts secrets from files into the environment of what it starts, and of nothing else:
# NAME_FILE=/run/secrets/x gives NAME.
set -eu
for name in TIEBREAK_JWT_SECRET PGPASSWORD; do
    eval "file=\${${name}_FILE:-}"
    if [ -n "$file" ]; then
        if [ ! -s "$file" ] || [ ! -r "$file" ]; then
            echo "${name}_FILE names $file, which is empty or cannot be read by uid $(id -u)" >&2
            exit 1
        fi
        value=$(cat "$file")
        export "$name=$value"
        unset "${name}_FILE"
    fi
done
exec "$@"
