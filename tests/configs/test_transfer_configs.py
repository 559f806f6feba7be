"""The transfer profiles that users copy from load, and measure what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.cli.options.transfer_config import load_transfer_config
from gradtool.errors import UsageError
from gradtool.transfer.plan.options import CollectionOf, File, Grid
from gradtool.transfer.plan.plan import plan
from tests.transfer.fake_machine import FakeMachine

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
TUTORIAL = CONFIGS / "transfer-tutorial.yaml"
QUICK = CONFIGS / "transfer-quick.yaml"

SEED_MS = [
    0.03526, 0.01970, 0.01182, 0.04084, 11.03, 5.88, 17.18, 15.42, 13.15, 8.26, 13.28, 8.16,
    35.55, 32.59, 23.63,
]  # fmt: skip
"""Medians that the tutorial prints, in its order."""


def test_the_tutorial_has_every_measurement_of_the_tutorial() -> None:
    options = load_transfer_config(str(TUTORIAL))
    published = [row for row in options.rows if row.published is not None]
    assert [row.published for row in published] == pytest.approx([ms * 1e-3 for ms in SEED_MS])
    sizes = [row.tensors * row.bytes for row in published]
    assert sizes == [400_000] * 4 + [4_000_000] * 8 + [400_000_000] * 3
    assert len({row.name for row in options.rows}) == len(options.rows)
    assert len(plan(options, FakeMachine())) == len(options.rows)


def test_the_quick_one_shows_the_keys_of_its_sections() -> None:
    text = QUICK.read_text(encoding="utf-8")
    for key in (*Grid.__struct_fields__, *CollectionOf.__struct_fields__):
        assert f"{key}:" in text or key == "device"
    options = load_transfer_config(str(QUICK))
    assert options.sizes == (64 << 10, 1 << 20, 16 << 20)
    assert options.collections == ((100, 4000),)
    assert {cell.scenario for cell in plan(options, FakeMachine())} == {
        "pageable", "pinned", "engine",
    }  # fmt: skip
    assert "rows" in File.__struct_fields__


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version: 2", ":1: version must be 1, got 2"),
        ("", ":1: the file is empty"),
        ("version: 1\ntransfer: {size: []}", ":2: unknown key 'size' in transfer (did you mean"),
        ("version: 1\ntransfer:\n  sizes: [4KB, big]", ":3: transfer.sizes[1]: 'big' is not a"),
        ("version: 1\ntransfer:\n  sizes: [0]", ":3: transfer.sizes[0]: '0' is less than one"),
        ("version: 1\nrows:\n  - {name: a, scenario: pinned}", ":3: 'each' is missing in rows[0]"),
        (
            "version: 1\ntransfer:\n  directions: [h2h]",
            ":3: transfer.directions[0] must be d2d, d2h, duplex or h2d, got 'h2h'",
        ),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as error:
        load_transfer_config(str(path))
    assert f"t.yaml{message}" in str(error.value)
