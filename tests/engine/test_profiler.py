"""The profiler: which names, how often, how long, and that nothing of it stays behind."""

from __future__ import annotations

import contextlib
import inspect
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.engine._ops.core import methods
from gradtool.engine._ops.core.primitive import PRIMITIVES
from gradtool.engine._profiling.hooks import _cells
from gradtool.engine._profiling.recorder import Recorder
from gradtool.engine.autograd.function import BackwardCFunction, Function
from gradtool.engine.autograd.profiler_util import EventList, FunctionEventAvg
from gradtool.engine.profiler import ProfilerActivity, profile, record_function
from gradtool.engine.utils.benchmark import Timer

CPU = [ProfilerActivity.CPU]


class Times(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x, w)
        return x.mm(w)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, w = ctx.saved_tensors
        return g.mm(w.t()), x.t().mm(g)


def ticking(step: int = 1000) -> Iterator[int]:
    """A clock that goes on by a microsecond whenever it is read."""
    now = 0
    while True:
        yield now
        now += step


def calls(found: Any) -> dict[str, int]:
    return {row.key: row.count for row in found.key_averages()}


def engine_parts() -> list[Any]:
    """All that a profiler replaces."""
    cells = [
        cell["compute"].cell_contents
        for family in methods.FAMILIES
        for value in vars(family).values()
        if "compute" in (cell := _cells(value))
    ]
    kinds = [vars(kind)["_vjp"] for kind in (BackwardCFunction,)]
    computes = [primitive.compute for primitive in PRIMITIVES]
    return [*cells, *kinds, *computes, *vars(torch.Tensor).values(), *vars(torch).values()]


def test_nothing_of_a_profiler_stays_behind() -> None:
    torch.cuda, torch.nn  # noqa: B018 - loaded on first use
    before = engine_parts()
    found = profile(activities=CPU)
    with contextlib.suppress(KeyError), found:
        during = engine_parts()
        raise KeyError
    assert any(one is not other for one, other in zip(before, during, strict=True))
    assert all(one is other for one, other in zip(before, engine_parts(), strict=True))


def test_operations_are_told_of_by_torchs_names_however_they_are_called() -> None:
    x = torch.ones(3, 3)
    exp = torch.exp
    with profile(activities=CPU) as found:
        _ = x + 1
        torch.add(x, x)
        x.add(2)
        x.add_(1)
        exp(x)
        1 - x
        x.to(torch.float64)
        x.sum(0)[1]
    counts = calls(found)
    assert counts["aten::add"] == 4
    assert counts["aten::add_"] == counts["aten::exp"] == counts["aten::sub"] == 1
    assert counts["aten::to"] == counts["aten::_to_copy"] == counts["aten::sum"] == 1


def test_functions_and_nodes_have_their_own_names() -> None:
    x, w = (torch.ones(2, 2, requires_grad=True) for _ in range(2))
    with profile(activities=CPU) as found:
        (Times.apply(x, w) * 2).sum().backward()
    counts = calls(found)
    assert counts["Times"] == counts["TimesBackward"] == counts["MulBackward0"] == 1
    assert counts["aten::mm"] == 3
    assert x.grad.tolist() == [[4, 4], [4, 4]]


def test_times_inside_and_outside_add_up() -> None:
    clock = ticking()
    with profile(activities=CPU, clock=clock.__next__) as found, record_function("outer"):
        with record_function("inner"):
            pass
        with record_function("inner"):
            pass
    outer, inner = found.key_averages()
    assert (outer.count, outer.cpu_time_total, outer.self_cpu_time_total) == (1, 5, 3)
    assert (inner.count, inner.cpu_time_total, inner.cpu_time) == (2, 2, 1)
    assert found.key_averages().self_cpu_time_total == outer.cpu_time_total


def test_a_name_inside_itself_is_one_call_and_an_exception_closes_what_is_open() -> None:
    recorder = Recorder(ticking().__next__)
    outer = recorder.enter("a")
    assert outer is not None
    assert recorder.enter("a") is None
    recorder.enter("b")
    recorder.leave(outer)
    assert [(span.name, span.total) for span in recorder.spans] == [("a", 2000), ("b", 1000)]
    assert recorder.enter("c") is not None


def test_only_the_thread_that_is_profiled_is_told_of() -> None:
    x = torch.ones(2)
    with profile(activities=CPU) as found:
        other = threading.Thread(target=lambda: x.exp())
        other.start()
        other.join()
        x.sin()
    assert set(calls(found)) == {"aten::sin"}


def test_profilers_can_be_nested() -> None:
    x = torch.ones(2)
    with profile(activities=CPU) as outer:
        x.sin()
        with profile(activities=CPU) as inner:
            x.exp()
        x.cos()
    assert (set(calls(inner)), set(calls(outer))) == ({"aten::exp"}, {"aten::sin", "aten::cos"})


def test_forward_mode_and_vmap_work_while_they_are_profiled() -> None:
    x = torch.arange(3.0)
    with profile(activities=CPU) as found:
        (value,) = torch.func.vmap(lambda row: (row.exp(),))(x)
        _, tangent = torch.func.jvp(lambda row: row.sin(), (x,), (torch.ones(3),))
    assert torch.equal(value, x.exp())
    assert torch.equal(tangent, x.cos())
    assert {"aten::exp", "aten::sin", "aten::cos"} <= set(calls(found))


def test_the_table() -> None:
    rows = [
        FunctionEventAvg("aten::to", 1000, 16432, 12000),
        FunctionEventAvg("cudaStreamSynchronize", 1000, 4000, 4000),
    ]
    assert EventList(rows).table() == (
        "-------------------------  ------------  ------------  ------------  ------------  "
        "------------  ------------\n"
        "                     Name    Self CPU %      Self CPU   CPU total %     CPU total  "
        "CPU time avg    # of Calls\n"
        "-------------------------  ------------  ------------  ------------  ------------  "
        "------------  ------------\n"
        "                 aten::to        75.00%      12.000ms       102.70%      16.432ms  "
        "    16.432us          1000\n"
        "    cudaStreamSynchronize        25.00%       4.000ms        25.00%       4.000ms  "
        "     4.000us          1000\n"
        "-------------------------  ------------  ------------  ------------  ------------  "
        "------------  ------------\n"
        "Self CPU time total: 16.000ms\n"
    )


def test_a_table_is_sorted_cut_and_given_a_header() -> None:
    rows = [FunctionEventAvg("a", 1, 5, 5), FunctionEventAvg("b" * 80, 9, 1, 1)]
    table = EventList(rows, use_device="cuda").table(sort_by="count", row_limit=1, header="mine")
    assert table.startswith("mine\n---")
    assert "b" * 52 + "..." in table
    assert "Self CUDA time total: 0.000us" in table
    with pytest.raises(ValueError, match="cannot sort by 'nope'; known: cpu_time, "):
        EventList(rows).table(sort_by="nope")


def test_what_is_not_offered_says_so() -> None:
    with pytest.raises(NotImplementedError, match="enter the profiler around the code to record"):
        profile(schedule=lambda step: None)
    with pytest.raises(AssertionError, match="didn't finish"):
        torch.autograd.profiler.profile().key_averages()


def test_record_function_decorates_and_costs_nothing_unprofiled() -> None:
    named = record_function("f")(lambda x: x + 1)
    assert named(1) == 2
    with profile(activities=CPU) as found:
        assert named(1) == 2
    assert calls(found) == {"f": 1}


def test_a_trace_for_browsers(tmp_path: Path) -> None:
    ready: list[Any] = []
    with profile(activities=CPU, on_trace_ready=ready.append) as found:
        torch.ones(2).exp()
    assert ready == [found]
    found.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == ["aten::ones", "aten::exp"]


def test_nodes_have_the_numbers_of_the_operations_that_made_them(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.profiler.profile() as found:
        (x * 2).sum().backward()
    events = found.function_events
    numbers = {event.name: event.sequence_nr for event in events if event.sequence_nr >= 0}
    assert numbers["aten::mul"] == numbers["MulBackward0"] < numbers["aten::sum"]
    step = "autograd::engine::evaluate_function: SumBackward0"
    assert numbers["aten::sum"] == numbers["SumBackward0"] == numbers[step]
    (inner,) = [event for event in events if event.name == "SumBackward0"]
    assert inner.cpu_parent.name == step
    assert inner in inner.cpu_parent.cpu_children
    assert "torch::autograd::AccumulateGrad" in {event.name for event in events}


def test_what_an_event_says(torch: Any) -> None:
    with (
        torch.autograd.profiler.profile(record_shapes=True) as found,
        torch.autograd.profiler.record_function("mine"),
    ):
        torch.ones(2, 3).mm(torch.ones(3, 4))
    (mine,) = [event for event in found.function_events if event.name == "mine"]
    assert [event.name for event in mine.cpu_children][-1] == "aten::mm"
    assert mine.cpu_children[-1].input_shapes == [[2, 3], [3, 4]]
    assert mine.cpu_parent is None
    assert mine.cpu_time == mine.time_range.elapsed_us() == mine.cpu_time_total
    assert not mine.is_async
    shapes = [row.input_shapes for row in found.key_averages(group_by_input_shape=True)]
    assert [[2, 3], [3, 4]] in shapes
    assert found.key_averages()[0].cpu_time_total_str.endswith("s")


def test_a_profile_is_entered_once_or_not_at_all(torch: Any) -> None:
    with torch.autograd.profiler.profile() as found:
        pass
    with pytest.raises(RuntimeError, match="not reentrant"):
        found.__enter__()
    with torch.autograd.profiler.profile(enabled=False) as found:
        assert found is None
    assert repr(torch.autograd.profiler.profile()) == "<unfinished torch.autograd.profile>"


@pytest.mark.benchmark
def test_the_cost_of_an_operation_after_a_profile(capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.ones(4)
    one = Timer("x * x", globals={"x": x})
    before = one.blocked_autorange(min_run_time=0.1).median
    with profile(activities=CPU):
        during = one.blocked_autorange(min_run_time=0.1).median
    after = one.blocked_autorange(min_run_time=0.1).median
    with capsys.disabled():
        print(f"\nx * x: {after / before:.3f} of before once profiled, {during / before:.1f} while")
    assert during > 0


@pytest.mark.torch
def test_names_and_signatures_are_torchs() -> None:
    real = pytest.importorskip(
        "torch.profiler", reason="reads PyTorch's signatures; it is not installed"
    )
    for name in ("start", "stop", "step", "events", "key_averages", "export_chrome_trace"):
        assert callable(getattr(real.profile, name))
    theirs = inspect.signature(real.profile.__init__).parameters
    ours = inspect.signature(profile.__init__).parameters
    assert {name for name in ours if name not in ("clock", "accepted")} <= set(theirs)
    assert [each.name for each in ProfilerActivity] == list(real.ProfilerActivity.__members__)[:6]
    x = __import__("torch").ones(2, 2)
    with real.profile(activities=[real.ProfilerActivity.CPU]) as found:
        x.exp() * 2
    first = found.key_averages().table(sort_by="count").splitlines()
    with profile(activities=CPU) as mine:
        torch.ones(2, 2).exp() * 2
    assert {"aten::exp", "aten::mul"} <= set(calls(found)) & set(calls(mine))
    assert first[1].split() == mine.key_averages().table().splitlines()[1].split()


def test_profiling_shows_while_it_goes_on() -> None:
    assert not torch.autograd._profiler_enabled()
    with profile():
        assert torch.autograd._profiler_enabled()
    assert not torch.autograd._profiler_enabled()
