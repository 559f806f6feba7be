"""bfloat16 and the other dtypes that NumPy lacks, next to PyTorch's."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

Call = Callable[..., Any]

UNARY = """
    abs neg exp log1p sin tanh sigmoid square floor round sign erf expm1 relu trunc frac isnan
    signbit
"""
BINARY = """
    add sub mul div pow atan2 maximum minimum fmod remainder eq lt hypot logaddexp copysign
"""
ELEMENTWISE: dict[str, Call] = {
    name: lambda t, x, y, name=name: getattr(t, name)(x) for name in UNARY.split()
} | {name: lambda t, x, y, name=name: getattr(t, name)(x, y) for name in BINARY.split()}
SHAPED: dict[str, Call] = {
    "cat": lambda t, x, y: t.cat([x, y], 1),
    "where": lambda t, x, y: t.where(x > 0, x, y),
    "index": lambda t, x, y: x[[0, 2, 0], 1:],
    "gather": lambda t, x, y: x.gather(1, t.tensor([[0], [1], [2]])),
    "index_add": lambda t, x, y: x.index_add(0, t.tensor([0, 0]), y[:2]),
    "masked_fill": lambda t, x, y: x.masked_fill(x > 0, 0.1),
    "sort": lambda t, x, y: x.sort(1)[0],
    "clamp": lambda t, x, y: x.clamp(-1, 0.3),
    "a number": lambda t, x, y: (x * 0.3, x + 0.3, 0.3 / y, x**2),
    "in place": lambda t, x, y: x.clone().add_(y).mul_(0.3),
    "item assigned": lambda t, x, y: x.clone().index_fill_(0, t.tensor([1]), 0.1),
}
COMPUTED: dict[str, Call] = {
    "sum": lambda t, x, y: (x.sum(), x.sum(0), x.mean(1), x.var(), x.norm()),
    "long sum": lambda t, x, y: t.full((1000,), 0.1, dtype=x.dtype).sum(),
    "cumsum": lambda t, x, y: x.cumsum(1),
    "max": lambda t, x, y: x.max(1)[0],
    "softmax": lambda t, x, y: (x.softmax(1), x.log_softmax(0)),
    "softmax in single": lambda t, x, y: x.softmax(1, dtype=t.float32),
    "matmul": lambda t, x, y: (x @ y.t(), t.mv(x, y[0]), t.einsum("ij,kj->ik", x, y)),
    "gelu": lambda t, x, y: t.nn.functional.gelu(x),
    "silu": lambda t, x, y: t.nn.functional.silu(x),
    "layer_norm": lambda t, x, y: t.nn.functional.layer_norm(x, (4,)),
    "cross_entropy": lambda t, x, y: t.nn.functional.cross_entropy(x, t.tensor([0, 1, 2])),
    "conv1d": lambda t, x, y: t.nn.functional.conv1d(x[None], y[:, None].expand(3, 3, 4)[..., :2]),
    "beside float32": lambda t, x, y: x * t.ones(4),
    "beside a 0-d float32": lambda t, x, y: x * t.tensor(0.3),
    "beside integers": lambda t, x, y: x + t.arange(4),
    "through float32": lambda t, x, y: (x.float() * 3).to(x.dtype),
}
EVERY = ELEMENTWISE | SHAPED | COMPUTED


def outcome(t: Any, call: Call, dtype: str) -> list[Any]:
    """Values and gradients, with the dtype of each."""
    made = (np.arange(12.0).reshape(3, 4) * 0.37 - 1.9, np.arange(12.0)[::-1].reshape(3, 4) + 0.3)
    pair = [t.tensor(each, dtype=getattr(t, dtype), requires_grad=True) for each in made]
    result = call(t, *pair)
    outs = list(result) if isinstance(result, tuple) else [result]
    graded = [each for each in outs if each.requires_grad]
    found = (
        t.autograd.grad([each.sum() for each in graded], pair, allow_unused=True) if graded else ()
    )
    return [
        None if each is None else (str(each.dtype), each.detach().double().numpy())
        for each in (*outs, *found)
    ]


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", EVERY)
def test_two_bytes_compute_as_in_torch(name: str, dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    ours, theirs = (outcome(t, EVERY[name], dtype) for t in (engine, torch))
    for one, other in zip(ours, theirs, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one[0] == other[0]
            step = 2.0**-7 if dtype == "bfloat16" else 2.0**-9
            np.testing.assert_allclose(one[1], other[1], rtol=step, atol=3 * step)


@pytest.mark.torch
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_elementwise_result_is_rounded_once(name: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    numbers = np.linspace(-2, 2, 41), np.linspace(0.3, 3, 41)
    ours, theirs = (
        ELEMENTWISE[name](t, *[t.tensor(each, dtype=t.bfloat16) for each in numbers])
        for t in (engine, torch)
    )
    one, other = ours.double().numpy(), theirs.double().numpy()
    assert np.mean(one == other) + np.mean(np.isnan(other)) > 0.97


NAMES = "bool uint8 int8 int64 float16 bfloat16 float32 float64 complex64 complex128".split()  # noqa: SIM905


@pytest.mark.torch
def test_it_promotes_as_in_torch() -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    for a in ("bfloat16", "uint16", "float8_e4m3fn"):
        for b in NAMES:
            ours, theirs = (promoted(t, a, b) for t in (engine, torch))
            assert ours == theirs, (a, b)


def promoted(t: Any, a: str, b: str) -> str:
    try:
        return str(t.promote_types(getattr(t, a), getattr(t, b)))
    except RuntimeError as error:
        return str(error)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["bfloat16", *(f"float8_{each}" for each in (
    "e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu"))])  # fmt: skip
def test_its_limits_and_roundings_are_those_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert repr(engine.finfo(getattr(engine, name))) == repr(torch.finfo(getattr(torch, name)))
    numbers = np.geomspace(2.0**-9, 200, 300, dtype=np.float32)
    ours, theirs = (
        t.from_numpy(numbers).to(getattr(t, name)).float().numpy() for t in (engine, torch)
    )
    assert ours.tolist() == theirs.tolist()


def test_its_memory_is_seen_copied_and_written() -> None:
    x = engine.tensor([1.0, -1.5], dtype=engine.bfloat16)
    assert x.view(engine.int16).tolist() == [16256, -16448]
    assert repr(x) == "tensor([ 1.0000, -1.5000], dtype=torch.bfloat16)"
    assert x.type() == "torch.BFloat16Tensor"
    assert (x.is_floating_point(), x.itemsize, engine.bfloat16.itemsize) == (True, 2, 2)
    file = io.BytesIO()
    engine.save(x, file)
    file.seek(0)
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), engine.load(file)):
        assert again.dtype is engine.bfloat16
        assert again.tolist() == x.tolist()


def test_numpy_has_no_such_elements() -> None:
    with pytest.raises(TypeError, match="Got unsupported ScalarType BFloat16"):
        engine.ones(2, dtype=engine.bfloat16).numpy()


def test_transforms_take_it() -> None:
    x = engine.tensor([0.5, 1.0], dtype=engine.bfloat16)
    value, tangent = engine.func.jvp(engine.sin, (x,), (engine.ones_like(x),))
    assert (value.dtype, tangent.dtype) == (engine.bfloat16, engine.bfloat16)
    assert engine.vmap(lambda each: each * 2)(x).tolist() == [1, 2]
    assert engine.func.grad(lambda each: (each**3).sum())(x).tolist() == [0.75, 3]


def test_float8_holds_numbers_and_computes_none() -> None:
    x = engine.tensor([1.1, 300.0], dtype=engine.float8_e4m3fn)
    assert x.tolist() == [1.125, 288]
    with pytest.raises(NotImplementedError, match="not implemented for 'Float8_e4m3fn'"):
        x + 1


def test_complex32_is_a_name_alone() -> None:
    assert engine.finfo(engine.complex32).dtype == "float16"
    with pytest.raises(TypeError, match=r"no tensors of torch\.complex32"):
        engine.ones(2).chalf()


def test_it_is_loaded_when_it_is_used() -> None:
    program = (
        "import sys, gradtool.engine as t; t.ones(2) + t.finfo(t.bfloat16).eps; "
        "print('ml_dtypes' in sys.modules); t.ones(2).bfloat16(); print('ml_dtypes' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["False", "True"]
