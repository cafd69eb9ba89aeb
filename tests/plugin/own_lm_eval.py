"""The command line of lm-eval without its built-in tasks.

Indexing the 14,000 files of these tasks takes most of the time of a short run, and importing
lm-eval most of the rest, so one process can do several runs: "then" among the arguments begins
another one.
"""

import sys
from functools import partialmethod
from importlib import import_module
from itertools import groupby

from lm_eval.__main__ import cli_evaluate
from lm_eval.tasks import TaskManager

if __name__ == "__main__":
    import_module("lm_eval.models")  # lm-eval skips this if any model is registered
    import_module("answering_lm")  # beside this file
    TaskManager.__init__ = partialmethod(TaskManager.__init__, include_defaults=False)
    for is_run, words in groupby(sys.argv[1:], "then".__ne__):
        if is_run:
            sys.argv[1:] = words
            cli_evaluate()
