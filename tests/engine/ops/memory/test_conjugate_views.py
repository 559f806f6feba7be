"""Conjugates and negatives are views of the same memory, as PyTorch's are."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

VALUES = [[1 + 2j, 3 - 1j], [1j, 2 - 4j]]


def complex_leaf(t: Any, *, requires_grad: bool = False) -> Any:
    return t.tensor(VALUES, dtype=t.complex128, requires_grad=requires_grad)


def seen(value: Any) -> Any:
    """All that there is to see of a tensor, or of several."""
    if isinstance(value, tuple | list):
        return [seen(each) for each in value]
    if not hasattr(value, "is_conj"):
        return value
    plain = value.detach().resolve_conj().resolve_neg()
    return (
        value.is_conj(), value.is_neg(), tuple(value.stride()), value.storage_offset(),
        value._version, value._is_view(), type(value.grad_fn).__name__, plain.tolist(),
    )  # fmt: skip


def outcome(call: Callable[[Any], Any], t: Any) -> Any:
    try:
        return seen(call(t))
    except (RuntimeError, TypeError) as error:
        return type(error), str(error)


OF_A_VIEW: dict[str, Callable[[Any, Any], Any]] = {
    "itself": lambda t, y: y,
    "conjugated again": lambda t, y: y.conj(),
    "parts": lambda t, y: (y.real, y.imag),
    "negative view": lambda t, y: (t._neg_view(y), t._neg_view(t._neg_view(y))),
    "views": lambda t, y: (
        y[0], y.T, y.view(-1), y.reshape(4), y.T.reshape(4), y.expand(3, 2, 2), y.diagonal(),
        y.select(0, 1), *y.split(1), *y.unbind(), y.as_strided((2,), (1,), 1), y.unfold(0, 2, 1),
    ),
    "adjoints": lambda t, y: (y.mH, y.H, y.adjoint(), y.mT),
    "what returns the tensor": lambda t, y: (
        y.contiguous(), +y, y.to(y.dtype), y.resolve_neg(), y.requires_grad_(False),
    ),
    "copies": lambda t, y: (
        y.clone(), y.resolve_conj(), y.conj_physical(), y.T.contiguous(), t.empty_like(y).copy_(y),
        copy.deepcopy(y), y.to(t.complex64), y.imag.clone(), y.imag.contiguous(),
    ),
    "functions": lambda t, y: (
        y.abs(), y + 1, -y, t.cat([y, y]), y[[0, 1]], y[y.abs() > 2], t.where(y.abs() > 2, y, 0),
        y @ y, y.sum(), t.equal(y, y.conj_physical()), y.imag.sum(), t.vdot(y[0], y[1]),
    ),
    "aliases": lambda t, y: (y.detach(), y.data, y.imag.detach(), t.nn.Parameter(y).is_conj()),
    "copy": lambda t, y: (copy.copy(y).is_conj(), copy.copy(y).tolist()),
    "pickled": lambda t, y: [
        (each.is_conj(), each.is_neg(), each.tolist())
        for each in pickle.loads(pickle.dumps([y, y.imag]))
    ],
    "numpy": lambda t, y: y.numpy(),
    "numpy of a negative": lambda t, y: y.imag.numpy(),
    "numpy by force": lambda t, y: [each.numpy(force=True).tolist() for each in (y, y.imag)],
    "numpy's conversion": lambda t, y: np.asarray(y),
    "pairs": lambda t, y: t.view_as_real(y),
    "other dtype": lambda t, y: y.view(t.float64),
    "other dtype of a negative": lambda t, y: y.imag.view(t.int64),
    "numbers": lambda t, y: (y[0, 1].item(), y.tolist(), y.imag.tolist(), complex(y[1, 1])),
    "text": lambda t, y: str(y),
    "storage": lambda t, y: (
        y.storage().tolist(), y.data_ptr() == y._base.data_ptr(), y.is_set_to(y._base),
    ),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:TypedStorage")
@pytest.mark.parametrize("name", OF_A_VIEW)
def test_what_is_made_of_a_conjugate_is_what_torch_makes(name: str) -> None:
    torch = pytest.importorskip("torch")

    def call(t: Any) -> Any:
        return OF_A_VIEW[name](t, complex_leaf(t).conj())

    assert outcome(call, engine) == outcome(call, torch)


def multiplied(t: Any) -> Any:
    x = complex_leaf(t)
    y = x.conj()
    y.mul_(2j)
    y[0] = 1 + 1j
    y.real[0, 0] = 5
    y.imag[1] = t.tensor([7.0, 8.0], dtype=t.float64)
    y.imag.mul_(2)
    return x, y


def filled(t: Any) -> Any:
    x = complex_leaf(t)
    x.conj()[0].fill_(3 + 1j)
    x.conj().imag[1].zero_()
    x.conj()[t.tensor([0]), 0] = 0.25
    x.imag = 2
    x.conj().real += 1
    return x


def written_to_itself(t: Any) -> Any:
    x, other = complex_leaf(t), complex_leaf(t)
    x.conj().copy_(x)
    other.copy_(other.conj())
    other.add_(other.mH)
    return x, other


def written_as_out(t: Any) -> Any:
    x = complex_leaf(t)
    return t.mul(complex_leaf(t), 2, out=x.conj()), x


def conjugated_in_place(t: Any) -> Any:
    x = complex_leaf(t)
    return x.conj().conj_physical_(), x


def masked(t: Any) -> Any:
    x = complex_leaf(t)
    y = x.conj()
    y[y.abs() > 3] = 1j
    y[t.tensor([0]), t.tensor([1])] = t.tensor([5j], dtype=t.complex128)
    return x, y


def turned_in_place(t: Any) -> Any:
    y = complex_leaf(t).conj()
    y.t_()
    return y, y[0]


def given_data(t: Any) -> Any:
    x, other = complex_leaf(t), complex_leaf(t)
    x.data = other.conj()
    other.data = complex_leaf(t)
    return x, other


def set_to_other_memory(t: Any) -> Any:
    x, y = complex_leaf(t), complex_leaf(t).conj()
    y.set_(x)
    x.set_(x.conj())
    return y.is_conj(), y.tolist(), x


def seen_by_aliases(t: Any) -> Any:
    x = complex_leaf(t)
    y, z, w = x.conj(), x.conj().detach(), x.conj().data
    x.mul_(2)
    return y, z, w


WRITES = [
    multiplied, filled, written_to_itself, written_as_out, conjugated_in_place, masked,
    turned_in_place, given_data, set_to_other_memory, seen_by_aliases,
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("write", WRITES)
def test_writes_reach_the_memory_as_in_torch(write: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch")
    assert outcome(write, engine) == outcome(write, torch)


def test_a_write_through_a_conjugate_reaches_the_base() -> None:
    x = complex_leaf(engine)
    y = x.conj()
    y[0, 0] = 5 + 6j
    y.imag[1, 1] = -7
    assert y._base is x
    assert x.tolist() == [[5 - 6j, 3 - 1j], [1j, 2 + 7j]]
    assert x._version == y._version == 2


def test_a_conjugate_shows_what_the_base_becomes() -> None:
    x = complex_leaf(engine)
    y, part = x.conj(), x.conj().imag
    x.mul_(2)
    assert y.tolist() == [[2 - 4j, 6 + 2j], [-2j, 4 + 8j]]
    assert part.tolist() == [[-4, 2], [-2, 8]]


def changed_view(t: Any, x: Any) -> Any:
    changed = x * 1
    view = changed.conj()
    view.mul_(2j)
    return changed, view


def changed_base(t: Any, x: Any) -> Any:
    changed = x * 1
    view, part = changed.conj(), changed.conj().imag
    changed.mul_(2j)
    return view, part


def changed_part(t: Any, x: Any) -> Any:
    changed = x * 1
    changed.conj().imag.mul_(3)
    return changed


GRADIENTS: list[Callable[[Any, Any], Any]] = [
    changed_view,
    changed_base,
    changed_part,
    lambda t, x: x.conj() * t.arange(4.0, dtype=t.float64).reshape(2, 2),
    lambda t, x: x.conj()[0],
    lambda t, x: x.mH @ x,
    lambda t, x: x.conj().imag,
    lambda t, x: x.conj_physical() * 2,
    lambda t, x: x.conj() * x,
]


@pytest.mark.torch
@pytest.mark.parametrize("function", GRADIENTS)
def test_gradients_are_conjugates_where_those_of_torch_are(function: Any) -> None:
    torch = pytest.importorskip("torch")

    def call(t: Any) -> Any:
        x = complex_leaf(t, requires_grad=True)
        out = function(t, x)
        outputs = out if isinstance(out, tuple) else (out,)
        cotangents = [t.ones_like(each) * (2 if each.dtype is t.float64 else 2 + 3j)
                      for each in outputs]  # fmt: skip
        t.autograd.backward(outputs, cotangents, retain_graph=True)
        once = x.grad.clone()
        is_conj = x.grad.is_conj()
        t.autograd.backward(outputs, cotangents)
        return is_conj, once.tolist(), x.grad.tolist(), type(outputs[0].grad_fn).__name__

    assert outcome(call, engine) == outcome(call, torch)


def transformed(t: Any) -> Any:
    x, found = complex_leaf(t), []

    def function(x: Any) -> Any:
        y = x.conj()
        found.append(y.is_conj())
        return y

    t.func.grad(lambda x: function(x).abs().sum())(x)
    out, pull = t.func.vjp(function, x)
    moved = t.func.jvp(function, (x,), (x,))
    mapped = t.vmap(function)(x)
    return [*found, *(seen(each)[0] for each in (out, *pull(x), *moved, mapped))]


def changed_in_a_transform(t: Any) -> Any:
    def function(x: Any) -> Any:
        changed = x * 1
        y = changed.conj()
        changed[0] = 2j
        y[1].mul_(1j)
        return (y * y).real.sum() + (changed * 3j).real.sum()

    return t.func.grad(function)(complex_leaf(t)).resolve_conj().tolist()


def dual(t: Any) -> Any:
    forward, found = t.autograd.forward_ad, []
    x, other = complex_leaf(t), complex_leaf(t).conj()
    with forward.dual_level():
        for primal, tangent in ((x, other), (other, x), (other, other)):
            given = forward.make_dual(primal, tangent)
            for each in (given, given.conj(), given[0], given * 1):
                found += [seen(part)[:2] + seen(part)[-1:] for part in forward.unpack_dual(each)]
        part = forward.make_dual(other.imag, x.imag)
        found += [seen(each)[:4] for each in forward.unpack_dual(part[1:])]
    return found


@pytest.mark.torch
@pytest.mark.parametrize("call", [transformed, changed_in_a_transform, dual])
def test_levels_keep_conjugates(call: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch")
    assert outcome(call, engine) == outcome(call, torch)


def test_a_conjugate_is_of_no_class_of_its_own_to_look_at() -> None:
    y = complex_leaf(engine).conj()
    assert isinstance(y, engine.Tensor)
    assert type(y).__name__ == "Tensor"
    # Loading a user's module, as another test may have done, gives Tensor the module torch.
    assert type(y).__module__ in ("torch", "gradtool.engine._tensor")
    parameter = engine.nn.Parameter(y)
    assert isinstance(parameter, engine.nn.Parameter)
    assert parameter.is_conj()


def test_a_real_tensor_is_its_own_conjugate() -> None:
    x = engine.ones(2)
    assert x.conj() is x
    assert x.conj_physical() is x
    assert x.resolve_conj() is x
    assert x.resolve_neg() is x


@pytest.mark.parametrize("make", [
    lambda t, y: y.clone(), lambda t, y: t.ones_like(y), lambda t, y: y * 2, lambda t, y: abs(y),
])  # fmt: skip
def test_what_is_computed_of_a_conjugate_is_none(make: Callable[[Any, Any], Any]) -> None:
    out = make(engine, complex_leaf(engine).conj())
    assert not out.is_conj()
    assert type(out) is engine.Tensor
