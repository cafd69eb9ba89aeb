"""The verb `bank serve`: the protected server."""

import click

from tiebreak.cli._shared import bank_option, plain_errors


@click.command()
@bank_option
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True)
@click.option(
    "--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes that answer."
)
@click.option(
    "--development", is_flag=True, help="Make a secret for this run, and print a token of an admin."
)
@click.option(
    "--balanced", is_flag=True, help='As many statements that are "true" as "false" in a session.'
)
@click.option(
    "--token-rate", default="100/second", show_default=True, help="Requests of one token."
)
@click.option(
    "--address-rate", default="2000/second", show_default=True, help="Requests of one address."
)
@click.option(
    "--most-body",
    type=click.IntRange(1024),
    default=256 * 1024,
    show_default=True,
    help="Bytes of a request, which an answer must fit into.",
)
@click.option(
    "--proxy",
    metavar="ADDRESSES",
    help="Proxies whose X-Forwarded-For and -Proto are believed, with commas between them. "
    "[default: none]",
)
def serve(
    url: str,
    host: str,
    port: int,
    workers: int,
    development: bool,
    proxy: str | None,
    **settings: object,
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
    from tiebreak.bank.errors import BankError
    from tiebreak.bank.server.serve import run

    with plain_errors(BankError):
        run(
            {"bank": url, **settings},
            host=host,
            port=port,
            workers=workers,
            development=development,
            proxy=proxy,
        )
