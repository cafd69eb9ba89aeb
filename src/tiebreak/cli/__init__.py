"""The command line: a module per verb, each a few lines over the API; `verbs` lists them."""

import os


def main() -> None:
    """Run the command `tiebreak`."""
    # Its products are small: on a machine that does other work as well, threads that wait for one
    # another take up to twice the time. NumPy reads this when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from tiebreak.cli import verbs

    verbs.main()
