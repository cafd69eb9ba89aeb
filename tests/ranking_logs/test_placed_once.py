"""Items are ranked when a log is read, and never again."""

import sys
from pathlib import Path

import pytest

from tests.report.page.logs import whole
from tiebreak.publish import publish_dataset
from tiebreak.rankers import Resampling
from tiebreak.report.page.build import write_contents
from tiebreak.report.page.contents import contents_of
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.placement import Placement, place
from tiebreak.tables import read_ballots
from tiebreak.write_back.rankings import read_rankings

N_ITEMS = 24


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The items that are ranked from now on, wherever in the package that happens."""
    found: list[str] = []

    def counted(ballots: ItemBallots) -> Placement:
        found.append(ballots.item_id)
        return place(ballots)

    holders = [module for name, module in sys.modules.items() if name.startswith("tiebreak")]
    for module in holders:
        if getattr(module, "place", None) is place:
            monkeypatch.setattr(module, "place", counted)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["report", "publish", "aggregate", "write back"])
def test_every_item_is_ranked_once(tmp_path: Path, placed: list[str], verb: str) -> None:
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
    assert len(placed) == (8 if verb == "write back" else N_ITEMS)
