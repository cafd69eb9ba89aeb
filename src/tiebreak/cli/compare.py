"""The verb `compare`: which protocol agrees with a reference, and at what price."""

from typing import TYPE_CHECKING, Literal

from tiebreak.cli import _families
from tiebreak.cli._options import File, Name, option, verb
from tiebreak.cli._pictures import Plot, plot_options
from tiebreak.cli._shared import show
from tiebreak.scorers.catalogue import REFERENCE

if TYPE_CHECKING:
    from tiebreak.rankers import Resampling
    from tiebreak.scorers.ballots import Rule


@verb()
def compare(
    logs: tuple[File, ...],
    *,
    reference: Name = option(
        "What the others are compared with: a protocol, a name from the report, or a log.",
        default=REFERENCE,
    ),
    prices: tuple[str, ...] = _families.prices_option,
    rule: "Rule | None" = _families.place_option(
        "Place models by this rule in logs that it fits, as `rank` does."
    ),
    plot: Plot = plot_options("Draw agreement against price:"),
    against: Literal["calls", "depth", "tokens", "cost"] = option(
        "The plot's price: calls, calls in a row, tokens or dollars per item.", default="calls"
    ),
    form: str | None = _families.form_or_csv_options,
    how: "Resampling" = _families.bootstrap_options,
) -> None:
    """Compare protocols with a reference, by agreement and price.

    It shows agreement, resolution, calls, tokens and money.

    LOGS are ranking logs over the same candidates, and folders of them. A second run of the
    reference (-T repeat=2), or one in both orders (-T swap=always), gives the noise ceiling.

    \b
    Examples:
      tiebreak compare logs/
      tiebreak compare logs/ --reference seal --plot agreement.svg
      tiebreak compare logs/ --price openai/gpt-5=1.25,10 --against cost --plot cost.svg
      tiebreak compare logs/ --place elimination_tied
      tiebreak compare logs/ --csv > protocols.csv
    """
    from tiebreak.analysis.comparison import compare as compare_logs

    plot.check()
    comparison = compare_logs(logs, reference=reference, how=how, rule=rule, prices=prices)
    show(form, comparison)
    plot.draw("comparison", comparison, against=against)
