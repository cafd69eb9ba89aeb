"""The verbs of `bank` that draw and export its questions, serve it and manage its sessions."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

import click

from tiebreak.cli._families import bank_option, form_options, level_option
from tiebreak.cli._options import Count, File, Name, Port, Share, option, verb
from tiebreak.cli._shared import show
from tiebreak.text import count, visible


@verb(metavar="[SESSION...]")
def export(
    sessions: tuple[str, ...] = (),
    *,
    url: str = bank_option,
    out: File | None = option(
        "The pool (.parquet) of one session, or a folder for SESSION.parquet of each. "
        "[default: this folder]",
        metavar="FILE|FOLDER",
    ),
    partial: bool = option("Take sessions that are not answered to the end, as they are."),
    questions: bool = option(
        "Instead of sessions the bank's questions with their keys, as FILE.jsonl, .parquet or "
        ".csv, which `bank import` reads again."
    ),
    status: Literal["draft", "approved", "rejected"] | None = option(
        "Only questions with this status."
    ),
) -> None:
    """Make a pool of a session's answers, with the keys to grade them. Or write the questions.

    Every session has questions of its own, so each is a pool of its own, and is judged in a log of
    its own; `tiebreak rank` joins these. A session that is not answered to the end is an error
    that names what is missing.

    \b
    Examples:
      tiebreak bank export 3f2a… --out gpt-5.parquet
      tiebreak bank export 3f2a… 77c1… --out pools/
      tiebreak bank export --questions --out questions.jsonl
      inspect eval tiebreak/stars -T candidates=gpt-5.parquet --model-role judge=openai/gpt-5
    """
    from tiebreak.candidates.parquet import write_parquet
    from tiebreak.fair.bank.export import export_questions, pool_of
    from tiebreak.fair.bank.schema import open_bank

    if questions == bool(sessions) or (status and not questions):
        raise click.UsageError("Give sessions, or --questions, which --status goes with.")
    if questions:
        if out is None:
            raise click.UsageError("--questions needs --out FILE.")
        n = export_questions(open_bank(url), out, status)
        click.echo(f"{out}: {count(n, 'question')}")
        return
    target = Path(out or ".")
    is_file = target.suffix == ".parquet"
    if is_file and len(sessions) > 1:
        raise click.UsageError(
            "sessions have different questions, so each is a pool of its own: give --out a folder"
        )
    engine = open_bank(url)
    pools = {session: pool_of(engine, session, partial=partial) for session in sessions}
    for session, pool in pools.items():
        file = write_parquet(pool, target if is_file else target / f"{session}.parquet")
        click.echo(f"{file}: {count(len(pool), 'answer')} of {visible(pool.models[0])}")
        for note in pool.notes:
            click.echo(visible(str(note)))


@verb()
def sample(
    url: str = bank_option,
    k: Count = option("How many questions.", default=1000),
    seed: str = option("Names the draw.", default="0"),
    anchors: Share | None = option(
        "Share that the seed alone decides; --session decides the rest."
    ),
    session: Name | None = option("Name of the session; needs --anchors."),
    balanced: bool = option("Make true and false right equally often."),
    share: Literal["equal", "proportional"] = option(
        "As many of each category, or as the bank has them.", default="equal"
    ),
    institution: Name | None = option(
        "Draw only what it was never given, by a server or by this verb, and keep in the bank "
        "that it has this now."
    ),
    with_keys: bool = option("Write the keys and what explains them, too."),
    out: File = option("File to write; not one that is there.", metavar="FILE.jsonl"),
) -> None:
    """Draw questions as `inspect eval tiebreak/fair` does. They are written as JSON lines.

    \b
    Examples:
      tiebreak bank sample --k 100 --seed 2026 --out questions.jsonl
      tiebreak bank sample --k 100 --anchors 0.2 --session lab-a --out lab-a.jsonl
      tiebreak bank sample --k 100 --institution lab-a --with-keys --out keys.jsonl
    """
    from tiebreak.fair.bank.export import draw_unseen, write_questions
    from tiebreak.fair.bank.sampling import draw, entries, linked
    from tiebreak.fair.bank.schema import open_bank

    if (anchors is None) != (session is None):
        raise click.UsageError("--anchors and --session go together")
    if institution is not None and anchors is not None:
        raise click.UsageError("--institution draws what is unseen: anchors are seen by all")
    if Path(out).exists():
        raise click.UsageError(f"{out} is there already: give --out another name")
    engine = open_bank(url)
    if institution is not None:
        uuids = draw_unseen(engine, k, seed, institution, balanced=balanced, share=share)
    elif anchors is None or session is None:
        uuids = draw(entries(engine), k, seed, balanced=balanced, share=share)
    else:
        bank = entries(engine)
        uuids = linked(bank, k, seed, session, anchors=anchors, balanced=balanced, share=share)
    write_questions(engine, uuids, Path(out), with_keys=with_keys)
    click.echo(f"{out}: {count(k, 'question')}{' with their keys' if with_keys else ''}")


@verb()
def serve(
    url: str = bank_option,
    host: str = option(default="127.0.0.1"),
    port: Port = option(default=8080),
    workers: Count = option("Processes that answer.", default=1),
    development: bool = option("Make a secret for this run, and print a token of an admin."),
    balanced: bool = option('As many statements that are "true" as "false" in a session.'),
    token_rate: str = option("Requests of one token.", default="100/second"),
    address_rate: str = option("Requests of one address.", default="2000/second"),
    most_body: int = option(
        "Bytes of a request, which an answer must fit into.",
        default=256 * 1024,
        type=click.IntRange(1024),
    ),
    proxy: str | None = option(
        "Proxies whose X-Forwarded-For and -Proto are believed, with commas between them. "
        "[default: none]",
        metavar="ADDRESSES",
    ),
) -> None:
    """Serve a bank to examinees who are not trusted, until Ctrl-C.

    Tokens are signed with TIEBREAK_JWT_SECRET (at least 32 bytes), or with RS256 by
    TIEBREAK_JWT_PRIVATE_KEY and verified by TIEBREAK_JWT_PUBLIC_KEY (PEM, or a file of it).
    Rates are counted by each worker for itself. The page / describes the API, /organiser shows
    sessions, results, quotas, tokens and the access log to examiners and admins.

    \b
    Examples:
      tiebreak bank serve --bank bank.db --development
      TIEBREAK_JWT_SECRET=$(openssl rand -hex 32) tiebreak bank serve --workers 2
    """
    from tiebreak.fair.server.app import run

    run(
        {
            "bank": url,
            "balanced": balanced,
            "token_rate": token_rate,
            "address_rate": address_rate,
            "most_body": most_body,
        },
        host=host,
        port=port,
        workers=workers,
        development=development,
        proxy=proxy,
    )


_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def _lifetime(context: click.Context, option: click.Parameter, text: str) -> timedelta:
    match = re.fullmatch(r"(\d{1,5})([mhd])", text)
    if not match or not int(match[1]):
        raise click.BadParameter(f"{text!r} is not a time such as 7d, 12h or 30m", context, option)
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


@verb()
def token(
    url: str = bank_option,
    user: str = option("Who gets it."),
    institution: str = option("Whose quota it draws on."),
    role: Literal["examinee", "examiner", "admin"] = option(default="examinee"),
    session: str | None = option("Good for this session only.", metavar="ID"),
    lifetime: timedelta = option(
        "How long it is good for: 7d, 12h, 30m.",
        "--expires",
        default="7d",
        callback=_lifetime,
        metavar="TIME",
    ),
) -> None:
    """Print a token for the server of a bank. It is shown once, and kept nowhere.

    It is signed with TIEBREAK_JWT_SECRET (or TIEBREAK_JWT_PRIVATE_KEY), which the server must have,
    too. Its id, for `bank revoke`, goes to the error stream.

    \b
    Examples:
      export TIEBREAK_JWT_SECRET=$(openssl rand -hex 32)
      tiebreak bank token --user ada --institution example.org
      tiebreak bank token --user me --institution organiser --role admin --expires 12h
    """
    from tiebreak.fair.bank.schema import open_bank
    from tiebreak.fair.bank.tokens import issue, jti_of, keys_from

    made = issue(
        open_bank(url),
        keys_from(),
        user=user,
        institution=institution,
        role=role,
        lifetime=lifetime,
        session=session,
    )
    click.echo(made)
    click.echo(f"Revoke it with: tiebreak bank revoke {jti_of(made)}", err=True)


@verb()
def revoke(token_or_id: str, url: str = bank_option) -> None:
    """Make a token worthless from now on. It is named by itself, or by its id (jti).

    \b
    Example:
      tiebreak bank revoke 0f8e5bd2f8b04f1e9a4c7d2b6a3e1c90
    """
    from tiebreak.fair.bank.schema import open_bank
    from tiebreak.fair.bank.tokens import jti_of, revoke

    revoke(open_bank(url), jti_of(token_or_id) if "." in token_or_id else token_or_id)
    click.echo("The token is revoked.")


@verb()
def quota(institution: str, n: Annotated[int, click.IntRange(0)], url: str = bank_option) -> None:
    """Set how many questions an institution may be given in all.

    \b
    Example:
      tiebreak bank quota example.org 4000
    """
    from tiebreak.fair.bank.quotas import grant
    from tiebreak.fair.bank.schema import open_bank

    now = grant(open_bank(url), institution, n)
    click.echo(
        f"{institution}: {count(now.granted, 'question')} granted, {now.allocated:,} allocated "
        f"({now.pending:,} pending, {now.completed:,} completed), {now.left:,} left."
    )


@verb()
def sessions(
    url: str = bank_option,
    state: Literal["open", "complete", "closed"] | None = option("Only in this state."),
    institution: str | None = option("Only its own."),
    form: str | None = form_options,
) -> None:
    """List the sessions of a bank's server. It shows how far each is, and its results.

    \b
    Examples:
      tiebreak bank sessions
      tiebreak bank sessions --state complete --json
    """
    from tiebreak.fair.bank.overview import sessions_of
    from tiebreak.fair.bank.schema import open_bank
    from tiebreak.fair.report import bank as sheets

    with open_bank(url).connect() as connection:
        listing = sessions_of(connection, state=state, institution=institution)
    show(form, listing, sheets)


@verb()
def close(session: str, url: str = bank_option) -> None:
    """End a session now. What was not asked goes back to the quota, but is not drawn again.

    \b
    Example:
      tiebreak bank close 3f2a…
    """
    from tiebreak.fair.bank.schema import open_bank
    from tiebreak.fair.bank.sessions import close

    state = close(open_bank(url), session)
    click.echo(f"Session {state.id} is closed, {state.answered:,} of {state.k:,} answered.")


@verb()
def release(
    session: str,
    *,
    logs: tuple[str, ...] = option("Its log of stars. Repeatable.", "--log", metavar="LOG"),
    hold: bool = option("Keep the results, and do not release them yet."),
    withdraw: bool = option("Take back what was released."),
    url: str = bank_option,
    level: float = level_option,
    form: str | None = form_options,
) -> None:
    """Release the results of a session to its owner.

    They come from the log that judged it by stars. The owner gets the score with its interval,
    scores by subject, and the number of answers behind them, but nothing about single questions: a
    subject of fewer than five answers is left out. A log of other questions or other answers is
    refused. Without --log the results that are held are released.

    \b
    Examples:
      tiebreak bank export 3f2a… --out session.parquet
      inspect eval tiebreak/stars -T candidates=session.parquet --model-role judge=openai/gpt-5
      tiebreak bank release 3f2a… --log logs/stars.eval
      tiebreak bank release 3f2a… --withdraw
    """
    from tiebreak.fair.bank import results
    from tiebreak.fair.bank.schema import open_bank
    from tiebreak.fair.report import bank as sheets

    if (withdraw and (logs or hold)) or (hold and not logs):
        raise click.UsageError("Give --log, with --hold if you like, or --withdraw alone.")
    if not logs:
        results.show(open_bank(url), session, shown=not withdraw)
        click.echo(
            f"The results of session {session} are {'withdrawn' if withdraw else 'released'}."
        )
        return
    from tiebreak.report.json import json_ready

    engine = open_bank(url)
    result = results.result_of(engine, session, logs, level=level)
    results.keep(engine, session, json_ready(result), released=not hold)
    show(form, result, sheets)
