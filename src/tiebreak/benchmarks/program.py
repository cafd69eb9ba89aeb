"""From a written answer to the program that it means.

Models show code in many ways: a whole function or only its body, fenced or bare, with prose around
it, a draft before it and examples of its use after it. What counts is the last code block that
defines the function under test, since a draft comes first and the final version later. Without such
a block it is the whole answer, read as code or as the rest of the function that the prompt began.
"""

import ast
import re
import textwrap
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

LONGEST_SOURCE: Final = 50_000
"""Characters of a code block that are looked at; what comes later counts as cut off."""

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
# What examples of use call, and statements that set up the interpreter.
_SHOWING: Final = frozenset({"print", "input", "exit", "quit"})
_SETTING_UP: Final = frozenset({"setrecursionlimit", "set_int_max_str_digits", "seed"})
_BY_NAME: Final = frozenset({"eval", "exec", "globals", "locals", "vars"})


class _Code(NamedTuple):
    """A long beginning of some lines that parses, and the first line that does not."""

    lines: Sequence[str]
    tree: ast.Module
    rest: str


class _TooLong(Exception):
    """An answer takes too long to read."""


class _Parser:
    """Parses a bounded number of characters; what is behind an error hardly counts."""

    def __init__(self) -> None:
        self.left = _MOST_PARSED

    def parse(self, lines: Sequence[str]) -> ast.Module:
        """As `parse_program`; raises _TooLong when nothing is left."""
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
    """The program that an answer stands for, whatever the answer is.

    Kept is what the function needs, directly or not: imports, assignments, functions, classes and
    what fills a table; and from the prompt (imports, helpers, signature, docstring) what comes
    before the function. Examples of use, tests of its own, what only these need, prose around the
    code and a cut-off end behind the function are left out.

    None when the answer holds no whole function, or so many pieces of code that do not parse that
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
    """A program's text without docstrings; it stays as it is when it does not parse.

    Every text that is a statement of its own counts, also one behind an import.
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
        ValueError: it holds characters that no source may hold.
        RecursionError, MemoryError: it is nested too deeply.
    """
    # Some releases of CPython 3.11 and 3.12 count the depth of all threads' parsers in one number
    # and raise SystemError when two run at the same time (see python/cpython#106905).
    with _PARSING:
        return ast.parse(source)


def _from_function(code: str, prompt: str, entry_point: str, parser: _Parser) -> str | None:
    """The program of code that defines the whole function, perhaps behind some prose."""
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
    """The program of code that goes on where the prompt ends."""
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
    """Code as the body of a function: all lines deeper, or the first, whose blanks got lost."""
    yield textwrap.indent(code, "    ")
    yield "    " + code.lstrip()


def _parse_most(lines: Sequence[str], parser: _Parser) -> _Code:
    """Go back behind what does not parse: a few times by the error's line, then by bisection."""
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
            # An open `try:` makes every last line wrong, so this is about whole statements.
            end = (low + high + 1) // 2
            while end > low and not lines[end][:1].strip():
                end -= 1
        if end <= low:
            break
    return best


def _is_whole(code: _Code, entry_point: str, after: int) -> bool:
    """Whether code defines the function, to its end and beyond line `after`."""
    defined = [node for node in code.tree.body if _binds(node, entry_point)]
    if not defined or (defined[-1].end_lineno or 0) <= after:
        return False
    last = defined[-1]
    if not isinstance(last, _DEFINITION):
        return True
    if after and isinstance(last.body[-1], _DEFINITION):
        return False  # another function is not a body
    if last is not code.tree.body[-1] or not code.rest:
        return True
    # What no longer parses is still inside the function: its end was cut off, or it is wrong.
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
    """Source of what the function needs of some code, behind what comes before it."""
    kept = _needed(code.tree.body, entry_point)
    used = {name for node in kept if not isinstance(node, _IMPORT) for name in _names(node)} | {"*"}
    kept = [
        node
        for node in kept
        if not isinstance(node, _IMPORT) or _is_future(node) or not _imported(node).isdisjoint(used)
    ]
    stay = {row for node in kept for row in _rows(node)}
    gone = {row for node in code.tree.body for row in _rows(node)} - stay
    # Python wants these imports before everything else, also before what the prompt begins with.
    first = {row for node in kept if _is_future(node) for row in _rows(node)}
    numbered = list(enumerate(code.lines, 1))
    lines = [line for row, line in numbered if row in first]
    lines += before
    lines += [line for row, line in numbered if row not in gone | first]
    return "\n".join(lines).strip("\n") + "\n"


def _needed(body: Sequence[ast.stmt], entry_point: str) -> list[ast.stmt]:
    """The statements of a module that make what a function refers to, directly or not."""
    makers: dict[str, list[ast.stmt]] = defaultdict(list)
    # What runs when a statement calls one of the module's functions.
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
        if name in _BY_NAME:  # whatever these look up
            names += makers
        for node in makers.pop(name, ()):
            if node not in needed:
                needed.add(node)
                names += _names(node)
    return [node for node in body if node in needed]


def _is_kept(node: ast.stmt, entry_point: str) -> bool:
    """Whether a statement may define something, and is not an example of use."""
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
    """Whether code tries the function under test, or prints or reads something."""
    asserts = any(isinstance(part, ast.Assert) for part in ast.walk(node))
    return asserts or not _called(node).isdisjoint({entry_point, *_SHOWING})


def _made(node: ast.stmt, entry_point: str) -> set[str]:
    """Names that a statement of a module binds, or whose values it may change."""
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
    """Names of the functions and methods that are called."""
    functions = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    names = {func.id for func in functions if isinstance(func, ast.Name)}
    return names | {func.attr for func in functions if isinstance(func, ast.Attribute)}


def _imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {alias.asname or alias.name.partition(".")[0] for alias in node.names}


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _rows(node: ast.stmt) -> set[int]:
    """Numbers of a statement's lines, from 1, with those of its decorators."""
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return set(range(first, (node.end_lineno or node.lineno) + 1))
