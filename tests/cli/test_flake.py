"""``--flake N``: the same checks with several seeds, and how often each came to which verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gradtool.results.report import Report
from tests.user_modules import GOOD, WRONG

Run = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.slow

SOMETIMES = """
import torch
from gradtool import Function

class Sometimes(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * torch.where(x.sum() > 0, x, 2 * x)
"""
"""Wrong where the sum of what it is called with is negative."""


def check(run: Run, *arguments: str) -> tuple[int, str, Report]:
    """Exit code, output and report of a check for GT101 alone."""
    options = ("--select", "GT101", "--no-cache", "--report", "json=out.json")
    code, out, err = run("check", *options, *arguments)
    assert err == ""
    return code, out, msgspec.json.decode(Path("out.json").read_bytes(), type=Report)


def failing_seeds(run: Run, count: int) -> list[int]:
    """Those of the first `count` seeds that fail when each is run by itself."""
    codes = [check(run, "ops.py", "--no-isolation", "--seed", str(s))[0] for s in range(count)]
    assert set(codes) == {0, 1}, "the example must fail with some seeds and pass with others"
    return [seed for seed, code in enumerate(codes) if code]


def test_the_rate_is_that_of_single_runs(run: Run) -> None:
    Path("ops.py").write_text(SOMETIMES)
    seeds = failing_seeds(run, 8)
    code, out, report = check(run, "ops.py", "--no-isolation", "--flake", "8")
    assert code == 1
    rate = f"failed for {len(seeds)} of 8 seeds: {', '.join(map(str, seeds))}"
    assert f"GT101 at ops.py::Sometimes[inferred] {rate}\n" in out
    assert "1 Function, 1 case with 8 seeds" in out
    assert "seed 0 to 7" in out
    (finding,) = report.findings()
    assert finding.message.startswith(f"{rate}; at seed {seeds[0]}: ")
    assert finding.seeds == tuple(seeds)
    assert finding.seed == seeds[0]
    assert f"--seed {seeds[0]}" in (finding.replay or "")
    assert (report.seed, report.seeds) == (0, 8)


@pytest.mark.parametrize("how", [["-j1"], ["-j2"]])
def test_processes_come_to_the_same(run: Run, how: list[str]) -> None:
    Path("ops.py").write_text(SOMETIMES)
    Path("fine.py").write_text(GOOD)
    code, _, alone = check(run, ".", "--no-isolation", "--flake", "4", "--seed", "1")
    again, _, isolated = check(run, ".", *how, "--flake", "4", "--seed", "1")
    assert code == again
    assert list(isolated.findings()) == list(alone.findings())
    assert isolated.notices == alone.notices


def test_what_always_fails_and_what_always_passes_do_not_differ(run: Run) -> None:
    Path("ops.py").write_text(WRONG)
    code, out, report = check(run, "ops.py", "--no-isolation", "--flake", "3", "--seed", "5")
    assert code == 1
    (finding,) = report.findings()
    assert finding.message.startswith("failed for all 3 seeds; at seed 5: ")
    assert finding.seeds == (5, 6, 7)
    assert "all verdicts are the same for 3 seeds\n" in out
    Path("ops.py").write_text(GOOD)
    code, out, report = check(run, "ops.py", "--no-isolation", "--flake", "3")
    assert (code, list(report.findings())) == (0, [])
    assert "all verdicts are the same for 3 seeds\n" in out
    calls = {case.name: case.cost.forward for _, f in report.functions() for case in f.cases}
    _, _, once = check(run, "ops.py", "--no-isolation")
    single = {case.name: case.cost.forward for _, f in once.functions() for case in f.cases}
    assert calls == {name: 3 * count for name, count in single.items()}


def test_a_setting_is_needless_only_if_no_seed_needs_it(run: Run) -> None:
    loose = "version: 1\nfunctions: {Sometimes: {rtol: 1}, Square: {rtol: 1}}\n"
    Path("gradtool.yaml").write_text(loose)
    Path("ops.py").write_text(SOMETIMES + GOOD.replace("class Product", "class _Product"))
    options = ("--no-isolation", "--flake", "8", "--select", "GT511", "--strict")
    code, _, report = check(run, "ops.py", *options)
    assert code == 1
    assert [finding.node_id for finding in report.findings()] == ["ops.py::Square[inferred]::GT511"]


def test_a_baseline_knows_a_finding_whatever_its_rate(run: Run) -> None:
    Path("ops.py").write_text(WRONG)
    check(run, "ops.py", "--no-isolation", "--baseline", "b.json", "--write-baseline")
    code, _, report = check(run, "ops.py", "--no-isolation", "--baseline", "b.json", "--flake", "2")
    assert code == 0
    assert [finding.known for finding in report.findings()] == [True]


def test_shards_with_seeds_unite(run: Run) -> None:
    Path("ops.py").write_text(WRONG)
    Path("fine.py").write_text(GOOD)
    for number, flake in (("1/2", "2"), ("2/2", "2"), ("2/2", "3")):
        name = f"json={number[0]}-{flake}.json"
        run("check", ".", "--no-isolation", "--shard", number, "--flake", flake, "--report", name)
    assert run("merge", "1-2.json", "2-2.json")[0] == 1
    code, _, err = run("merge", "1-2.json", "2-3.json")
    assert code == 2
    assert "number of seeds 2 and 3" in err


def test_an_interrupted_run_tells_the_seeds_there_were(run: Run) -> None:
    Path("ops.py").write_text(INTERRUPTED)
    code, _, report = check(run, "ops.py", "--no-isolation", "--flake", "5")
    assert code == 130
    assert report.interrupted
    (finding,) = report.findings()
    assert finding.message.startswith("failed for all ")


INTERRUPTED = """
from gradtool import Function

class Stops(Function):
    runs = 0

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g

    @staticmethod
    def sample_inputs():
        import torch
        Stops.runs += 1
        if Stops.runs == 3:
            raise KeyboardInterrupt
        yield (torch.randn(3).double(),)
"""


@pytest.mark.parametrize("count", ["1", "0", "-2", "many"])
def test_fewer_than_two_seeds_are_refused(run: Run, count: str) -> None:
    Path("ops.py").write_text(GOOD)
    code, out, err = run("check", "ops.py", "--flake", count)
    assert (code, out) == (2, "")
    assert "--flake" in err
    assert len(err.splitlines()) == 1


def test_seeds_beyond_the_largest_are_refused(run: Run) -> None:
    Path("ops.py").write_text(GOOD)
    code, out, err = run("check", "ops.py", "--seed", str(2**64 - 2), "--flake", "3")
    assert (code, out) == (2, "")
    assert err == (
        "error: --flake 3 starting at seed 18446744073709551614 goes beyond the largest seed\n"
    )
    assert run("check", "ops.py", "--seed", str(2**64 - 2), "--flake", "2")[0] == 0
