"""The embedded model over HTTP, for whatever speaks OpenAI's chat format."""

import threading
from collections.abc import Callable
from typing import Final

from tiebreak.local.server import LocalServer, ServerSettings, default_threads
from tiebreak.local.weights import DEFAULT_MODEL, custom_weights, find_weights

DEFAULT_PORT: Final = 8080


def serve_local(
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    *,
    path: str | None = None,
    slots: int = 1,
    threads: int | None = None,
    context: int = 4096,
    say: Callable[[str], None] = print,
    until: threading.Event | None = None,
) -> None:
    """Serve the embedded model until Ctrl-C (or until an event is set).

    Args:
        host: Address to listen on. Anyone who can reach it can use the model: there is no key.
        port: Port to listen on; 0 picks a free one.
        path: GGUF file of the user's own, else `TIEBREAK_LOCAL_WEIGHTS`, else the packaged model.
        slots: Requests that are worked on at the same time.
        threads: CPU threads; by default `TIEBREAK_LOCAL_THREADS`, else all cores.
        context: Tokens of prompt and reply together.
        say: Where the instructions go.
        until: Ends the serving when it is set.

    Raises:
        PrerequisiteError: weights or runtime are missing, or the port is taken.
    """
    weights = find_weights(path)
    own = custom_weights(path)
    name = own.stem if own else DEFAULT_MODEL
    settings = ServerSettings(weights, slots, threads or default_threads(), context)
    server = LocalServer(settings, host=host, port=port, alias=name)
    say(usage(server.address, name))
    try:
        (until or threading.Event()).wait()
    except KeyboardInterrupt:
        say("Stopped.")
    finally:
        server.close()


def usage(address: str, name: str) -> str:
    """How to reach the server from Inspect, lm-eval and curl, ready to be copied."""
    return f"""Serving {name} at {address}/v1 (Ctrl-C stops it)

Inspect:
  LOCAL_BASE_URL={address}/v1 LOCAL_API_KEY=x inspect eval TASK --model openai-api/local/{name}
As a judge:
  LOCAL_BASE_URL={address}/v1 LOCAL_API_KEY=x inspect eval tiebreak/seal \\
    -T candidates=logs/ --model-role judge=openai-api/local/{name}
lm-eval:
  lm_eval run --model local-chat-completions --apply_chat_template --tasks TASK \\
    --model_args model={name},base_url={address}/v1/chat/completions,num_concurrent=1
"""
