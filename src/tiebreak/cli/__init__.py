"""The command line: one module per verb, each a thin layer over the API; `verbs` lists them."""

import io
import os
import sys


def main() -> None:
    """Run the command `tiebreak`."""
    # Our matrix products are small: on a busy machine, threads that wait for each other take up to
    # twice the time. Set this before NumPy is imported, which reads it then.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Print characters that the encoding of a terminal or pipe lacks as escapes, without an error.
    if isinstance(sys.stdout, io.TextIOWrapper) and "utf" not in sys.stdout.encoding.lower():
        sys.stdout.reconfigure(errors="backslashreplace")
    from tiebreak.cli import verbs

    verbs.main()
