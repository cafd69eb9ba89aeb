"""lm-eval's templates as lm-eval renders them, and those that a stranger's summary may hold."""

from typing import Any

import pytest
from lm_eval.utils import apply_template

from tiebreak.candidates.lm_eval_samples import render

DOC = {
    "question": "Which is red?",
    "passage": " A barn.\n",
    "choices": {"text": ["barn", "sea"], "label": ["A", "B"]},
    "options": ["barn", "sea", "sky"],
    "level": 2,
    "turns": [{"role": "user", "content": "Hi"}],
}


@pytest.mark.parametrize(
    "template",
    [
        "Q: {{question}}\nA:",
        "{{passage.strip()}}\n{{question|trim}}",
        "{% for option in options %}{{loop.index}}. {{option}}\n{% endfor %}",
        "{% if level == 2 %}Hard: {% else %}Easy: {% endif %}{{question}}",
        "{{question}}\n{% set names = choices['label'] %}{{names[0]}} {{choices.text[0]}}",
        "{{options|join(', ')}} {{', '.join(options)}}",
        "{{question.split('?')[0]}} {{'yes' if level > 1 and not turns is string else 'no'}}",
        "{{turns[0]['content'].replace('Hi', 'hi')}} {{options[1:]|length}}",
    ],
)
def test_templates_are_rendered_as_lm_eval_renders_them(template: str) -> None:
    assert render(template, DOC, 10_000) == apply_template(template, DOC)


def test_a_template_may_be_the_name_of_a_column() -> None:
    assert render("question", DOC, 10_000) == "Which is red?"


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in x %}{% for b in x %}{{a}}{{b}}{% endfor %}{% endfor %}",
        "{% for a in x recursive %}{{loop(x)}}{% endfor %}",
        "{% macro f() %}{{f()}}{% endmacro %}{{f()}}",
        "{% set y = x ~ x %}{{y}}",
        "{{'a' * 1000000000}}",
        "{{range(1000000000)|list}}",
        "{{lipsum(1000000)}}",
        "{{x|replace('a', 'aaaaaaaaaaaaaaaaaaaa')}}",
        "{{x|join('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')}}",
        "{{x|list|join('aaaaaaaaaaaaaaaaaaaa')|join('aaaaaaaaaaaaaaaaaaaa')}}",
        "{{x.format(x)}}",
        "{{x.__class__.__mro__[1].__subclasses__()}}",
        "{{x.encode}}{{x.encode()}}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{{ unclosed",
    ],
)
def test_no_other_template_is_rendered(template: str) -> None:
    doc: dict[str, Any] = {"x": "abc" * 5_000}
    assert render(template, doc, 100_000) is None


def test_a_text_longer_than_the_prompt_is_not_rendered() -> None:
    template = "{{x}}{% for a in x %}{{a}}{% endfor %}"
    assert render(template, {"x": "abc"}, 6) == "abcabc"
    assert render(template, {"x": "abc"}, 5) is None
