"""The verb `peers`: the ranking of a peer review, and the worth of its reviewers."""

from typing import TYPE_CHECKING

import click

from tiebreak.cli._families import bootstrap_options, form_options, method_option
from tiebreak.cli._options import File, option, verb
from tiebreak.cli._shared import show

if TYPE_CHECKING:
    from tiebreak.rankers import Resampling


@verb()
def peers(
    logs: tuple[File, ...],
    *,
    methods: tuple[str, ...] = method_option(
        "How the reviews of an item become its ranking; the first has the intervals. Repeatable.",
        default=["kemeny_young"],
    ),
    form: str | None = form_options,
    items: bool = option("In JSON: the Kemeny order of each item, with its certificate."),
    how: "Resampling" = bootstrap_options,
) -> None:
    """Report a peer review: ranking and worth of each reviewer. It shows self-preference, too.

    LOGS are logs of tiebreak/peer_review, and folders of them. A sparse log (-T degree=3) is
    compared with the full one of the same candidates.

    \b
    Examples:
      tiebreak peers logs/
      tiebreak peers logs/ --method all
      tiebreak peers logs/2026-11-21_peer-review.eval --json --items > review.json
    """
    from tiebreak.analysis.peers.review import peer_report

    if items and form != "json":
        raise click.UsageError("--items goes with --json: a certificate does not fit a table.")
    report = peer_report(logs, methods=methods, how=how)
    show(form, report, items=items)
