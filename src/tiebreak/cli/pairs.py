"""The verb `pairs`: write preference pairs for training."""

import click

from tiebreak.cli._families import json_option, skip_faulty_option
from tiebreak.cli._options import File, NewFile, Share, option, verb
from tiebreak.cli._shared import echo_json, labels_of


@verb()
def pairs(
    logs: tuple[File, ...],
    *,
    out: NewFile = option("File: .parquet, .jsonl or .csv."),
    both_orders: bool = option(
        "Whether both orders must agree.", "--both-orders/--any-order", default=True
    ),
    people: File | None = option("CSV of people's votes on pairs."),
    skip_faulty: bool = skip_faulty_option,
    judge_agreement: Share = option("Least agreement of judges with people.", default=0.0),
    min_margin: Share = option("Least margin of the judge's votes.", default=0.0),
    as_json: bool = json_option,
) -> None:
    """Write pairs of answers for training by preferences.

    A row has a prompt, the answer that a judge preferred, the other answer (prompt, chosen,
    rejected, as TRL's trainers load them), and how sure that is. LOGS are ranking logs of protocols
    with matches. Ties and identical answers make no pair; neither do matches that another match
    contradicts, or that the less verified answer won (failed, then unchecked, then passed).

    Nothing is written if a judge agrees with people in less than --judge-agreement of the pairs
    that both judged, or if the file would contain a secret.

    \b
    Examples:
      tiebreak pairs logs/ --out pairs.parquet
      tiebreak pairs logs/ --out pairs.jsonl --any-order --min-margin 0.2
      tiebreak pairs logs/ --out pairs.parquet --people votes.csv --judge-agreement 0.7
    """
    from tiebreak.analysis.preference_pairs import preference_pairs
    from tiebreak.publish.preference_pairs import write_pairs
    from tiebreak.report.json import json_ready, only
    from tiebreak.text import count, visible

    if judge_agreement and people is None:
        raise click.UsageError("--judge-agreement needs --people, whom the judge is to agree with")
    made = preference_pairs(
        logs,
        labels_of(people, skip_faulty=skip_faulty),
        judge_agreement=judge_agreement,
        both_orders=both_orders,
        min_margin=min_margin,
    )
    write_pairs(made, out)
    if as_json:
        held = only(made, "n_matches", "left_out", "judges", "logs", "notes")
        echo_json(json_ready({"out": str(out), "n_pairs": len(made.rows), **held}))
        return
    matches = count(made.n_matches, "match", "matches")
    click.echo(visible(f"{out}: {count(len(made.rows), 'pair')} of {matches}"))
    if made.left_out:
        click.echo(f"Left out: {', '.join(f'{gate} {n:,}' for gate, n in made.left_out.items())}")
    for note in made.notes:
        click.echo(f"Note: {visible(str(note))}", err=True)
    for cell in made.judges:
        rate = cell.agreement
        share = f"{rate.value:.1%} ({rate.lower:.1%} to {rate.upper:.1%}) of {cell.n} pairs"
        click.echo(visible(f"{cell.judge} says what people say of {share}"))
