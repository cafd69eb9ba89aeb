"""The verb `compare`: which protocol agrees with a reference, and at what price."""

from typing import Any

import click

from tiebreak.cli import _shared
from tiebreak.cli._pictures import Plot, plot_options
from tiebreak.cli._shared import FILES, show, verb
from tiebreak.scorers.catalogue import REFERENCE


@verb()
@click.argument("logs", type=FILES, nargs=-1, required=True)
@click.option(
    "--reference",
    default=REFERENCE,
    metavar="NAME",
    help="What the others are compared with: a protocol, a name from the report, or a log.",
)
@_shared.prices_option
@_shared.place_option("Place models by this rule in logs that it fits, as `rank` does.")
@plot_options("Draw agreement against price:")
@click.option(
    "--against",
    type=click.Choice(["calls", "depth", "tokens", "cost"]),
    default="calls",
    help="The plot's price: calls, calls in a row, tokens or dollars per item.",
)
@_shared.form_options("json", "csv")
@_shared.bootstrap_options
def compare(
    logs: tuple[str, ...],
    plot: Plot,
    against: str,
    form: str | None,
    **asked: Any,  # arguments of compare
) -> None:
    """Compare protocols with a reference, by agreement and price.

    It shows agreement, resolution, calls, tokens and money.

    LOGS are ranking logs, and folders that hold some, over the same candidates. A second run of
    the reference (-T repeat=2), or one in both orders (-T swap=always), gives the noise ceiling.

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
    comparison = compare_logs(logs, **asked)
    show(form, comparison)
    plot.draw("comparison", comparison, against=against)
