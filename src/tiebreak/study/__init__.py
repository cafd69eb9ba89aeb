"""A study: from a question to a board, in one folder.

    design    what is asked of whom: models, benchmarks, judges, protocols, budget (`study.yaml`)
    tasks     a task of Inspect's: run as an eval set, or said as a command
    folder    what is kept beside the result: the design, the plans, and what judging has cost
    answers   missing answers, by `inspect_ai.eval_set`, and what they cost
    planning  what judging will be, and its price
    run       the steps in their order: `run_study`
    estimate  what judging would cost, and what a budget buys, without a call

Every step is one that a user can do alone; what lies in the folder is used.
"""

from tiebreak.errors import TiebreakError


class StudyError(TiebreakError, ValueError):
    """A study cannot be run as asked; the message says what to do."""
