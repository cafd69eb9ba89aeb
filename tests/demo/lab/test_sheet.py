"""The study on a terminal and as data."""

import math
from dataclasses import asdict

import pytest

from tests.demo.lab.builders import simulate_world
from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.demo.lab.planted import Traits, World
from tiebreak.demo.lab.sheet import NOTE, data_of, sheets_of
from tiebreak.demo.lab.simulate import Simulation

WORLD = World((0.4, 0.2, 0.0), Traits(malformed=0.2, fresh=True, noise=0.3), ties=0.3)


def study(repeats: int = 3) -> Simulation:
    return simulate_world(
        WORLD, (4, 8), repeats=repeats, protocols=["original", "seal"], swap="never"
    )


def printed(study: Simulation, width: int) -> list[str]:
    return show(sheets_of(study), width).splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_and_hold_the_figures(width: int) -> None:
    one = study()
    lines = printed(one, width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    row = one.row("seal", 8)
    [line] = [line for line in lines if line.startswith("seal") and "±" in line][1:]
    figure = row.reference.spearman
    assert f"{figure.mean:.3f} ±{figure.standard_error:.3f}" in line
    assert f"{row.calls_per_item:.1f}" in line
    assert "worst" in text  # where there is no room for the columns they are named
    assert ("Not shown at" in text) == (width == 80)
    assert " ".join(text.split()).count(NOTE) == 1
    assert "noise 0.3 (fresh)" in " ".join(text.split())
    assert "malformed 20%, repeated answers 30%" in " ".join(text.split())
    assert one.answer in " ".join(text.split())


def test_what_is_undefined_is_said() -> None:
    everybody_passes = World((0.1, 0.0), pass_rate=0.9999)
    one = simulate_world(everybody_passes, (3,), repeats=2, protocols=["original"])
    text = " ".join(" ".join(printed(one, 80)).split())
    assert "Note: original with 3 items orders no models in 2 of 2 pools" in text
    [data] = [row for row in data_of(one)["rows"] if row["protocol"] == "original"]
    undefined = dict.fromkeys(("mean", "standard_error", "minimum"))
    assert data["truth"]["spearman"] == undefined | {"undefined_pools": 2}
    assert data["unscored"] is None


def test_data_holds_everything() -> None:
    one = study(repeats=1)
    data = round_trip(data_of(one))
    assert data["world"]["qualities"] == [0.4, 0.2, 0.0]
    assert data["world"]["judge"] == asdict(WORLD.traits)
    assert (data["items"], data["repeats"]) == ([4, 8], 1)
    assert [(row["protocol"], row["n_items"]) for row in data["rows"]] == [
        (label, n) for label in ("original", "seal", "full_pairwise") for n in (4, 8)
    ]
    for row, own in zip(data["rows"], one.rows, strict=True):
        assert row["calls_per_item"] == pytest.approx(sum(row["calls_by_kind"].values()))
        assert row["full_pairwise"]["spearman"]["standard_error"] is None  # a single pool
        assert row["truth"]["top1"]["mean"] == own.truth.top1.mean
        assert math.isclose(row["depth"], own.depth)
    assert set(data["items_needed"]) == {"original", "seal", "full_pairwise"}
    assert (data["answer"], data["note"]) == (one.answer, NOTE)
