"""BFCL's own checker and reader of written calls, without the clients of all providers.

The package pins an old NumPy and asks for a dozen of SDKs, so it is installed without dependencies
(`bfcl.questions.INSTALL`); three of its modules are replaced before the import.
"""

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from tiebreak.benchmarks.bfcl.check import Call
from tiebreak.benchmarks.question import Question

DOTTED, UNDERSCORED = "prompted", "tools"
"""Names of models: one that writes function names as they are, one whose provider forbids dots."""


class _Model(NamedTuple):
    underscore_to_dot: bool


class Official(NamedTuple):
    ast_checker: Callable[..., Mapping[str, Any]]
    python: Any
    decode: Callable[[str], list[dict[str, Any]]]
    is_empty_output: Callable[[Any], bool]

    def accepts(
        self, calls: Sequence[Call], question: Question, model: str = DOTTED
    ) -> bool | None:
        """Are the calls right? None when the checker raises."""
        try:
            result = self.ast_checker(
                list(question.tools),
                [{call.name: dict(call.arguments)} for call in calls],
                question.details["ground_truth"],
                self.python,
                question.details["category"],
                model,
            )
        except Exception:  # whatever it is, the leaderboard's run ends with it
            return None
        return bool(result["valid"])

    def read(self, text: str) -> list[Call] | None:
        """The calls of a written answer; None when they cannot be read."""
        try:
            return [Call(*pair) for call in self.decode(text) for pair in call.items()]
        except Exception:
            return None


@contextmanager
def official(folder: Path) -> Iterator[Official]:
    """BFCL's functions; `folder` takes the folders that the package makes when it is imported."""
    replaced: dict[str, dict[str, Any]] = {
        "constants.model_config": {
            "MODEL_CONFIG_MAPPING": {DOTTED: _Model(False), UNDERSCORED: _Model(True)}
        },
        "model_handler.parser.java_parser": {"parse_java_function_call": None},
        "model_handler.parser.js_parser": {"parse_javascript_function_call": None},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BFCL_PROJECT_ROOT", str(folder))
        for name, content in replaced.items():
            module = ModuleType(f"bfcl_eval.{name}")
            vars(module).update(content)
            patch.setitem(sys.modules, module.__name__, module)
        checker = importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker")
        reader = importlib.import_module("bfcl_eval.model_handler.utils")
        yield Official(
            ast_checker=checker.ast_checker,
            python=checker.Language.PYTHON,
            decode=reader.default_decode_ast_prompting,
            is_empty_output=reader.is_empty_output,
        )
