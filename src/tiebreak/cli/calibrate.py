"""The verb `calibrate`: does a judge agree with people?"""

import click

from tiebreak.cli._families import form_or_csv_options, level_option, skip_faulty_option
from tiebreak.cli._options import File, option, verb
from tiebreak.cli._pictures import Plot, plot_options
from tiebreak.cli._shared import show


@verb()
def calibrate(
    logs: tuple[File, ...] = (),
    *,
    human: File = option(
        "File with columns item_id, model, stars; or item_id, model_a, model_b, winner."
    ),
    judge: tuple[File, ...] = option(
        "What a judge elsewhere said, in the same form; each rater is a judge. Repeatable."
    ),
    skip_faulty: bool = skip_faulty_option,
    level: float = level_option,
    plot: Plot = plot_options(
        "Draw κ with its intervals, and beside it a file of each judge's labels:"
    ),
    form: str | None = form_or_csv_options,
) -> None:
    """Hold judges against people, and say which judge to use. Agreement is Cohen's κ.

    LOGS are ranking logs, and folders of them: logs of tiebreak/stars if people gave stars (0 to
    3), logs of any protocol with matches if they said which of two answers is better. Each log has
    its judge, or a jury, whose judges count one by one. With --judge no log is needed. The file has
    one label per line, and optionally the columns benchmark, rater, round, answer_digest:

    \b
      item_id,model,stars,rater,round
      q17,openai/gpt-5,3,ann,1
    or
      item_id,model_a,model_b,winner
      q17,gpt-5,o3-mini,a

    \b
    Examples:
      tiebreak calibrate logs/ --human stars.csv
      tiebreak calibrate judge-a.eval judge-b.eval --human stars.csv --json
      tiebreak calibrate logs/ --human preferences.csv --csv
      tiebreak calibrate logs/ --human stars.csv --plot kappa.svg
      tiebreak calibrate --judge gpt.csv --human people.csv
    """
    from tiebreak.analysis.calibration import calibrate as calibration_of

    if not logs and not judge:
        raise click.UsageError("give ranking logs, or a judge's file: --judge FILE")
    plot.check()
    calibration = calibration_of(logs, human, judge=judge, skip_faulty=skip_faulty, level=level)
    show(form, calibration)
    plot.draw("calibration", calibration)
