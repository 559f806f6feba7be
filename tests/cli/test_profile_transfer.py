"""``gradtool profile-transfer``: what it prints, writes, refuses, and ends with."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gradtool.report.transfer.document import published_schema
from gradtool.transfer import runner
from tests.transfer.fake_machine import RATES, FakeMachine

Run = Callable[..., tuple[int, str, str]]

SMALL = (
    "profile-transfer", "--scenario", "pageable,pinned", "--size", "4KiB,64KiB,1MiB", "--budget",
    "20",
)  # fmt: skip


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A device whose times are known, in place of the one that would be asked for."""
    import gradtool.transfer.runner as profile

    def install(**options: Any) -> None:
        monkeypatch.setattr(profile, "machine_for", lambda _device: FakeMachine(**options))

    monkeypatch.setattr("gradtool.transfer.plan.options.PROBES", ())
    return install


CONFIG = "version: 1\ntransfer: {probes: [overlap], collections: []}\n"


@pytest.fixture
def small(paper: Callable[..., None]) -> tuple[str, ...]:
    paper()
    Path("t.yaml").write_text(CONFIG)
    return (*SMALL, "--config", "t.yaml")


def test_the_tables_and_every_report(run: Run, small: tuple[str, ...]) -> None:
    forms = {"json": "r.json", "csv": "r.csv", "markdown": "r.md", "html": "r.html"}
    flags = [word for form, name in forms.items() for word in ("--report", f"{form}={name}")]
    code, out, err = run(*small, *flags, "--plot", "p.svg")
    assert (code, err) == (0, "")
    assert "host to device\nscenario" in out
    assert "Keep data that is sent to the device repeatedly in pinned memory" in out
    assert out.splitlines()[-1].startswith("24 cells measured in ")
    document = json.loads(Path("r.json").read_text())
    jsonschema.validate(document, json.loads(published_schema()))
    assert document["schema"] == 1
    assert all(cell["simulated"] is False for cell in document["cells"])
    rows = list(csv.DictReader(Path("r.csv").read_text().splitlines()))
    assert len(rows) == 24
    assert {row["verified"] for row in rows} == {"true"}
    assert "| pinned | non\\_blocking |" in Path("r.md").read_text()
    assert "<table>" in Path("r.html").read_text()
    assert Path("p.svg").read_text().lstrip().startswith("<?xml")
    assert not list(Path().glob(".*partial"))


def test_a_report_that_breaks_the_schema_is_found(run: Run, small: tuple[str, ...]) -> None:
    run(*small, "--report", "json=r.json")
    document = json.loads(Path("r.json").read_text())
    schema = json.loads(published_schema())
    for spoil in (
        lambda d: d.pop("schema"), lambda d: d["cells"][0].pop("simulated"),
        lambda d: d["cells"][0].update(bytes="many"), lambda d: d.update(schema=2),
    ):  # fmt: skip
        broken = json.loads(json.dumps(document))
        spoil(broken)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)


def test_the_exit_code_follows_from_thresholds(run: Run, small: tuple[str, ...]) -> None:
    code, out, _ = run(*small, "--require", "pinned.h2d.gbps >= 0.4*link")
    assert code == 0
    assert "  met          pinned.h2d.gbps >= 0.4*link (" in out
    code, out, _ = run(
        *small, "--require", "pinned.h2d.gbps >= 1", "--require", "pinned.h2d.gbps >= 0.9*link"
    )
    assert code == 1
    assert "  NOT MET      pinned.h2d.gbps >= 0.9*link (" in out
    assert out.splitlines()[-1].endswith("requirements met: 1 of 2")


def test_the_exit_code_follows_from_a_comparison(
    run: Run, small: tuple[str, ...], paper: Callable[..., None]
) -> None:
    assert run(*small, "--report", "json=old.json")[0] == 0
    code, out, _ = run(*small, "--compare", "old.json")
    assert code == 0
    assert "regressed: 0 of 24" in out.splitlines()[-1]
    paper(rates={name: rate / 2 for name, rate in RATES.items()})
    code, out, _ = run(*small, "--compare", "old.json")
    assert code == 1
    assert "REGRESSED" in out
    code, _, _ = run(*small, "--compare", "old.json", "--max-regression", "200%")
    assert code == 0


def of(scenario: str, small: tuple[str, ...]) -> tuple[str, ...]:
    """The same run of another scenario."""
    return (*small[:2], scenario, *small[3:])


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_comparison_of_nothing_does_not_pass(run: Run, small: tuple[str, ...], form: str) -> None:
    assert run(*small, "--report", "json=old.json")[0] == 0
    flags = ("--compare", "old.json", "--report", f"{form}=r")
    code, out, err = run(*of("staged", small), *flags)
    assert (code, err) == (5, "")
    for text in (out, Path("r").read_text()):
        told = " ".join(text.replace("\\", "").split())
        assert "nothing was compared: no cell was measured well in both runs" in told
        assert "not compared, measured in the earlier run only: pageable.d2h.blocking[" in told
        assert "and 21 more" in told


def test_probes_do_not_pass_for_cells_that_were_asked_for(
    run: Run, small: tuple[str, ...], paper: Callable[..., None]
) -> None:
    paper(refused=("pinned",))
    code, out, _ = run(*of("pinned", small), "--report", "json=r.json")
    assert code == 5
    assert out.splitlines()[-1].startswith("0 cells measured")
    assert any(
        "unavailable" not in each for each in json.loads(Path("r.json").read_text())["overlap"]
    )


def test_probes_alone_pass_where_no_cell_was_asked_for(run: Run, small: tuple[str, ...]) -> None:
    code, out, _ = run(*of("staged", small), "--direction", "d2d")
    assert code == 0
    assert out.splitlines()[-1].startswith("0 cells measured")


def test_an_interrupt_prints_what_was_measured(
    run: Run, small: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from gradtool.transfer.measuring.measured_cell import MeasuredCell

    taken = []
    real = MeasuredCell.take

    def take(self: MeasuredCell) -> None:
        if len(taken) == 60:
            raise KeyboardInterrupt
        taken.append(real(self))

    monkeypatch.setattr(MeasuredCell, "take", take)
    code, out, err = run(*small, "--report", "json=r.json")
    assert (code, err) == (130, "")
    assert "host to device" in out
    assert out.splitlines()[-1].startswith("interrupted: 16 cells measured")
    assert json.loads(Path("r.json").read_text())["interrupted"] is True
    assert not list(Path().glob(".*partial"))
    assert not [each for each in threading.enumerate() if each.name.startswith("gradtool")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "tpu"], "--device must be cpu, cuda or cuda:N, got 'tpu'"),
        (["--size", "many"], "--size: 'many' is not a size such as 4096, 64KiB, 1MiB or 400kB"),
        (["--scenario", "packed", "--size", "1MiB"], "copies many tensors at once"),
        (["--size", "900TiB"], "900 TiB does not fit: with "),
        (["--direction", "up"], "unknown direction 'up' (known: h2d, d2h, d2d, duplex)"),
        (["--scenario", "pined"], "no scenario matches 'pined' (did you mean 'pinned'?)"),
        (["--plot", "p.jpg"], "--plot: p.jpg must end in .svg"),
        (["--plot", "none/p.svg"], "cannot write none/p.svg: folder none does not exist"),
        (["--report", "xml=x"], "unknown format for --report: 'xml'"),
        (["--require", "pinned"], "--require 'pinned': write it as in"),
        (["--require", "pinned.h2d.gbps > link"], "there is no link without a device"),
        (["--compare", "none.json"], "--compare: cannot read none.json: No such file"),
        (["--max-regression", "5%"], "--max-regression needs --compare"),
        (["--config", "none.yaml"], "none.yaml cannot be read: No such file"),
    ],
)
def test_bad_input_is_one_line(run: Run, arguments: list[str], message: str) -> None:
    device = [] if "--device" in arguments else ["--device", "cpu"]
    code, out, err = run("profile-transfer", *device, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert len(err.splitlines()) == 1


def test_cuda_without_a_device_is_refused_and_never_replaced(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner.CUDA.__class__, "why_unavailable", lambda self: "no driver")
    for device in ("cuda", "cuda:1"):
        code, out, err = run("profile-transfer", "--device", device)
        assert (code, out) == (2, "")
        assert err == (
            "error: --device cuda cannot be used: no driver; --device cpu measures only the host\n"
        )


def test_the_list_of_scenarios(run: Run) -> None:
    code, out, _ = run("profile-transfer", "--list")
    assert code == 0
    assert "pinned          memory that is page-locked" in out
    assert "h2d (blocking, non_blocking), d2h (blocking)" in out


def test_the_list_of_some_scenarios(run: Run) -> None:
    code, out, _ = run("profile-transfer", "--list", "--scenario", "pinned")
    assert code == 0
    assert "pageable  " not in out
    code, out, err = run("profile-transfer", "--list", "--scenario", "pined")
    assert (code, out) == (2, "")
    assert "no scenario matches 'pined' (did you mean 'pinned'?)" in err


def test_sizes_that_are_named_are_the_only_ones(paper: Callable[..., None], run: Run) -> None:
    paper()
    code, _, _ = run(*SMALL, "--report", "json=r.json")
    assert code == 0
    cells = json.loads(Path("r.json").read_text())["cells"]
    assert {(cell.get("tensors", 1), cell["bytes"]) for cell in cells} == {
        (1, 4 << 10), (1, 64 << 10), (1, 1 << 20),
    }  # fmt: skip


def test_everything_on_the_host_is_marked_as_simulated(run: Run) -> None:
    Path("t.yaml").write_text("version: 1\ntransfer: {collections: []}\n")
    code, out, err = run(
        "profile-transfer", "--device", "cpu", "--scenario", "pinned,pageable", "--size", "4KiB",
        "--budget", "40", "--config", "t.yaml", "--report", "json=r.json", "--report", "csv=r.csv",
        "--report", "markdown=r.md", "--report", "html=r.html", "--plot", "p.svg",
    )  # fmt: skip
    assert err == ""
    assert code in {0, 5}  # On a busy machine, no number may be good enough to count.
    titles = [line for line in out.splitlines() if line.startswith("SIMULATED")]
    assert len(titles) >= 6
    assert titles[-1] == out.splitlines()[-1]
    assert "Advice about a GPU: n/a" in out
    assert "mlock'ed" in out
    document = json.loads(Path("r.json").read_text())
    jsonschema.validate(document, json.loads(published_schema()))
    groups = ("cells", "fits", "asynchrony", "hazards", "pinning", "overlap")
    assert all(each["simulated"] for group in groups for each in document.get(group, []))
    for name in ("r.csv", "r.md", "r.html", "p.svg"):
        text = Path(name).read_text().lower()
        assert "simulated" in text or (name == "p.svg" and "text" not in text)
    for hazard in document["hazards"]:
        assert hazard["caught"] == hazard["trials"] == hazard["cured_by_event"]


def test_the_schema_is_printed_as_published(run: Run) -> None:
    code, out, _ = run("schema", "transfer")
    assert (code, out) == (0, published_schema())
