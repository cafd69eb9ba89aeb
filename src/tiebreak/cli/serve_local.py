"""The verb `serve-local`: serve the embedded model over HTTP."""

import click

from tiebreak.cli._options import Count, File, Port, option, verb


@verb("serve-local")
def serve(
    host: str = option(default="127.0.0.1"),
    port: Port = option(default=8080),
    path: File | None = option("GGUF file of your own instead of the small model."),
    slots: Count = option(default=1),
    threads: Count | None = option("CPU threads. [default: all cores]"),
    context: int = option(default=4096, type=click.IntRange(256)),
) -> None:
    """Serve the embedded model over HTTP in OpenAI's format. Any harness can ask it, until Ctrl-C.

    \b
    Example:
      tiebreak serve-local --port 8080
    """
    from tiebreak.demo.local.server import serve_local

    serve_local(host, port, path=path, slots=slots, threads=threads, context=context)
