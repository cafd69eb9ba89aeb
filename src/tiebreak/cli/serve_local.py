"""The verb `serve-local`: the embedded model over HTTP."""

import click

from tiebreak.cli._shared import FILES, verb


@verb("serve-local")
@click.option("--host", default="127.0.0.1")
@click.option("--port", type=click.IntRange(0, 65535), default=8080)
@click.option(
    "--path", type=FILES, metavar="FILE", help="GGUF file of your own instead of the small model."
)
@click.option("--slots", type=click.IntRange(1), default=1)
@click.option("--threads", type=click.IntRange(1), help="CPU threads. [default: all cores]")
@click.option("--context", type=click.IntRange(256), default=4096)
def serve(
    host: str, port: int, path: str | None, slots: int, threads: int | None, context: int
) -> None:
    """Serve the embedded model over HTTP in OpenAI's format. Any harness can ask it, until Ctrl-C.

    \b
    Example:
      tiebreak serve-local --port 8080
    """
    from tiebreak.demo.local.server import serve_local

    serve_local(host, port, path=path, slots=slots, threads=threads, context=context)
