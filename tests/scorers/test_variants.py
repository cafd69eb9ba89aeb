"""Labels: what is read, and what is refused and how."""

import pytest

from tiebreak.scorers.catalogue import ONE_JUDGE
from tiebreak.scorers.protocols import ProtocolError, find_protocol, read_variant, split_labels


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("seal", ["seal"]),
        ("seal,full_pairwise", ["seal", "full_pairwise"]),
        (" seal , seal,", ["seal"]),
        (
            "seal,swiss:rounds=3,refine=false,sorted:swap=always",
            ["seal", "swiss:rounds=3,refine=false", "sorted:swap=always"],
        ),
        ("swiss:rounds=2,swiss:rounds=3", ["swiss:rounds=2", "swiss:rounds=3"]),
        ("swiss:rounds=3,all", ["swiss:rounds=3", *ONE_JUDGE]),
        ("", []),
    ],
)
def test_split(text: str, labels: list[str]) -> None:
    assert split_labels(text) == labels


@pytest.mark.parametrize(
    ("label", "name", "settings"),
    [
        ("seal", "seal", {}),
        ("seal:swap=never,refine=false,tiers=2", "seal",
         {"swap": "never", "refine": False, "tiers": 2}),
        ("seal:tiers=null", "seal", {"tiers": None}),
        ("swiss:rounds=3", "swiss", {"rounds": 3}),
        ("fixed_rubric", "fixed_rubric", {}),
    ],
)  # fmt: skip
def test_read(label: str, name: str, settings: dict[str, object]) -> None:
    variant = read_variant(label)
    assert variant.protocol is find_protocol(name)
    assert (variant.label, variant.settings) == (label, settings)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("seel", "Did you mean seal?"),
        ("swiss:round=3", "Did you mean rounds?"),
        ("swiss:rounds", "swiss:rounds=VALUE"),
        ("swiss:rounds=three", "rounds cannot be 'three'"),
        ("swiss:rounds=true", "rounds cannot be 'true'"),
        ("swiss:rounds=0", "at least 1"),
        ("swiss:rounds=[", "not YAML"),
        ("seal:swap=some", "'always', 'close', 'sample' or 'never'"),
        ("seal:refine=1", "refine cannot be '1'"),
        ("seal:tiers=-1", "at least 1"),
        ("pointwise:swap=never", "takes no settings"),
        # What all items of a run share is no setting.
        ("fixed_rubric:shared=1", "takes no settings"),
        pytest.param(f"seal:tiers={'[' * 1_000}", "it is not YAML", id="deep"),
        ("seal:tiers=!!bool x", "it is not YAML"),
        ("seal:tiers=!!timestamp x", "it is not YAML"),
    ],
)
def test_refused(label: str, words: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_variant(label)
    assert words in str(caught.value)


def test_the_name_may_hold_a_path() -> None:
    asked = []

    def find(name: str) -> object:
        asked.append(name)
        return find_protocol("swiss")

    variant = read_variant("C:\\my files\\p.py@swiss:rounds=4", find)  # type: ignore[arg-type]
    assert asked == ["C:\\my files\\p.py@swiss"]
    assert variant.settings == {"rounds": 4}
