"""Collectives of one process do what PyTorch's do in a group of one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

import gradtool.engine as engine
import gradtool.engine.distributed as alone
from gradtool.engine.distributed import _functional_collectives as functional

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

FUNCTIONAL: dict[str, Callable[[Any, Any, Any], Any]] = {
    "all_reduce": lambda calls, x, group: calls.all_reduce(x, "SUM", group),
    "average": lambda calls, x, group: calls.all_reduce(x, "avg", group),
    "bits": lambda calls, x, group: calls.all_reduce(x, "band", group).tolist(),
    "no_reduction": lambda calls, x, group: calls.all_reduce(x, "nothing", group),
    "enumerated": lambda calls, x, group: calls.all_reduce(x, 0, group),
    "of_name": lambda calls, x, group: calls.all_reduce(x, "sum", group.group_name),
    "of_no_name": lambda calls, x, group: calls.all_reduce(x, "sum", "nobody"),
    "of_ranks": lambda calls, x, group: calls.all_reduce(x, "sum", [0]),
    "of_other_ranks": lambda calls, x, group: calls.all_reduce(x, "sum", [0, 1]),
    "of_no_group": lambda calls, x, group: calls.all_reduce(x, "sum", None),
    "all_gather": lambda calls, x, group: calls.all_gather_single(x, -1, group),
    "all_gather_tensor": lambda calls, x, group: calls.all_gather_tensor(x, 0, group),
    "all_gather_autograd": lambda calls, x, group: calls.all_gather_tensor_autograd(x, 1, group),
    "all_gather_single_autograd": lambda calls, x, group: calls.all_gather_single_autograd(
        x, 0, group
    ),
    "no_dimension": lambda calls, x, group: calls.all_gather_single(x, 2, group),
    "scalars": lambda calls, x, group: calls.all_gather_single(x.sum(), 0, group).tolist(),
    "reduce_scatter": lambda calls, x, group: calls.reduce_scatter_single(x, "sum", 1, group),
    "reduce_scatter_tensor": lambda calls, x, group: calls.reduce_scatter_tensor(
        x, "sum", 0, group
    ),
    "reduce_scatter_autograd": lambda calls, x, group: calls.reduce_scatter_tensor_autograd(
        x, "sum", -1, group
    ),
    "reduce_scatter_single_autograd": lambda calls, x, group: calls.reduce_scatter_single_autograd(
        x, "sum", 0, group
    ),
    "largest": lambda calls, x, group: calls.reduce_scatter_single(x, "max", 0, group),
    "scattered_scalar": lambda calls, x, group: calls.reduce_scatter_single(
        x.sum(), "sum", 0, group
    ),
    "all_to_all": lambda calls, x, group: calls.all_to_all_single(x, None, None, group),
    "all_to_all_autograd": lambda calls, x, group: calls.all_to_all_single_autograd(
        x, [2], [2], group
    ),
    "other_rows": lambda calls, x, group: calls.all_to_all_single(x, [3], [2], group).tolist(),
    "one_list": lambda calls, x, group: calls.all_to_all_single(x, [2], None, group),
    "halves": lambda calls, x, group: calls.all_to_all_single(x, [2.0], [2.0], group),
    "rows_of_a_scalar": lambda calls, x, group: calls.all_to_all_single(x.sum(), None, None, group),
    "broadcast": lambda calls, x, group: calls.broadcast(x, 0, group),
    "from_another": lambda calls, x, group: calls.broadcast(x, 1, group),
    "wait": lambda calls, x, group: calls.wait_tensor(calls.all_reduce(x, "sum", group)),
}

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "all_reduce": lambda ops, x: ops.all_reduce(x, "sum", "0"),
    "broadcast": lambda ops, x: ops.broadcast(x, 0, "0"),
    "all_gather": lambda ops, x: ops.all_gather_into_tensor(x, 1, "0"),
    "reduce_scatter": lambda ops, x: ops.reduce_scatter_tensor(x, "avg", 1, "0"),
    "all_to_all": lambda ops, x: ops.all_to_all_single.default(x, [2], [2], "0"),
}

DIFFERENTIATED: dict[str, Callable[[Any, Any], Any]] = {
    "all_reduce": lambda calls, x: calls.all_reduce(x),
    "reduce": lambda calls, x: calls.reduce(x, 0),
    "broadcast": lambda calls, x: calls.broadcast(x, 0),
    "gather": lambda calls, x: calls.gather(x)[0],
    "scatter": lambda calls, x: calls.scatter([x], 0),
    "all_gather": lambda calls, x: calls.all_gather(x)[0],
    "reduce_scatter": lambda calls, x: calls.reduce_scatter(x.detach().clone(), [x]),
    "all_to_all": lambda calls, x: calls.all_to_all([x.detach().clone()], [x])[0],
    "all_to_all_single": lambda calls, x: calls.all_to_all_single(x.detach().clone(), x),
}


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


def derivatives(
    torch: Any, dist: Any, calls: Any, collective: Callable[[Any, Any, Any], Any]
) -> list[Any]:
    """A result, its strides and two derivatives, as far as they get, and how it was refused."""
    x = torch.arange(6.0, dtype=torch.float64).reshape(3, 2).T.requires_grad_()
    found = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            out = collective(calls, x * 2, dist.group.WORLD)
            found += [out.tolist(), out.stride(), isinstance(out, calls.AsyncCollectiveTensor)]
            (grad,) = torch.autograd.grad((out**3).sum(), x, create_graph=True)
            found += [grad.tolist(), *torch.autograd.grad(grad.sum(), x)[0].tolist()]
        except Exception as error:
            found.append(type(error))
    deprecations = [str(each.message) for each in caught if each.category is FutureWarning]
    return [*found, *deprecations]


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", FUNCTIONAL)
def test_a_functional_collective_does_what_pytorchs_does(name: str, torch: Any) -> None:
    import torch.distributed._functional_collectives as theirs

    found = derivatives(engine, alone, functional, FUNCTIONAL[name])
    expected = derivatives(torch, torch.distributed, theirs, FUNCTIONAL[name])
    # PyTorch's wraps its results, to wait for them when they are used.
    assert found == [False if each is True else each for each in expected]


def test_a_functional_collective_keeps_its_input() -> None:
    x = engine.ones(2)
    functional.all_reduce(x, "sum", alone.group.WORLD).add_(1)
    assert x.tolist() == [1, 1]


def test_a_reduction_without_gradient_can_be_batched() -> None:
    rows = engine.ones(3, 2, requires_grad=True)
    largest = engine.vmap(lambda row: functional.all_reduce(row, "max", alone.group.WORLD))(rows)
    assert largest.tolist() == rows.tolist()
    with pytest.raises(RuntimeError, match="only supports 'sum' reduction, got 'max'"):
        largest.sum().backward()


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


def test_the_default_group_has_a_function_where_pytorch_defines_it() -> None:
    names: dict[str, Any] = {}
    exec("from gradtool.engine.distributed import *", names)
    module = names["distributed_c10d"]
    assert module._get_default_group() is alone.group.WORLD
    assert module.all_reduce is alone.all_reduce
    with pytest.raises(AttributeError, match="__no_such_name__"):
        _ = module.__no_such_name__


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_does_what_pytorchs_does(name: str, torch: Any) -> None:
    found = []
    for library in (engine, torch):
        ops = library.ops._c10d_functional
        x = library.arange(6.0).reshape(2, 3)
        found.append(ops.wait_tensor(OPERATORS[name](ops, x)).tolist())
    assert found[0] == found[1]


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_a_differentiated_collective_does_what_pytorchs_does(name: str, torch: Any) -> None:
    import torch.distributed.nn.functional as with_torch

    import gradtool.engine.distributed.nn.functional as with_engine

    found = []
    for library, calls in ((engine, with_engine), (torch, with_torch)):
        x = library.arange(6.0).reshape(2, 3).requires_grad_()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # PyTorch names a successor.
            out = DIFFERENTIATED[name](calls, x * 2)
        (grad,) = library.autograd.grad((out**2).sum(), x)
        found.append((out.tolist(), grad.tolist()))
    assert found[0] == found[1]


def test_an_operator_that_is_not_there_is_named() -> None:
    with pytest.raises(NotImplementedError, match=r"_c10d_functional\.isend"):
        engine.ops._c10d_functional.isend(engine.zeros(2))


@pytest.mark.parametrize(
    "call",
    [
        lambda ops, x: ops.all_gather_into_tensor(x, 2, "0"),
        lambda ops, x: ops.reduce_scatter_tensor(x, "sum", 2, "0"),
    ],
)
def test_an_operator_refuses_another_size_of_the_group(call: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(RuntimeError, match="one process"):
        call(engine.ops._c10d_functional, engine.zeros(2))
