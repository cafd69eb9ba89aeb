"""The command line: a module per verb, each a few lines over the API; `verbs` lists them."""

import io
import os
import sys


def main() -> None:
    """Run the command `tiebreak`."""
    # Its products are small: on a machine that does other work as well, threads that wait for one
    # another take up to twice the time. NumPy reads this when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What the encoding of a terminal or a pipe lacks is an escape, and no error.
    if isinstance(sys.stdout, io.TextIOWrapper) and "utf" not in sys.stdout.encoding.lower():
        sys.stdout.reconfigure(errors="backslashreplace")
    from tiebreak.cli import verbs

    verbs.main()
