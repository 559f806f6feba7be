"""Functions take their arguments by torch's names, compared with PyTorch if it is installed."""

from __future__ import annotations

import inspect

import pytest

import gradtool.engine as engine
from gradtool.engine._keywords import aliases_of

CALLS = {
    "sum": lambda t, x, y: t.sum(input=x, dim=0),
    "sum over an axis": lambda t, x, y: t.sum(x, axis=0, keepdims=True),
    "add": lambda t, x, y: t.add(input=x, other=y, alpha=2),
    "add, first by place": lambda t, x, y: t.add(x, other=y),
    "sub": lambda t, x, y: t.sub(input=x, other=2),
    "div": lambda t, x, y: t.div(input=x, other=y, rounding_mode="floor"),
    "pow": lambda t, x, y: t.pow(input=x, exponent=3),
    "matmul": lambda t, x, y: t.matmul(input=x, other=y.t()),
    "mm": lambda t, x, y: t.mm(input=x, mat2=y.t()),
    "addmm": lambda t, x, y: t.addmm(input=x @ y.t(), mat1=x, mat2=y.t(), beta=2, alpha=0.5),
    "where": lambda t, x, y: t.where(condition=x > y, input=x, other=y),
    "where, condition by place": lambda t, x, y: t.where(x > y, input=x, other=0.0),
    "maximum": lambda t, x, y: t.maximum(input=x, other=y),
    "max": lambda t, x, y: t.max(input=x, dim=1, keepdim=True)[0],
    "max of two": lambda t, x, y: t.max(input=x, other=y),
    "clamp": lambda t, x, y: t.clamp(input=x, min=-0.5, max=0.5),
    "exp": lambda t, x, y: t.exp(input=x),
    "eq": lambda t, x, y: t.eq(input=x, other=x),
    "cat": lambda t, x, y: t.cat(tensors=[x, y], dim=1),
    "cat along an axis": lambda t, x, y: t.cat([x, y], axis=0),
    "stack": lambda t, x, y: t.stack(tensors=(x, y), dim=-1),
    "reshape": lambda t, x, y: t.reshape(input=x, shape=(-1,)),
    "permute": lambda t, x, y: t.permute(input=x, dims=(1, 0)),
    "transpose": lambda t, x, y: t.transpose(input=x, dim0=0, dim1=1),
    "swapaxes": lambda t, x, y: t.swapaxes(input=x, axis0=0, axis1=1),
    "unsqueeze": lambda t, x, y: t.unsqueeze(input=x, dim=0),
    "squeeze": lambda t, x, y: t.squeeze(input=x[:1], axis=0),
    "softmax": lambda t, x, y: t.softmax(input=x, dim=-1),
    "cumsum": lambda t, x, y: t.cumsum(input=x, dim=1),
    "sort": lambda t, x, y: t.sort(input=x, dim=0, descending=True)[0],
    "gather": lambda t, x, y: t.gather(input=x, dim=0, index=t.zeros_like(x, dtype=t.int64)),
    "tensor_split": lambda t, x, y: t.tensor_split(input=x, sections=2, dim=1)[1],
    "polygamma": lambda t, x, y: t.polygamma(1, input=x.abs() + 1),
    "isclose": lambda t, x, y: t.isclose(input=x, other=y, rtol=1.0),
    "zeros_like": lambda t, x, y: t.zeros_like(input=x),
    "var": lambda t, x, y: t.var(input=x, dim=0, unbiased=False),
    "atan2": lambda t, x, y: t.atan2(input=x, other=y),
    "hypot": lambda t, x, y: t.hypot(input=x, other=y),
    "masked_fill": lambda t, x, y: t.masked_fill(input=x, mask=x > 0, value=7),
    "flip": lambda t, x, y: t.flip(input=x, dims=[0]),
    "out": lambda t, x, y: t.add(x, y, out=t.empty(3, 4, dtype=t.float64)),
    "out without elements": lambda t, x, y: t.exp(x, out=t.empty(0, dtype=t.float64)),
    "out of a wider dtype": lambda t, x, y: t.gt(x, y, out=t.zeros(3, 4)),
    "out of two": lambda t, x, y: t.max(
        x, 0, out=(t.zeros(4, dtype=t.float64), t.zeros(4, dtype=t.int64))
    )[1],
}


@pytest.mark.torch
@pytest.mark.parametrize("name", CALLS)
def test_arguments_go_by_torchs_names(name):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    results = []
    for t in (engine, torch):
        x = t.linspace(-1, 1, 12, dtype=t.float64).reshape(3, 4)
        found = CALLS[name](t, x, x.flip(1) * 1.5)
        results.append((tuple(found.shape), str(found.dtype), found.flatten().tolist()))
    assert results[0][:2] == results[1][:2]
    assert results[0][2] == pytest.approx(results[1][2], rel=1e-8)


def test_what_is_written_to_out_is_out(torch):
    out = torch.zeros(3)
    part = out[1:]
    result = torch.mul(torch.ones(3), 2, out=out)
    assert result is out
    assert part.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda t: t.add(t.ones(2), t.ones(2), out=t.ones(2, dtype=t.int64)), RuntimeError),
        (lambda t: t.add(t.ones(2).requires_grad_(), 1, out=t.ones(2)), RuntimeError),
        (lambda t: t.add(t.ones(2), 1, out=t.ones(2).requires_grad_()), RuntimeError),
        (lambda t: t.sum(t.ones(2), input=t.ones(2)), TypeError),
        (lambda t: t.exp(t.ones(2), other=t.ones(2)), TypeError),
        (lambda t: t.where(t.ones(2) > 0, t.ones(2)), TypeError),
    ],
)
def test_mistakes(torch, call, error):
    with pytest.raises(error):
        call(torch)


COPIES = (
    "alias_copy",
    "as_strided_copy",
    "detach_copy",
    "diagonal_copy",
    "expand_copy",
    "permute_copy",
    "select_copy",
    "slice_copy",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "view_as_complex_copy",
    "view_as_real_copy",
    "view_copy",
)
"""Copies of views, which take the names of the view's arguments."""

OTHER_NAMES = {
    "as_strided_scatter": "self", "bmm": "out_dtype", "broadcast_to": "self",
    "cholesky_solve": "input1",
    "diag_embed": "diagonal", "dot": "other", "einsum": "equation",
    "index_reduce": "include_input", "isfinite": "tensor", "isin": "e", "isinf": "tensor",
    "isreal": "tensor", "logsumexp": "names", "mm": "out_dtype", "msort": "descending",
    "narrow_copy": "self", "permute": "self", "polar": "ang", "relu": "inplace",
    "topk": "descending", "where": "x", "lu_solve": "b", "stft": "align_to_window", "xlogy": "y",
    "split_with_sizes": "split_size_or_sections", "unsafe_split": "split_size_or_sections",
    "unsafe_split_with_sizes": "split_size_or_sections", "histogram": "min",
    **dict.fromkeys(COPIES, "self"),
}  # fmt: skip
"""Names in PyTorch's list that PyTorch itself does not take; and mixed precision, which we lack."""


@pytest.mark.torch
def test_every_function_takes_torchs_names():
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    listed = torch.overrides.get_testing_overrides()
    options = {"out", "dtype", "layout", "device", "requires_grad"}
    missing = {}
    for name, function in engine._FUNCTIONS.items():
        stated = listed.get(getattr(torch, name, None))
        if stated is None or name in OTHER_NAMES:
            continue
        theirs = {
            each.name
            for each in inspect.signature(stated).parameters.values()
            if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        }
        ours = {*inspect.signature(function).parameters, *aliases_of(function.__wrapped__)}
        if theirs - ours - options:
            missing[name] = theirs - ours - options
    assert not missing


@pytest.mark.torch
def test_methods_take_torchs_name_of_the_other_operand():
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    listed = torch.overrides.get_testing_overrides()
    missing = []
    for name in dir(torch.Tensor):
        stated = callable(getattr(torch, name, None)) and listed.get(getattr(torch, name))
        method = inspect.getattr_static(engine.Tensor, name, None)
        if stated and inspect.isfunction(method) and name not in OTHER_NAMES:
            theirs, ours = (set(inspect.signature(each).parameters) for each in (stated, method))
            missing += [name] * ("other" in theirs - ours)
    assert missing == []
    assert engine.ones(2).add(other=2, alpha=3).tolist() == [7.0, 7.0]
    assert engine.ones(2).sub_(other=engine.ones(2)).tolist() == [0.0, 0.0]


def test_tensors_are_made_on_the_default_device(torch):
    assert str(torch.get_default_device()) == "cpu"
    torch.set_default_device("cpu")
    with torch.device("cpu"):
        assert str(torch.zeros(2).device) == "cpu"
    assert str(torch.tensor(1.0).device) == "cpu"
