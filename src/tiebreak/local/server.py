"""llama.cpp inside this process: one server per model file, started when it is first needed.

Replies are the same bytes for the same request, whatever was asked before, on a busy machine and
with any number of threads. So flash attention is off: it groups its sums by the number of tokens
and threads at work. Without it a slot may keep the beginning of a prompt that it has just read
(tests hold that this changes no reply), and a judge's next question is read twice as fast.
"""

import atexit
import os
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from tiebreak.local.weights import verify_weights
from tiebreak.prerequisite import PrerequisiteError

THREADS_ENV: Final = "TIEBREAK_LOCAL_THREADS"
MOST_THREADS: Final = 8
"""So small a model gains nothing from more."""
INSTALL_RUNTIME: Final = "pip install 'tiebreak[local]'"


class ServerSettings(NamedTuple):
    """What makes two servers different. `context` is the number of tokens of each slot."""

    weights: Path
    slots: int = 1
    threads: int = 2
    context: int = 4096


class LocalServer:
    """A running llama.cpp server. Its methods may be called from any thread."""

    def __init__(
        self, settings: ServerSettings, *, host: str = "127.0.0.1", port: int = 0, alias: str = ""
    ) -> None:
        """Load the model; this takes about a second. Port 0 picks a free one.

        Raises:
            PrerequisiteError: the runtime is not installed, or cannot load the model or the port.
        """
        runtime = _runtime()
        verify_weights(settings.weights)
        params = runtime.CommonParams()
        params.model.path = str(settings.weights)
        params.model_alias = {alias} if alias else set()
        params.n_parallel = settings.slots
        params.n_ctx = settings.context * settings.slots
        params.cpuparams.n_threads = settings.threads
        params.cpuparams_batch.n_threads = settings.threads
        params.flash_attn_type = runtime.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.cache_prompt = True
        params.cache_ram_mib = 256
        params.hostnames = [host]
        params.port = port
        params.use_jinja = True
        params.verbosity = -1
        try:
            self._server = runtime.Server(params)
        except RuntimeError as error:
            raise PrerequisiteError(
                f"llama.cpp cannot serve {settings.weights} on {host}:{port}: {error}"
            ) from error

    @property
    def address(self) -> str:
        """Where the server also answers over HTTP, such as `http://127.0.0.1:8080`."""
        return str(self._server.listening_address)

    def chat(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request in OpenAI's chat format; blocks.

        A request that cannot be answered gives `{"error": {"type": ..., "message": ...}}`.
        """
        reply: dict[str, Any] = self._server.handle_chat_completions(request)
        return reply

    def close(self) -> None:
        """Stop the server and give its memory back. It must not be used any more."""
        self._server = None


_running: dict[ServerSettings, LocalServer] = {}
_starting = threading.Lock()


def shared_server(settings: ServerSettings) -> LocalServer:
    """The process's one server with these settings; starts it when there is none yet.

    Raises:
        PrerequisiteError: as for `LocalServer`.
    """
    with _starting:
        if settings not in _running:
            _running[settings] = LocalServer(settings)
        return _running[settings]


@atexit.register
def close_servers() -> None:
    """Stop all servers of this process."""
    with _starting:
        while _running:
            _running.popitem()[1].close()


def default_threads() -> int:
    """Number of threads: `TIEBREAK_LOCAL_THREADS`, else the cores that this process may use.

    Raises:
        PrerequisiteError: the variable is no positive whole number.
    """
    given = os.environ.get(THREADS_ENV)
    if given is None:
        affinity = getattr(os, "sched_getaffinity", None)
        cores = len(affinity(0)) if affinity else os.cpu_count() or 1
        return min(cores, MOST_THREADS)
    if not (given.isascii() and given.isdigit() and int(given) > 0):
        raise PrerequisiteError(f"{THREADS_ENV} is {given!r}: it must be a positive whole number.")
    return int(given)


@lru_cache
def _runtime() -> Any:
    # Waiting threads that spin instead of sleeping bring a busy machine to a standstill. libgomp
    # reads this once, while it is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "100")
    try:
        import xllamacpp
    except ImportError as error:
        raise PrerequisiteError(
            f"The llama.cpp runtime is not installed ({error}). Install it with:\n"
            f"  {INSTALL_RUNTIME}"
        ) from error
    return xllamacpp
