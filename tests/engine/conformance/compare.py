"""Runs one sample on both sides and lists how the engine's answers differ from PyTorch's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import gradtool.engine as engine
from tests.engine.conformance.translate import Missing, Translator

RTOL = {"float64": 1e-7, "complex128": 1e-7, "float32": 2e-5, "complex64": 2e-5}
SINGLE = ("float32", "complex64")
DERIVED = ("gradient", "second", "forward")
AMPLIFIED = 100
"""Error of a derivative in single precision, in units of a value's; doubles test the formula."""


class Differs(Exception):
    """What the engine does otherwise; the message says it in one line."""


@dataclass
class Side:
    """One of the two libraries at work on a sample."""

    t: Any
    call: Callable[..., Any]
    leaves: list[Any]
    """Floating-point and complex tensors among the arguments, as they are given."""
    arguments: tuple[Any, list[Any], dict[str, Any]]

    def forward(self) -> list[Any]:
        self.t.manual_seed(7)
        value, args, kwargs = self.arguments
        return list(flatten(self.call(value, *args, **kwargs)))


def differences(entry: Any, sample: Any) -> Iterator[str]:
    """Differences of value, first and second gradients and forward mode, first found first."""
    translate = Translator()
    theirs = Side(torch, wrapped(entry, sample), tensors_of(sample), parts(sample))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = attempt(theirs.forward)
        try:
            call = translate(wrapped(entry, sample))
            arguments = tuple(translate(each) for each in theirs.arguments)
            leaves = [translate(each) for each in theirs.leaves]
        except Missing as error:
            yield f"missing: {error}"
            return
        ours = Side(engine, call, leaves, arguments)
        actual = attempt(ours.forward)
        try:
            compare_outcomes("value", actual, expected)
            if isinstance(expected, Exception):
                return
            compare_metadata(actual, expected, theirs.leaves)
        except Differs as error:
            yield str(error)
            return
        for check in (reverse_mode, forward_mode):
            try:
                check(entry, ours, theirs)
            except Differs as error:
                yield str(error)


def wrapped(entry: Any, sample: Any) -> Callable[..., Any]:
    """The operator as the database's gradient checks call it."""
    operator, wrapper, finish = (
        entry.get_op(), entry.gradcheck_wrapper, sample.output_process_fn_grad,
    )  # fmt: skip

    def call(value: Any, *args: Any, **kwargs: Any) -> Any:
        return finish(wrapper(operator, value, *args, **kwargs))

    return call


def parts(sample: Any) -> tuple[Any, list[Any], dict[str, Any]]:
    """Input, arguments and keywords, fresh where the operator changes them in place."""
    return sample.input, list(sample.args), dict(sample.kwargs)


def tensors_of(sample: Any) -> list[Any]:
    found = flatten((sample.input, sample.args, list(sample.kwargs.values())))
    return [each for each in found if isinstance(each, torch.Tensor) and is_continuous(each)]


def is_continuous(tensor: Any) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from flatten(each)
    elif isinstance(value, dict):
        yield from flatten(list(value.values()))
    else:
        yield value


def attempt(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Exception as error:
        return error


def compare_outcomes(what: str, ours: Any, theirs: Any) -> None:
    """Both raise, or both give values that agree."""
    if isinstance(theirs, Exception):
        if not isinstance(ours, Exception) and what == "value":
            raise Differs(f"{what}: PyTorch raises {show(theirs)}; the engine does not")
        return
    if isinstance(ours, Exception):
        raise Differs(f"{what}: raises {show(ours)}")
    if len(ours) != len(theirs):
        raise Differs(f"{what}: {len(ours)} results, not {len(theirs)}")
    for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        compare_values(f"{what} {place}" if len(theirs) > 1 else what, one, other)


def show(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}"


def compare_values(what: str, one: Any, other: Any) -> None:
    if not isinstance(other, torch.Tensor):
        if other is None or isinstance(other, (bool, int, float, complex)):
            if (one is None) != (other is None):
                one_, other_ = (np.zeros(()) if x is None else to_array(x) for x in (one, other))
                if np.any(one_) or np.any(other_):
                    raise Differs(f"{what}: {one} instead of {other}")
            elif other is not None and not same_scalar(one, other):
                raise Differs(f"{what}: {one} instead of {other}")
        return
    if one is None:
        if np.any(to_array(other)):
            raise Differs(f"{what}: None instead of a tensor")
        return
    if not isinstance(one, engine.Tensor):
        raise Differs(f"{what}: {type(one).__name__} instead of a tensor")
    if str(one.dtype) != str(other.dtype):
        raise Differs(f"{what}: dtype {one.dtype} instead of {other.dtype}")
    if tuple(one.shape) != tuple(other.shape):
        raise Differs(f"{what}: shape {tuple(one.shape)} instead of {tuple(other.shape)}")
    compare_arrays(what, to_array(one), to_array(other), str(other.dtype).removeprefix("torch."))


def same_scalar(one: Any, other: Any) -> bool:
    return bool(np.allclose(complex(one), complex(other), rtol=1e-6, equal_nan=True))


def to_array(value: Any) -> np.ndarray[Any, Any]:
    """The values as NumPy has them; bfloat16 as float32."""
    if isinstance(value, (torch.Tensor, engine.Tensor)):
        value = value.detach().resolve_conj().resolve_neg()
        widened = value.float() if str(value.dtype) == "torch.bfloat16" else value
        return np.asarray(widened.numpy(force=True))  # PyTorch has tensors of zeros without memory
    return np.asarray(value)


def compare_arrays(what: str, one: Any, other: Any, dtype: str) -> None:
    """Raise `Differs` where entries are further apart than the dtype's rounding explains."""
    finite = np.isfinite(other)
    if not same_exceptions(one[~finite], other[~finite]):
        raise Differs(f"{what}: other infinities or NaN")
    one, other = one[finite], other[finite]
    if other.dtype.kind not in "fc":
        if not np.array_equal(one, other):
            raise Differs(f"{what}: {np.sum(one != other)} of {one.size} entries differ")
        return
    rtol = RTOL.get(dtype, 2e-2)
    if dtype in SINGLE and what.startswith(DERIVED):
        rtol *= AMPLIFIED
    scale = max(float(np.abs(other).max(initial=0.0)), 1e-3 if rtol < 1e-6 else 1.0)
    excess = np.abs(one - other) - rtol * np.abs(other) - 0.1 * rtol * scale
    if not (excess <= 0).all():
        place = int(np.argmax(np.where(np.isnan(excess), np.inf, excess)))
        raise Differs(f"{what}: {one[place]:.10g} instead of {other[place]:.10g}")


def same_exceptions(one: Any, other: Any) -> bool:
    """Compare infinities and NaN; of complex numbers, only whether there is a NaN."""
    if other.dtype.kind == "c":
        return bool((np.isnan(one) == np.isnan(other)).all())
    return np.array_equal(one, other, equal_nan=other.dtype.kind == "f")


def compare_metadata(ours: list[Any], theirs: list[Any], arguments: list[Any]) -> None:
    """`requires_grad` of each result, and strides of those that view an argument."""
    storages = {each.untyped_storage().data_ptr() for each in arguments}
    for one, other in zip(ours, theirs, strict=True):
        if not isinstance(other, torch.Tensor):
            continue
        if one.requires_grad != other.requires_grad:
            raise Differs(f"requires_grad {one.requires_grad} instead of {other.requires_grad}")
        views = other.numel() and other.untyped_storage().data_ptr() in storages
        if views and strides(one) != strides(other):
            raise Differs(f"stride {strides(one)} instead of {strides(other)}")


def strides(tensor: Any) -> tuple[int, ...]:
    """Strides of the dimensions along which there is something to step over."""
    if 0 in tensor.shape:
        return ()
    return tuple(s for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n != 1)


def reverse_mode(entry: Any, ours: Side, theirs: Side) -> None:
    results = [first_order(side) for side in (ours, theirs)]
    if results[1] is None:
        return
    compare_outcomes("gradient", *[r if isinstance(r, Exception) else r[0] for r in results])
    if not entry.supports_gradgrad or any(isinstance(each, Exception) for each in results):
        return
    second = [
        attempt(lambda side=side, found=found: second_order(side, *found))
        for side, found in zip((ours, theirs), results, strict=True)
    ]
    compare_outcomes("second gradient", *second)


def first_order(side: Side) -> Any:
    """Gradients recorded for another order and their cotangents, an error, or None: no path."""

    def run() -> Any:
        roots = [each for each in side.forward() if requires_grad(each)]
        leaves = [each for each in side.leaves if each.requires_grad]
        if not roots or not leaves:
            return None
        cotangents = [constant_like(side.t, each, 1).requires_grad_() for each in roots]
        found = side.t.autograd.grad(
            roots, leaves, cotangents, create_graph=True, allow_unused=True
        )
        return list(found), cotangents

    return attempt(run)


def second_order(side: Side, gradients: list[Any], cotangents: list[Any]) -> list[Any]:
    roots = [each for each in gradients if each is not None and requires_grad(each)]
    leaves = [each for each in side.leaves if each.requires_grad]
    if not roots:
        return [None] * (len(leaves) + len(cotangents))
    directions = [constant_like(side.t, each, 2) for each in roots]
    return list(side.t.autograd.grad(roots, [*leaves, *cotangents], directions, allow_unused=True))


def requires_grad(value: Any) -> bool:
    return bool(getattr(value, "requires_grad", False))


def constant_like(t: Any, tensor: Any, seed: int) -> Any:
    """Numbers between 0.5 and 1.5 that depend on the shape and the seed alone."""
    rng = np.random.default_rng(seed)
    drawn = rng.uniform(0.5, 1.5, tuple(tensor.shape))
    if tensor.is_complex():
        drawn = drawn + 1j * rng.uniform(-1, 1, tuple(tensor.shape))
    return t.tensor(drawn, dtype=tensor.dtype)


def forward_mode(entry: Any, ours: Side, theirs: Side) -> None:
    if not entry.supports_forward_ad:
        return
    compare_outcomes(
        "forward mode", *[attempt(lambda side=s: tangents(side)) for s in (ours, theirs)]
    )


def tangents(side: Side) -> list[Any]:
    """Tangents of the outputs where every differentiable argument has one."""
    forward_ad = side.t.autograd.forward_ad
    with forward_ad.dual_level():
        duals = {
            id(each): forward_ad.make_dual(each.detach(), constant_like(side.t, each, 3))
            for each in side.leaves
            if each.requires_grad
        }
        if not duals:
            return []
        value, args, kwargs = replaced(side.arguments, duals)
        side.t.manual_seed(7)
        found = list(flatten(side.call(value, *args, **kwargs)))
        return [
            forward_ad.unpack_dual(each).tangent if hasattr(each, "dtype") else None
            for each in found
        ]


def replaced(value: Any, duals: dict[int, Any]) -> Any:
    """The arguments with a dual tensor for each that has one."""
    if isinstance(value, (tuple, list)):
        made = [replaced(each, duals) for each in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, dict):
        return {name: replaced(each, duals) for name, each in value.items()}
    return duals.get(id(value), value)
