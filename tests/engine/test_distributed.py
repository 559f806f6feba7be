"""Collectives of one process do what PyTorch's do in a group of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

import gradtool.engine as engine
import gradtool.engine.distributed as alone

COLLECTIVES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "all_reduce": lambda torch, dist, x: dist.all_reduce(x, op=dist.ReduceOp.MAX),
    "reduce": lambda torch, dist, x: dist.reduce(x, 0),
    "broadcast": lambda torch, dist, x: dist.broadcast(x, 0),
    "barrier": lambda torch, dist, x: dist.barrier(),
    "all_gather": lambda torch, dist, x: into(torch, x, lambda out: dist.all_gather([out], x)),
    "all_gather_single": lambda torch, dist, x: into(
        torch, x, lambda out: dist.all_gather_single(out, x)
    ),
    "gather": lambda torch, dist, x: into(torch, x, lambda out: dist.gather(x, [out], 0)),
    "scatter": lambda torch, dist, x: into(torch, x, lambda out: dist.scatter(out, [x], 0)),
    "reduce_scatter_single": lambda torch, dist, x: into(
        torch, x, lambda out: dist.reduce_scatter_single(out, x)
    ),
    "ranks": lambda torch, dist, x: (
        dist.get_rank(), dist.get_world_size(), dist.is_initialized(), dist.get_backend(),
        dist.get_process_group_ranks(dist.group.WORLD), dist.group.WORLD.size(),
    ),
    "all_gather_object": lambda torch, dist, x: objects(dist),
}  # fmt: skip


def into(torch: Any, x: Any, collective: Callable[[Any], Any]) -> list[float]:
    out = torch.zeros_like(x)
    assert collective(out) is None
    values: list[float] = out.tolist()
    return values


def objects(dist: Any) -> list[str | None]:
    found: list[str | None] = [None]
    dist.all_gather_object(found, "a")
    return found


@pytest.fixture(scope="module")
def torch() -> Iterator[Any]:
    torch = pytest.importorskip("torch")
    if torch.distributed.is_initialized():  # By a module that was checked in this process.
        torch.distributed.destroy_process_group()
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield torch
    torch.distributed.destroy_process_group()


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", COLLECTIVES)
def test_a_collective_does_what_pytorchs_does(name: str, torch: Any) -> None:
    found = []
    for library, dist in ((engine, alone), (torch, torch.distributed)):
        x = library.arange(3.0)
        found.append((COLLECTIVES[name](library, dist, x), x.tolist()))
    assert found[0] == found[1]


def test_an_asynchronous_collective_has_ended() -> None:
    x = engine.ones(2)
    work = alone.all_reduce(x, async_op=True)
    assert work is not None
    assert work.wait()
    assert work.is_completed()


@pytest.mark.parametrize("call", [alone.send, alone.recv, alone.P2POp])
def test_there_is_nobody_to_send_to(call: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="no other"):
        call(engine.ones(2), 1)


def test_a_list_needs_a_tensor_for_each_process() -> None:
    with pytest.raises(ValueError, match="which here is one process"):
        alone.all_gather([engine.ones(2), engine.ones(2)], engine.ones(2))


def test_autograd_does_not_see_what_arrives():
    x = engine.ones(2, requires_grad=True)
    out = engine.zeros(2)
    alone.all_gather([out], x * 2)
    assert out.tolist() == [2, 2]
    assert not out.requires_grad


def test_what_arrives_has_the_shape_of_what_was_sent():
    with pytest.raises(RuntimeError, match="invalid tensor size"):
        alone.all_gather([engine.zeros(3, 2)], engine.ones(2))
