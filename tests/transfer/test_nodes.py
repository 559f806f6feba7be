"""Copies from each NUMA node, and which nodes there are."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gradtool.results.transfer import NodeRate, TransferReport
from gradtool.transfer.analysis.advice import advise
from gradtool.transfer.machines.host.header import parse_processors
from gradtool.transfer.probes import nodes
from tests.transfer.fake_machine import FakeMachine
from tests.transfer.runs import HEADER

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="binding is Linux's")


def test_the_nodes_that_the_system_tells_of(tmp_path: Path) -> None:
    for name, processors in {"node0": "0-1,4\n", "node1": "2-3\n", "node2": "\n"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "cpulist").write_text(processors)
    assert nodes.nodes(tmp_path) == {0: frozenset({0, 1, 4}), 1: frozenset({2, 3})}
    assert nodes.nodes(tmp_path / "none") == {}
    assert parse_processors("") == frozenset()


def test_each_node_is_measured_by_a_thread_bound_to_it() -> None:
    usable = frozenset(os.sched_getaffinity(0))
    one = frozenset({min(usable)})
    seen: list[Any] = []
    machine = FakeMachine()
    real = machine.host

    def host(memory: Any, size: int) -> Any:
        seen.append(os.sched_getaffinity(0))
        return real(memory, size)

    machine.host = host  # type: ignore[method-assign]
    found = list(
        nodes.measure_all(machine, 1 << 16, 1, known={0: usable, 1: one, 7: frozenset({4095})})
    )
    assert seen == [set(usable)] * 2 + [set(one)] * 2
    assert os.sched_getaffinity(0) == set(usable)
    assert machine.alive == []
    measured = [each for each in found if not each.unavailable]
    assert [(each.node, each.near, each.memory, each.direction) for each in measured] == [
        (node, node == 1, memory, direction)
        for node in (0, 1) for memory in ("pageable", "pinned") for direction in ("h2d", "d2h")
    ]  # fmt: skip
    pinned = [each.gbps for each in measured if each.memory == "pinned"]
    assert pinned == pytest.approx([pinned[0]] * 4, rel=0.01)
    (refused,) = (each for each in found if each.unavailable)
    assert refused.node == 7
    assert "processors cannot be used here" in refused.unavailable


def test_one_node_needs_no_second_pass() -> None:
    (found,) = nodes.measure_all(FakeMachine(), 4096, 0, known={0: frozenset({0})})
    assert found.unavailable == "n/a: there is one NUMA node"


@pytest.mark.parametrize(("far", "advised"), [(30.0, True), (49.5, False)])
def test_a_far_node_that_is_slower_is_advised_against(far: float, advised: bool) -> None:
    rates = tuple(
        NodeRate(
            simulated=False, node=node, near=node == 0, memory="pinned", direction="h2d",
            bytes=1 << 26, gbps=rate,
        )
        for node, rate in ((0, 50.0), (1, far))
    )  # fmt: skip
    report = TransferReport(simulated=False, header=HEADER, nodes=rates)
    texts = [each.text for each in advise(report)]
    assert texts == (
        [
            "Run on the device's NUMA node: from node 1, pinned h2d copies reach only 60% of that "
            "node's rate."
        ]
        if advised
        else []
    )
