"""Extract the program from a written answer.

Models show code in many ways: a whole function or only its body, fenced or bare, with prose around
it, a draft before it and examples of its use after it. The last code block that defines the
function under test counts, because drafts come before the final version. If there is no such block,
the whole answer is read as code, or as the rest of the function that the prompt began.
"""

import ast
import re
import textwrap
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

LONGEST_SOURCE: Final = 50_000
"""Number of characters of a code block that are read; the rest counts as cut off."""

# These bound the time of reading an answer, which may be of any size and form.
_MOST_BLOCKS: Final = 20
_MOST_TRIES: Final = 8
_MOST_PARSED: Final = 500_000
_BLOCK: Final = re.compile(r"(?:```|~~~)[^\n`]*\n(.*?)(?:```|~~~|\Z)", re.DOTALL)
_BEGINNING: Final = re.compile(
    r"(?:@|(?:async\s+)?def\s|class\s|import\s|from\s+[\w.]+\s+import\b|[A-Za-z_]\w*\s*=[^=])"
)
_PARSING: Final = threading.Lock()
_DEFINITION: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORT: Final = (ast.Import, ast.ImportFrom)
_ASSIGNMENT: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_FILLING: Final = (ast.Expr, ast.For, ast.While, ast.With)
# Functions that examples of use call, and functions that set up the interpreter.
_SHOWING: Final = frozenset({"print", "input", "exit", "quit"})
_SETTING_UP: Final = frozenset({"setrecursionlimit", "set_int_max_str_digits", "seed"})
_BY_NAME: Final = frozenset({"eval", "exec", "globals", "locals", "vars"})


class _Code(NamedTuple):
    """The lines at the beginning of some code that parse, and the first line after them."""

    lines: Sequence[str]
    tree: ast.Module
    rest: str


class _TooLong(Exception):
    """An answer takes too long to read."""


class _Parser:
    """Parses a bounded number of characters; those after an error hardly count."""

    def __init__(self) -> None:
        self.left = _MOST_PARSED

    def parse(self, lines: Sequence[str]) -> ast.Module:
        """Parse as `parse_program`; raise _TooLong if the number of characters is used up."""
        if self.left < 0:
            raise _TooLong
        source = "\n".join(lines) + "\n"
        read = len(source)
        try:
            return parse_program(source)
        except SyntaxError as error:
            read = sum(map(len, lines[: error.lineno]))
            raise
        finally:
            self.left -= read + len(source) // 50 + 50


def complete_program(answer: str, prompt: str, entry_point: str) -> str | None:
    """Make a program of an answer of any form.

    The program has what the function needs, directly or not: imports, assignments, functions,
    classes and statements that fill a table; from the prompt imports and helpers, and signature and
    docstring if the answer is only a body. Examples of use, the answer's own tests, code that only
    these need, prose around the code and a cut-off end after the function are left out.

    None if the answer has no complete function, or so many pieces of code that do not parse that
    none is found in a reasonable time.
    """
    parser = _Parser()
    text = answer.replace("\r\n", "\n").replace("\r", "\n")
    blocks = [textwrap.dedent(block).strip("\n") for block in _BLOCK.findall(text)]
    defining = [block for block in blocks if entry_point in block][-_MOST_BLOCKS:]
    whole_text = text.strip("\n")
    bodies = [whole_text, *(form for block in blocks[:1] for form in _indented(block))]
    try:
        for code in (*reversed(defining), whole_text):
            if program := _from_function(code, prompt, entry_point, parser):
                return program
        for code in (*bodies, *_indented(whole_text)):
            if program := _from_body(code, prompt, entry_point, parser):
                return program
    except _TooLong:
        pass
    return None


def without_docstrings(program: str) -> str:
    """A program without its docstrings; unchanged if it does not parse.

    Every text that is a statement counts as a docstring, even one after an import.
    """
    try:
        tree = parse_program(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return program
    lines = program.split("\n")
    gone: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            alone = lines[node.lineno - 1][: node.col_offset].isspace() or not node.col_offset
            if isinstance(node.value.value, str) and alone:
                gone |= _rows(node)
    return "\n".join(line for row, line in enumerate(lines, 1) if row not in gone).rstrip()


def parse_program(source: str) -> ast.Module:
    """Parse Python source.

    Raises:
        SyntaxError: it does not parse.
        ValueError: it has characters that source code must not have.
        RecursionError, MemoryError: it is nested too deeply.
    """
    # Some releases of CPython 3.11 and 3.12 count the depth of all threads' parsers in one number
    # and raise SystemError when two run at the same time (see python/cpython#106905).
    with _PARSING:
        return ast.parse(source)


def _from_function(code: str, prompt: str, entry_point: str, parser: _Parser) -> str | None:
    """Program from code that defines the whole function, perhaps after prose; None without one."""
    lines = _lines(code)
    begin = 0
    while begin < len(lines):
        code_read = _parse_most(lines[begin:], parser)
        if _is_whole(code_read, entry_point, 0):
            return _assemble(_before(prompt, entry_point), code_read, entry_point)
        begin += max(len(code_read.lines), 1)
        while begin < len(lines) and not _BEGINNING.match(lines[begin]):
            begin += 1
    return None


def _from_body(code: str, prompt: str, entry_point: str, parser: _Parser) -> str | None:
    """Program from code that continues the prompt; None if it does not complete the function."""
    beginning = prompt.rstrip().split("\n")
    code_read = _parse_most([*beginning, *_lines(code)], parser)
    if _is_whole(code_read, entry_point, len(beginning)):
        return _assemble([], code_read, entry_point)
    return None


def _lines(code: str) -> list[str]:
    if len(code) > LONGEST_SOURCE:
        code = code[:LONGEST_SOURCE].rpartition("\n")[0]  # half a line may mean something else
    return code.split("\n")


def _indented(code: str) -> Iterator[str]:
    """Code as a function's body: all lines indented, or the first if only its blanks are lost."""
    yield textwrap.indent(code, "    ")
    yield "    " + code.lstrip()


def _parse_most(lines: Sequence[str], parser: _Parser) -> _Code:
    """Parse the longest beginning found: cut at the error's line a few times, then bisect."""
    best = _Code((), ast.Module([], []), "")
    low, high, end = 0, len(lines), len(lines)
    for number in range(2 * _MOST_TRIES):
        try:
            tree = parser.parse(lines[:end])
        except SyntaxError as error:
            high = max(min(error.lineno or end, end) - 1, 0)
        except (ValueError, RecursionError, MemoryError):
            high = end - 1
        else:
            rest = next((line for line in lines[end:] if line.strip()), "")
            best = _Code(lines[:end], tree, rest)
            low = end
            if number < _MOST_TRIES:
                break
        end = high
        if number >= _MOST_TRIES:
            # An open `try:` makes each last line an error, so bisect by top-level statements.
            end = (low + high + 1) // 2
            while end > low and not lines[end][:1].strip():
                end -= 1
        if end <= low:
            break
    return best


def _is_whole(code: _Code, entry_point: str, after: int) -> bool:
    """Whether code defines the whole function, and the function ends after line `after`."""
    defined = [node for node in code.tree.body if _binds(node, entry_point)]
    if not defined or (defined[-1].end_lineno or 0) <= after:
        return False
    last = defined[-1]
    if not isinstance(last, _DEFINITION):
        return True
    if after and isinstance(last.body[-1], _DEFINITION):
        return False  # a body that ends in a function definition: the answer defines another one
    if last is not code.tree.body[-1] or not code.rest:
        return True
    # If the line that does not parse is inside the function, the function is incomplete or wrong.
    return len(code.rest) - len(code.rest.lstrip()) < last.body[0].col_offset


def _binds(node: ast.stmt, name: str) -> bool:
    if isinstance(node, _DEFINITION):
        return node.name == name
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _before(prompt: str, entry_point: str) -> list[str]:
    """Lines of the prompt before the function under test."""
    lines = prompt.replace("\r\n", "\n").split("\n")
    for body in ("", "    pass"):
        tree = _parse_most([*lines, body], _Parser()).tree
        for node in tree.body:
            if isinstance(node, _DEFINITION) and node.name == entry_point:
                return lines[: min(_rows(node)) - 1]
    return []


def _assemble(before: Sequence[str], code: _Code, entry_point: str) -> str:
    """Source code of the lines `before` and of the parts of `code` that the function needs."""
    kept = _needed(code.tree.body, entry_point)
    used = {name for node in kept if not isinstance(node, _IMPORT) for name in _names(node)} | {"*"}
    kept = [
        node
        for node in kept
        if not isinstance(node, _IMPORT) or _is_future(node) or not _imported(node).isdisjoint(used)
    ]
    stay = {row for node in kept for row in _rows(node)}
    gone = {row for node in code.tree.body for row in _rows(node)} - stay
    # Python wants `__future__` imports before all other code, including the prompt's.
    first = {row for node in kept if _is_future(node) for row in _rows(node)}
    numbered = list(enumerate(code.lines, 1))
    lines = [line for row, line in numbered if row in first]
    lines += before
    lines += [line for row, line in numbered if row not in gone | first]
    return "\n".join(lines).strip("\n") + "\n"


def _needed(body: Sequence[ast.stmt], entry_point: str) -> list[ast.stmt]:
    """Statements of a module that define the names which a function uses, directly or not."""
    makers: dict[str, list[ast.stmt]] = defaultdict(list)
    # Names used by each of the module's functions, and whether it shows examples.
    functions = {
        node.name: (_names(node), _shows(node, entry_point))
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name != entry_point
    }
    for node in body:
        if isinstance(node, _IMPORT) or not _is_kept(node, entry_point):
            continue
        made = _made(node, entry_point)
        if isinstance(node, _FILLING):
            called = [functions[name] for name in _called(node) if name in functions]
            if any(shows for _, shows in called):
                continue
            made = made.union(*(names for names, _ in called))
        for name in made:
            makers[name].append(node)
    needed: set[ast.stmt] = {node for node in body if isinstance(node, _IMPORT)}
    names = [entry_point]
    while names:
        name = names.pop()
        if name in _BY_NAME:  # these may look up any name, so everything is needed
            names += makers
        for node in makers.pop(name, ()):
            if node not in needed:
                needed.add(node)
                names += _names(node)
    return [node for node in body if node in needed]


def _is_kept(node: ast.stmt, entry_point: str) -> bool:
    """Whether a statement may define something and is no example of use."""
    if isinstance(node, (*_DEFINITION, *_IMPORT)):
        return True
    if isinstance(node, ast.If | ast.Try):
        asks_main = isinstance(node, ast.If) and "__name__" in _names(node.test)
        return not asks_main and any(_is_kept(child, entry_point) for child in node.body)
    if isinstance(node, _ASSIGNMENT):
        return _called(node).isdisjoint({entry_point, "input"})
    if isinstance(node, _FILLING):
        return not _shows(node, entry_point)
    return False


def _shows(node: ast.AST, entry_point: str) -> bool:
    """Whether code asserts, calls the function under test, prints or reads input."""
    asserts = any(isinstance(part, ast.Assert) for part in ast.walk(node))
    return asserts or not _called(node).isdisjoint({entry_point, *_SHOWING})


def _made(node: ast.stmt, entry_point: str) -> set[str]:
    """Names that a top-level statement binds, or whose values it may change."""
    if isinstance(node, _DEFINITION):
        outer = [*node.decorator_list, *getattr(node, "bases", ())]
        return {node.name}.union(*map(_names, outer))
    if isinstance(node, _ASSIGNMENT):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return set().union(*map(_names, targets))
    if not _called(node).isdisjoint(_SETTING_UP):
        return {entry_point}
    parts = list(ast.walk(node))
    made = {part.name for part in parts if isinstance(part, _DEFINITION)}
    for part in parts:
        if isinstance(part, _IMPORT):
            made |= _imported(part)
    return made | (_names(node) - {entry_point})


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _called(node: ast.AST) -> set[str]:
    """Names of the functions and methods that a node calls."""
    functions = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    names = {func.id for func in functions if isinstance(func, ast.Name)}
    return names | {func.attr for func in functions if isinstance(func, ast.Attribute)}


def _imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {alias.asname or alias.name.partition(".")[0] for alias in node.names}


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _rows(node: ast.stmt) -> set[int]:
    """Line numbers of a statement, from 1, including its decorators."""
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return set(range(first, (node.end_lineno or node.lineno) + 1))
