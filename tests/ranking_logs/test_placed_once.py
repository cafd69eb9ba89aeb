"""Items are ranked when a log is read, and never again by the rule that they name.

A board of brackets also asks whom each other rule that fits would put first: once.
"""

import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.report.page.logs import whole
from tiebreak.publish.dataset import publish_dataset
from tiebreak.publish.write_back.rankings import read_rankings
from tiebreak.rankers import Resampling
from tiebreak.report.page.build import write_contents
from tiebreak.report.page.contents import contents_of
from tiebreak.scorers.ballots import ItemBallots, Rule
from tiebreak.scorers.placement import Placement, place
from tiebreak.tables import read_ballots

N_ITEMS = 24
N_BRACKETS = 4


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch) -> Counter[Rule | None]:
    """How many items are ranked from now on by each rule, wherever in the package that happens.

    None stands for the rule that an item names.
    """
    found: Counter[Rule | None] = Counter()

    def counted(ballots: ItemBallots, rule: Rule | None = None) -> Placement:
        found[rule] += 1
        return place(ballots, rule)

    holders = [module for name, module in sys.modules.items() if name.startswith("tiebreak")]
    for module in holders:
        if getattr(module, "place", None) is place:
            monkeypatch.setattr(module, "place", counted)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["report", "publish", "aggregate", "write back"])
def test_every_item_is_ranked_once(tmp_path: Path, placed: Counter[Rule | None], verb: str) -> None:
    logs = whole(tmp_path / "logs")
    if verb == "report":
        write_contents(
            contents_of([logs], how=Resampling(draws=20)), tmp_path / "report", version="1"
        )
    elif verb == "publish":
        publish_dataset([logs], "me/it", folder=tmp_path / "set", how=Resampling(draws=20))
    elif verb == "aggregate":
        read_ballots(logs)
    else:
        read_rankings(sorted(logs.glob("*.eval"))[:2])
    assert placed.pop(None) == (8 if verb == "write back" else N_ITEMS)
    others = dict.fromkeys(("elimination_tied", "least_squares"), N_BRACKETS)
    assert placed == (others if verb in ("report", "publish") else {})
