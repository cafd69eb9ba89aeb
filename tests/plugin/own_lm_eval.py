"""The command line of lm-eval with none but the tasks that are given to it.

Its index of 14,000 files of built-in tasks takes most of the time of a short run.
"""

from functools import partialmethod

from lm_eval.__main__ import cli_evaluate
from lm_eval.tasks import TaskManager

if __name__ == "__main__":
    TaskManager.__init__ = partialmethod(TaskManager.__init__, include_defaults=False)
    cli_evaluate()
