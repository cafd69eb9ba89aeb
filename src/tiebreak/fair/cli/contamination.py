"""The verb `contamination`: how many questions models know by heart."""

from tiebreak.cli._families import form_or_csv_options, level_option
from tiebreak.cli._options import File, Name, option, verb
from tiebreak.cli._shared import show


@verb()
def contamination(
    logs: tuple[File, ...],
    *,
    baselines: tuple[Name, ...] = option(
        "A dataset that was never published, to compare the others with. Repeatable.", "--baseline"
    ),
    level: float = level_option,
    form: str | None = form_or_csv_options,
) -> None:
    """Show how many questions models fill in from memory. Beside them: questions nobody can know.

    LOGS are Inspect logs of tiebreak/replay, and folders that hold some. There, each question is
    asked three times with one part taken out; it is recalled when two replies are right. Compare
    only data that were masked in the same way, with a baseline of the same form, such as your own
    bank.

    \b
    Examples:
      inspect eval tiebreak/replay -T data=gsm8k --model MODEL
      inspect eval tiebreak/replay -T data=bank.db -T name=ours --model MODEL
      tiebreak contamination logs/ --baseline ours
      tiebreak contamination logs/ --baseline ours --json
    """
    from tiebreak.fair.analysis.contamination import contamination as contamination_of

    table = contamination_of(logs, baselines=baselines, level=level)
    show(form, table)
