"""The command line of lm-eval with none but the tasks that are given to it.

Its index of 14,000 files of built-in tasks takes most of the time of a short run, and importing it
most of the rest: "then" among the arguments begins another run.
"""

import sys
from functools import partialmethod
from importlib import import_module
from itertools import groupby

from lm_eval.__main__ import cli_evaluate
from lm_eval.tasks import TaskManager

if __name__ == "__main__":
    import_module("lm_eval.models")  # which lm-eval does not import where there are others already
    import_module("answering_lm")  # beside this file
    TaskManager.__init__ = partialmethod(TaskManager.__init__, include_defaults=False)
    for is_run, words in groupby(sys.argv[1:], "then".__ne__):
        if is_run:
            sys.argv[1:] = words
            cli_evaluate()
