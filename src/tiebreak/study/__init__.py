"""A study: from a question to a board, in one folder.

    design    models, benchmarks, judges, protocols and budget of a study (`study.yaml`)
    tasks     an Inspect task: run as an eval set, or written as a command
    folder    the folder of a study: its design, its plans, and the cost of judging so far
    answers   missing answers, by `inspect_ai.eval_set`, and their cost
    planning  plans of the judging, and their price
    run       the steps in their order: `run_study`
    estimate  the cost of judging, and what a budget buys, without a call

A user can do every step alone; results in the folder are used.
"""

from tiebreak.errors import TiebreakError


class StudyError(TiebreakError, ValueError):
    """A study cannot be run as asked; the message says what to do next."""
