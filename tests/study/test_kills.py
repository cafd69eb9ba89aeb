"""kill -9 at any time of a study: the same board, and nothing is paid for twice."""

import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.forking import Forks
from tests.harness import environment
from tests.study.serving import Models
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.plain_yaml import yaml_text

pytestmark = pytest.mark.slow

KILLS, MODELS = 10, 3
AT_ONCE = 2
"""Requests that a provider's models have under way together."""


@pytest.fixture
def study(tmp_path: Path) -> dict[str, object]:
    few = {"max_connections": AT_ONCE}
    models = [f"openai-api/fake/{number}" for number in range(1, MODELS + 1)]
    return {
        "models": [{"model": model, "config": few} for model in models],
        "benchmarks": [{"task": str(Path(__file__).parent / "sums.py") + "@sums"}],
        "judge": {"model": "openai-api/fake/judge", "config": few},
        "protocols": ["full_pairwise"],
        "budget": 5,
        "prices": ["1,10"],
    }


def test_a_study_that_is_killed_goes_on(tmp_path: Path, study: dict[str, object]) -> None:
    (tmp_path / "study.yaml").write_text(yaml_text(study))
    rng = random.Random(1)

    def boards(folder: str) -> str:
        return repr([board.rows for board in leaderboards([tmp_path / folder / "ranking"])])

    api = Models()
    with Forks.serving(environment(REAL_CLIENTS="1")) as forks, api.running():

        def run(folder: str, kill: Callable[[], bool] = lambda: False, **more: str) -> bool:
            cache = str(tmp_path / f"{folder}-cache")
            env = {**api.environment, "INSPECT_CACHE_DIR": cache, **more}
            command = ["tiebreak", "run", "study.yaml", "--out", folder]
            return forks.run(*command, cwd=tmp_path, env=env, kill=kill)

        def made(number: int) -> bool:
            return len(api.requests) >= number

        assert not run("whole", NO_PICTURES="1")
        whole, models = Counter(api.requests), [model for model, _ in api.requests]
        assert set(whole.values()) == {1}
        api.requests.clear()
        at = sorted(rng.sample(range(1, whole.total()), KILLS - 1))
        by_judge = [models[number] == "judge" for number in at]
        assert 2 <= sum(by_judge) <= KILLS - 3  # while answers come, and while they are judged
        under_way: list[tuple[str, str]] = []
        killed = 0
        for number in at:
            killed += run("killed", kill=partial(made, number))
            under_way += api.requests[-AT_ONCE * (MODELS + 1) :]
        killed += run("killed", kill=(tmp_path / "killed" / "report").exists)
        assert killed >= KILLS - 2
        assert not run("killed")
        asked = Counter(api.requests)
        assert asked.keys() == whole.keys()
        twice = asked - whole
        assert twice <= Counter(under_way)
        assert twice.total() <= AT_ONCE * KILLS
        assert boards("killed") == boards("whole")
        # What is done asks nobody.
        api.requests.clear()
        assert not run("killed", NO_PICTURES="1")
        assert api.requests == []
