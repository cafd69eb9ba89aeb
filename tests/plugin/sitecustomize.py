"""Hides the clients of providers from the commands of tests, which would need two seconds for them.

Inspect imports all installed clients at the first sample of a run, whatever its model. Python runs
this file at its start if this folder is in PYTHONPATH. With REAL_CLIENTS in the environment the
clients stay.
"""

import gc
import os
import sys

# With the default threshold, garbage collection takes a tenth of the time to start a command.
gc.set_threshold(100_000, 20, 100)
for client in () if os.environ.get("REAL_CLIENTS") else ("anthropic", "openai"):
    sys.modules[client] = None  # type: ignore[assignment]
