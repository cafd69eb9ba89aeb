"""What a header may say: an allow list, tested by planting what it does not name."""

import json
from dataclasses import asdict
from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, ModelConfig

from tests.cases import cases
from tests.publish.judged_runs import change_log, plant, sha256, write_both
from tiebreak.publish.facts import (
    facts_of,
    file_name,
    flattened,
    model_id,
    public_name,
    public_names,
    public_words,
    without_folders,
)

PLANTED = "planted-5ecr3t-value"


@pytest.mark.parametrize(("name", "public"), cases(__file__, "public_name"))
def test_public_name(name: str, public: str) -> None:
    assert public_name(name) == public


# Names that no file or folder of Windows can have, in any case and with any ending.
RESERVED = {"con", "prn", "aux", "nul", *(f"{n}{i}" for n in ("com", "lpt") for i in range(1, 10))}


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_names_that_windows_keeps_for_itself(name: str) -> None:
    assert model_id(f"openai/{name}") == f"openai/_{name}"
    assert model_id(f"{name.upper()}.v1/x") == f"_{name.upper()}.v1/x"
    assert model_id(f"{name}0") == f"{name}0"


@pytest.mark.parametrize("name", ["com0", "lpt0", "com10", "conx", "xcon", "comx", "lpt"])
def test_names_that_are_like_those_of_windows(name: str) -> None:
    assert model_id(f"{name}/{name}.v1") == f"{name}/{name}.v1"


@pytest.mark.parametrize(("model", "id", "flat"), cases(__file__, "names_as_folders"))
def test_names_as_folders(model: str, id: str, flat: list[str]) -> None:
    assert (model_id(model), flattened(model)) == (id, tuple(flat))
    assert model_id(f"x/{'y' * 99}. z") == f"x/{'y' * 99}"
    assert flattened(f"x/{'y' * 101}") == ("x", "y" * 100)


def test_names_that_become_one_are_numbered() -> None:
    """Those that are public already keep their names; others in order, by the first free number."""
    given = ["/srv/x", "/home/me/x", "x (2)", "a/b", "/data/y"]
    assert public_names(given) == {"x": "/home/me/x", "x (3)": "/srv/x", "y": "/data/y"}
    assert public_names(["x", "/srv/x"]) == {"x (2)": "/srv/x"}
    assert public_names(["a", "b"]) == {}


@given(st.text("ab/\\~C:= ", max_size=30))
def test_a_public_name_is_its_own_public_name(name: str) -> None:
    assert public_name(public_name(name)) == public_name(name)


@pytest.mark.parametrize(
    ("text", "public"),
    cases(__file__, "public_words"),
)
def test_public_words(text: str | None, public: str | None) -> None:
    assert public_words(text) == public


@pytest.mark.parametrize(("path", "name"), cases(__file__, "file_name"))
def test_file_name(path: str, name: str) -> None:
    assert file_name(path) == name


@pytest.mark.parametrize(("value", "told"), cases(__file__, "without_folders"))
def test_without_folders(value: object, told: object) -> None:
    assert without_folders(value) == told


@pytest.mark.slow
def test_only_what_is_allowed_is_said(tmp_path: Path) -> None:
    log = change_log(write_both(tmp_path / PLANTED), lambda log: plant(log, repeat(PLANTED)))
    facts = facts_of(str(log))
    assert PLANTED not in json.dumps(asdict(facts))
    settings = {"temperature": 0.25, "max_tokens": 99, "reasoning_effort": "low"}
    assert asdict(facts) == {
        "name": "seal.eval",
        "sha256": sha256(log),
        "eval_id": "E1",
        "created": "2026-01-01T00:00:00+00:00",
        "status": "success",
        "shard": None,
        "inspect_version": "0.3.285",
        "tiebreak_version": "0.1.0",
        "prompts": "ab" * 32,
        "seed": 7,
        "arguments": {
            **{"swap": "always", "refine": True, "rounds": 3},
            **{"rubric": "my.yaml", "protocol": "p.py@mine"},
        },
        "roles": (
            {"role": "judge", "model": "openai/gpt-5", "settings": settings},
            {"role": "meta_judge", "model": "openai/gpt-5", "settings": settings},
        ),
    }


@pytest.mark.slow
def test_without_a_role_the_tasks_own_model_judges(tmp_path: Path) -> None:
    def judge(log: EvalLog) -> None:
        log.eval.model = "hf//home/me/llama"
        log.eval.model_generate_config = GenerateConfig(temperature=0.5, top_p=0.9)
        log.plan.config = GenerateConfig(temperature=0.0)

    [role] = facts_of(str(change_log(write_both(tmp_path), judge))).roles
    assert (role.role, role.model) == ("judge", "hf/llama")
    assert role.settings == {"temperature": 0.0, "top_p": 0.9}  # the eval's go before the model's


@pytest.mark.slow
def test_settings_of_the_eval_are_the_judges_and_nobody_elses(tmp_path: Path) -> None:
    def judge(log: EvalLog) -> None:
        bound = ModelConfig(model="a/b", config=GenerateConfig(temperature=0.5, top_p=0.9))
        log.eval.model = "a/b"
        log.eval.model_roles = {"judge": bound, "meta_judge": bound}
        log.plan.config = GenerateConfig(temperature=0.0)

    own, other = facts_of(str(change_log(write_both(tmp_path), judge))).roles
    assert own.settings == {"temperature": 0.0, "top_p": 0.9}
    assert other.settings == {"temperature": 0.5, "top_p": 0.9}
