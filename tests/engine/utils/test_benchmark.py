"""Timer, Measurement and Compare: sampling, stopping and the printed figures."""

from __future__ import annotations

import inspect
import re

import pytest

import gradtool.engine as torch
from gradtool.engine.utils import benchmark
from gradtool.engine.utils.benchmark import Compare, Measurement, TaskSpec, Timer


class Clock:
    """A clock that moves only when the timed statement says so."""

    def __init__(self, steps: tuple[float, ...] = (1e-3,)) -> None:
        self.now = 0.0
        self.runs = 0
        self._steps = steps

    def __call__(self) -> float:
        return self.now

    def work(self) -> None:
        self.now += self._steps[self.runs % len(self._steps)]
        self.runs += 1


def timer(clock: Clock, **given: object) -> Timer:
    return Timer("work()", timer=clock, globals={"work": clock.work}, **given)


def measured(*times: float, per_run: int = 1, **spec: object) -> Measurement:
    task = TaskSpec(**{"stmt": "f(x)", "setup": "pass", **spec})
    return Measurement(per_run, list(times), task)


def printed(measurement: Measurement) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x0", repr(measurement))


def test_timeit_is_one_sample_after_a_warm_up() -> None:
    clock = Clock()
    found = timer(clock).timeit(200)
    assert clock.runs == 202
    assert found.median == found.mean == pytest.approx(1e-3)
    assert found.number_per_run == 200


def test_a_sample_of_a_short_statement_has_runs_enough_to_fill_the_window() -> None:
    found = timer(Clock((1e-6,))).adaptive_autorange()
    assert found.number_per_run * 1e-6 >= 100e-6
    assert sum(found.raw_times) >= 0.01


def test_adaptive_autorange_stops_at_fifteen_samples_of_the_same_time() -> None:
    found = timer(Clock((2e-3,))).adaptive_autorange()
    assert (len(found.raw_times), found.iqr) == (15, pytest.approx(0))


def test_adaptive_autorange_ends_when_its_time_is_up_however_large_the_spread() -> None:
    found = timer(Clock((1e-3, 9e-3))).adaptive_autorange(0.1, max_run_time=0.5)
    assert 0.5 <= sum(found.raw_times) < 0.51
    assert not found.meets_confidence()
    assert "WARNING: the interquartile range is 160.0% of the median" in repr(found)


def test_blocked_autorange_fills_its_time_and_tells_of_each_block() -> None:
    blocks: list[tuple[int, float]] = []
    found = timer(Clock()).blocked_autorange(lambda *block: blocks.append(block), min_run_time=0.3)
    assert sum(found.raw_times) == pytest.approx(0.3, rel=0.05)
    assert blocks == [(found.number_per_run, time) for time in found.raw_times]


def test_setup_runs_before_each_sample_and_is_not_timed() -> None:
    clock = Clock((1e-3,))
    given = {"setup": "setup()", "timer": clock}
    names = {"work": clock.work, "setup": lambda: setattr(clock, "now", clock.now + 100)}
    assert Timer("work()", globals=names, **given).timeit(10).median == pytest.approx(1e-3)


def test_a_measurement_prints_median_spread_and_counts() -> None:
    found = measured(352.3e-3, 352.6e-3, 352.7e-3, 352.8e-3, per_run=10_000, stmt="t.to('cuda:0')")
    assert printed(found) == (
        "<torch.utils.benchmark.utils.common.Measurement object at 0x0>\n"
        "t.to('cuda:0')\n"
        "  Median: 35.27 us\n"
        "  IQR:    0.02 us (35.25 to 35.27)\n"
        "  4 measurements, 10000 runs per measurement, 1 thread"
    )


def test_a_measurement_prints_one_sample_with_its_labels() -> None:
    found = measured(
        3.0, per_run=1000, label="copy", sub_label="big", description="new", setup="a = 1"
    )
    assert printed(found).splitlines()[1:] == [
        "copy: big", "new", "setup: a = 1", "  3.00 ms", "  1 measurement, 1000 runs , 1 thread",
    ]  # fmt: skip


def test_a_measurement_tells_of_its_task() -> None:
    found = measured(1.0, label="copy", num_threads=2)
    assert (found.label, found.stmt, found.num_threads) == ("copy", "f(x)", 2)
    with pytest.raises(AttributeError):
        _ = found.nope


def test_significant_figures_follow_the_spread() -> None:
    assert measured(1.0, 1.0, 1.0).significant_figures == 5
    assert measured(1.0, 1.5, 2.0, 2.5).significant_figures == 2


def test_merged_measurements_keep_the_time_of_one_run() -> None:
    (merged,) = Measurement.merge([measured(2.0, per_run=2), measured(9.0, per_run=3)])
    assert merged.times == [1.0, 3.0]


def test_compare_prints_rows_columns_and_units(capsys: pytest.CaptureFixture[str]) -> None:
    results = [
        measured(time, label="copy", sub_label=row, description=column)
        for row, column, time in [
            ("a", "old", 2e-6),
            ("a", "new", 1e-6),
            ("longer", "new", 3.25e-6),
        ]
    ]
    Compare(results).print()
    assert capsys.readouterr().out == (
        "[---------- copy ---------]\n"
        "          |  old  |  new\n"
        "1 thread: -----------------\n"
        "  a       |  2.0  |  1.0\n"
        "  longer  |       |  3.2\n"
        "---------------------------\n"
        "\n"
        "Times are in microseconds (us).\n"
        "\n"
    )


def test_compare_marks_a_spread_that_is_large() -> None:
    table = Compare([measured(1.0, 2.0, 3.0, 4.0)])
    table.highlight_warnings()
    table.trim_significant_figures()
    assert "(! 60%) 2.5" in str(table)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"stmt": len}, "must be source code"),
        ({"language": "cpp"}, "only Python"),
        ({"global_setup": "#include <x>"}, "for C\\+\\+"),
    ],
)
def test_what_cannot_be_timed_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Timer(**given)


def test_it_times_tensors() -> None:
    x = torch.ones(10)
    found = Timer("x + 1", globals={"x": x}).blocked_autorange(min_run_time=0.005)
    assert 0 < found.median < 0.01


@pytest.mark.torch
def test_signatures_are_torchs() -> None:
    real = pytest.importorskip(
        "torch.utils.benchmark", reason="reads PyTorch's signatures; it is not installed"
    )
    for name in ("__init__", "timeit", "blocked_autorange", "adaptive_autorange"):
        theirs = inspect.signature(getattr(real.Timer, name)).parameters
        assert list(inspect.signature(getattr(Timer, name)).parameters) == list(theirs)
    for name in ("median", "mean", "iqr", "times", "raw_times", "significant_figures", "title"):
        theirs = real.Measurement(10, [1.0, 2.0, 3.0, 9.0], real.TaskSpec("f(x)", "pass"))
        ours = measured(1.0, 2.0, 3.0, 9.0, per_run=10)
        if name != "significant_figures":
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name)) or name == "title"
        assert hasattr(theirs, name)
    assert benchmark.select_unit(3e-5)[0] == real.select_unit(3e-5)[0]
