"""lm-eval's templates as lm-eval renders them, and those that a stranger's summary may hold."""

from typing import Any

import pytest
from lm_eval.utils import apply_template

from tests.cases import cases
from tiebreak.candidates.lm_eval_samples import render

DOC = cases(__file__, "doc")


@pytest.mark.parametrize(
    "template", cases(__file__, "templates are rendered as lm eval renders them")
)
def test_templates_are_rendered_as_lm_eval_renders_them(template: str) -> None:
    assert render(template, DOC, 10_000) == apply_template(template, DOC)


def test_a_template_may_be_the_name_of_a_column() -> None:
    assert render("question", DOC, 10_000) == "Which is red?"


@pytest.mark.parametrize("template", cases(__file__, "no other template is rendered"))
def test_no_other_template_is_rendered(template: str) -> None:
    doc: dict[str, Any] = {"x": "abc" * 5_000}
    assert render(template, doc, 100_000) is None


def test_a_text_longer_than_the_prompt_is_not_rendered() -> None:
    template = "{{x}}{% for a in x %}{{a}}{% endfor %}"
    assert render(template, {"x": "abc"}, 6) == "abcabc"
    assert render(template, {"x": "abc"}, 5) is None
