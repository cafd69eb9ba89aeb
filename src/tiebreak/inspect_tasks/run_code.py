"""Running a small model's code: looked at first, then run in a child process with tight limits.

What this promises: code that imports, names or reaches for anything outside plain computation is
not run at all. What is run sees a handful of builtins and copies of a few pure modules, in a child
process with an empty environment, an empty folder, no input, limits on CPU time, memory, files and
processes, and a wall-clock limit; its output goes nowhere.

What it does not promise: it is no sandbox for hostile code. Python cannot be confined from within
for certain, and nothing here keeps a determined attacker off the network. It is meant for what the
demo's small model writes about the demo's own items. For other models use Inspect's sandboxes.
"""

import ast
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

IMPORTS: Final = frozenset(
    {"math", "re", "typing", "collections", "itertools", "functools", "string"}
)
WALL_SECONDS: Final = 8.0
LONGEST_SOURCE: Final = 20_000

_LAUNCHER: Final = Path(__file__).with_name("run_code_child.py")
_FENCED: Final = re.compile(r"```(?:python|py)?[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_PARSING: Final = threading.Lock()
_KEPT: Final = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.FunctionDef)
_NAMES: Final = frozenset(
    """
    open exec eval compile input globals locals vars getattr setattr delattr hasattr breakpoint
    memoryview help exit quit dir id object type super classmethod staticmethod property
    copyright credits license
    """.split()  # noqa: SIM905 - a table of words
)
# Ways from a generator, a coroutine or an exception to a frame, and from there to everything.
_ATTRIBUTES: Final = re.compile(r"_|(gi|cr|ag|tb|f|co)_\w+\Z|(format_map|mro)\Z")


class Outcome(NamedTuple):
    """Whether the tests passed, and in a few words why not."""

    passed: bool
    why: str = ""


def run_tests(answer: str, *, prompt: str, test: str, entry_point: str) -> Outcome:
    """Run HumanEval-style tests on the function that an answer holds.

    Args:
        answer: What the model wrote: a whole function or the rest of one, fenced or bare.
        prompt: Beginning of the program: imports, signature, docstring.
        test: Code that defines `check(candidate)`; it is trusted, since it comes with the item.
        entry_point: Name of the function under test.
    """
    source = complete_program(answer, prompt, entry_point)
    if source is None:
        return Outcome(False, f"not run: no complete function {entry_point}")
    if (reason := refusal(source)) is not None:
        return Outcome(False, f"not run: {reason}")
    return _run(source, test, entry_point)


def complete_program(answer: str, prompt: str, entry_point: str) -> str | None:
    """The program that an answer stands for: its definitions, after what the prompt begins with.

    Prose around the code, a cut-off end and calls at module level (examples of use) are left out.

    Returns:
        Source that defines the function, or None when there is no whole one.
    """
    heading = f"def {entry_point}("
    blocks = _FENCED.findall(answer)
    code = next((block for block in blocks if heading in block), blocks[0] if blocks else answer)
    lines = code[:LONGEST_SOURCE].strip("\n").split("\n")
    if heading in code:
        start = prompt[: max(prompt.find(heading), 0)]
        beginnings = [0, next(i for i, line in enumerate(lines) if heading in line)]
    else:
        start = prompt.rstrip("\n") + "\n"
        beginnings = [0]
    for beginning in beginnings:
        for end in range(len(lines), beginning, -1):
            source = _definitions(start + "\n".join(lines[beginning:end]) + "\n", entry_point)
            if source is not None:
                return source
    return None


def refusal(source: str) -> str | None:
    """Why a program is not run, or None when nothing speaks against it."""
    if len(source) > LONGEST_SOURCE:
        return "the program is too long"
    try:
        tree = parse_program(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "the program does not parse"
    return next(_objections(tree), None)


def parse_program(source: str) -> ast.Module:
    """Parse Python source.

    Raises:
        SyntaxError: it is none.
    """
    # Some releases of CPython 3.11 and 3.12 count the depth of all threads' parsers in one number
    # and raise SystemError when two run at the same time (see python/cpython#106905).
    with _PARSING:
        return ast.parse(source)


def _objections(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = ["." * node.level + (node.module or "")]
            yield from (
                f"it imports {alias.name}" for alias in node.names if alias.name.startswith("_")
            )
        else:
            modules = []
        yield from (f"it imports {name}" for name in modules if name not in IMPORTS)
        if isinstance(node, ast.Name) and (node.id in _NAMES or node.id.startswith("__")):
            yield f"it uses {node.id}"
        if isinstance(node, ast.Attribute) and _ATTRIBUTES.match(node.attr):
            yield f"it uses the attribute {node.attr}"
        if isinstance(node, ast.ClassDef | ast.AsyncFunctionDef | ast.Global | ast.Nonlocal):
            yield f"it holds a {type(node).__name__}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            if "__" in text:
                yield "it holds a text with two underscores"


def _run(source: str, test: str, entry_point: str) -> Outcome:
    # The child prints this after the tests; the code under test cannot know it.
    proof = hashlib.sha256(f"{source}\x1f{test}".encode()).hexdigest()
    order = {"source": source, "test": test, "entry_point": entry_point, "proof": proof}
    with tempfile.TemporaryDirectory(prefix="tiebreak-") as folder:
        try:
            child = subprocess.run(
                [sys.executable, "-I", "-S", str(_LAUNCHER)],
                input=json.dumps(order).encode(),
                capture_output=True,
                cwd=folder,
                env={},
                timeout=WALL_SECONDS,
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Outcome(False, "stopped: it ran too long")
    said = child.stdout.decode("utf-8", "replace").strip()
    if said == proof:
        return Outcome(True)
    return Outcome(False, said[:200] or f"stopped by a limit (exit status {child.returncode})")


def _definitions(source: str, entry_point: str) -> str | None:
    """Imports, assignments and functions of a program; None when the function is not among them."""
    try:
        tree = parse_program(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    kept = [node for node in tree.body if isinstance(node, _KEPT)]
    if not any(isinstance(node, ast.FunctionDef) and node.name == entry_point for node in kept):
        return None
    return ast.unparse(ast.Module(body=list(kept), type_ignores=[]))
