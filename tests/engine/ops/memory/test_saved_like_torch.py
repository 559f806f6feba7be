"""Operations save for backward what PyTorch's save: a later change of it is refused alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import gradtool.engine as engine
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.compare import flatten

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:::torch")]

OF_STEPS = frozenset((
    "adaptive_avg_pool", "avg_pool2d", "avg_pool3d", "batch_norm",
    "batch_norm by running statistics", "bilinear", "cholesky_solve", "chunk", "combinations",
    "complete qr", "conv_tbc", "cross along a dimension", "cross_entropy",
    "cross_entropy by weight", "cross_entropy label_smoothing=0.3", "ctc_loss",
    "einsum ij, jk -> ik", "embedding_bag, weighed", "gather", "index_fill", "index_fill 0-d",
    "index_fill in place", "index_fill with a tensor", "index_put of a mask",
    "index_reduce mean with self", "instance_norm", "interpolate signals", "log_ndtr far out",
    "lstsq", "masked_select", "matmul", "max along an empty row", "max_pool2d", "max_pool3d",
    "max_unpool2d", "mse_loss by weight", "multilabel_soft_margin_loss", "old cholesky",
    "poisson_nll_loss full=True", "polar", "prod", "qr", "quotients of signs",
    "real to an imaginary power", "scaled_dot_product_attention", "scatter_add",
    "scatter_reduce 0-d", "scatter_reduce along the last", "scatter_reduce in place",
    "scatter_reduce mean with self", "scatter_reduce sum with self", "segment_reduce mean",
    "segment_reduce prod", "segment_reduce sum", "segment_reduce with offsets",
    "special.log_ndtr", "split", "triangular_solve", "vander", "vecdot", "x[mask] = number",
))  # fmt: skip
"""Cases in which a library takes several steps, each of which saves what it needs itself."""

CASES = {
    f"{family}: {case.id.partition('(')[0]}": case
    for family, cases in reversed(FAMILIES.items())
    for case in reversed(cases)
}
"""The first of each name."""
CHANGED = "one of the variables needed for gradient computation has been modified"


def is_compared(name: str) -> bool:
    """Return True for cases in which both libraries take one step, of some elements."""
    return name.partition(": ")[2] not in OF_STEPS and not name.endswith("of nothing")


@pytest.mark.parametrize("name", [*filter(is_compared, CASES)])
def test_changes_are_refused_where_torch_refuses_them(name: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    case = CASES[name]
    rng = case.generator()
    arrays = [arg.draw(rng) for arg in case.args]
    ours, theirs = (dict(refusals(t, case, arrays)) for t in (engine, torch))
    assert ours == theirs


def refusals(t: Any, case: OpCase, arrays: list[Any]) -> Iterator[tuple[tuple[int, str], bool]]:
    """Yield, by the input that requires a gradient and by what is changed, whether it is refused.

    All inputs require one where that is numbered -1.
    """
    floating = [at for at, array in enumerate(arrays) if array.dtype.kind in "fc"]
    for needed in (*floating, -1) if len(floating) > 1 else floating:
        for changed in (*[f"input {at}" for at in range(len(arrays))], "output"):
            yield (needed, changed), is_refused(t, case, arrays, needed, changed)


def is_refused(t: Any, case: OpCase, arrays: list[Any], needed: int, changed: str) -> bool:
    """Change a tensor in place before backward, by nothing, and return whether that fails."""
    inputs = [t.tensor(array) for array in arrays]
    for at, each in enumerate(inputs):
        if needed in (at, -1) and (each.is_floating_point() or each.is_complex()):
            inputs[at] = each.requires_grad_().clone()
    outputs = flatten(case.call(t, *inputs))
    roots = [each for each in outputs if getattr(each, "requires_grad", False)]
    if not roots:
        return False
    cotangents = [t.ones_like(each) for each in roots]
    target = roots[0] if changed == "output" else inputs[int(changed.split()[1])]
    if 0 in target.stride():  # expanded, which cannot be written to
        return False
    with t.no_grad():
        target.copy_(target.clone())
    try:
        t.autograd.backward(roots, cotangents)
    except RuntimeError as error:
        return CHANGED in str(error)
    return False
