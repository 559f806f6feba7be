"""Operator by operator: the bundled engine beside PyTorch, and bare NumPy beside PyTorch."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np
import torch

import gradtool.engine as engine
from tests.benchmarks.operator_cases import OPERATORS, Operator
from tests.benchmarks.pairs import Pair, timed
from tests.benchmarks.table import Table, times

SMALL, LARGE = 1_000, 100_000
ROUNDS = 5
LEAST = 0.004
LIMIT = 3.0
"""The ratio from which the summary names an operator."""
MOST = 1.5
"""NumPy is the limit of an operator that takes less than this many times the bare statement."""

ABOUT = """The columns show the ratio gradtool / PyTorch for inputs of about 1,000 and 100,000
float64 elements that require a gradient: for forward alone, and for forward with the gradients of
all inputs. The last column shows the ratio of a bare NumPy statement to PyTorch's forward pass at
100,000 elements, if a single statement is enough. It shows how much of the engine's time NumPy
alone would account for."""
COLUMNS = (
    "Operator", "10³ forward", "10³ with backward", "10⁵ forward", "10⁵ with backward",
    "NumPy, 10⁵ forward",
)  # fmt: skip
WHY = """At 1,000 elements, most of the time is Python's overhead:
a few microseconds per operation, where PyTorch takes about one, and more for an operator composed
of several operations."""
_VIEW = "a view, which costs only Python's overhead"
_WINDOWS = "windows are laid out for one matrix product"
_PLACED = "the largest element of each window is looked up by its position"
_EXP = "most of the time is NumPy's exp"
_SEVERAL = "several NumPy calls instead of a single loop"
_PLACES = "positions are computed and checked first"
REASONS = {
    "erf": "NumPy has no erf, and SciPy's computes one element at a time",
    "gelu": "computed with erf",
    "cummax(-1)": "finding the positions takes a second accumulation",
    "x[:, ::2]": _VIEW, "reshape": _VIEW, "transpose": _VIEW,
    "conv1d": _WINDOWS, "conv2d": _WINDOWS, "max_pool2d": _PLACED,
    "softmax": _EXP, "log_softmax": _EXP, "logaddexp": _EXP, "cross_entropy": _EXP,
    "softplus": _EXP,
    "layer_norm": _SEVERAL, "group_norm": _SEVERAL, "std(-1)": _SEVERAL, "cdist": _SEVERAL,
    "hardswish": _SEVERAL, "mse_loss": _SEVERAL, "cholesky 5x5": _SEVERAL,
    "smooth_l1_loss": _SEVERAL,
    "gather(0)": _PLACES, "scatter_add(0)": _PLACES, "embedding": _PLACES, "max(-1)": _PLACES,
    "topk(10)": "a partition, a search for the positions, a sort of the result and a gather",
    "median(-1)": "a partition, and a search for the position of the median",
    "lerp": "interpolating from the nearer end takes seven NumPy calls",
    "linalg.qr 5x5": "NumPy decomposes in two steps, each with a LAPACK call for each matrix",
    "pad(reflect)": "each dimension is padded separately",
    "interpolate(bilinear)": "a matrix product for each dimension",
}  # fmt: skip
"""Name of an operator -> the reason where it is not several passes for PyTorch's one."""


def tables() -> Iterable[Table]:
    """One."""
    torch.set_num_threads(1)
    found = [(each.name, *_ratios(each)) for each in OPERATORS]
    rows = [(name, *(times(x) if x else "" for x in ratios)) for name, *ratios in found]
    notes = [_medians(found), _summary(found), f"{WHY} {_small_summary(found)}"]
    yield Table("Operators", ABOUT, COLUMNS, list(rows), notes)


def _medians(found: Iterable[tuple[Any, ...]]) -> str:
    """The median of each column over all operators, and the noise of the machine beside it."""
    _, *columns, _ = zip(*found, strict=True)
    named = zip(COLUMNS[1:-1], map(statistics.median, columns), strict=True)
    medians = ", ".join(f"{name} {times(median)}" for name, median in named)
    return (
        f"The medians of {len(columns[0])} operators are: {medians}. When PyTorch was compared "
        "with itself in the same run, half of the ratios differed from 1 by more than "
        f"{100 * _noise():.0f}%."
    )


def _noise() -> float:
    """The median distance from 1 of the ratio of PyTorch to itself, at both sizes."""
    pairs = [
        (operator, _runs(operator, torch, size)[1])
        for operator in OPERATORS[::8]
        for size in (SMALL, LARGE)
    ]
    return statistics.median(abs(_ratio(operator, run, run) - 1) for operator, run in pairs)


def _summary(found: Iterable[tuple[Any, ...]]) -> str:
    """The operators that are slow for large inputs, with the reasons."""
    slow: list[str] = []
    numpys: list[str] = []
    for name, _, _, forward, backward, bare in found:
        ratio = max(forward, backward)
        if ratio > LIMIT and bare * MOST > ratio:
            numpys.append(name)
        elif ratio > LIMIT:
            slow.append(_with_reason(name))
    return (
        f"At {LARGE:,} elements, these operators take more than {LIMIT:g} times as long as in "
        f"PyTorch: {_listed(slow)}. Where no reason is given, the engine makes several NumPy "
        "calls, each of which passes over all elements, instead of one loop. These others also "
        f"take more than {LIMIT:g} times as long, but are as fast as NumPy allows: "
        f"{_listed(numpys)}."
    )


def _small_summary(found: Iterable[tuple[Any, ...]]) -> str:
    """The operators that are slow for small inputs, with the reasons."""
    columns = [
        _listed(_with_reason(row[0]) for row in found if row[column] > LIMIT) for column in (1, 2)
    ]
    return (
        f"At this size, these operators take more than {LIMIT:g} times as long as in PyTorch. "
        f"Forward: {columns[0]}. With backward: {columns[1]}. Where no reason is given, the cause "
        "is that the engine makes several NumPy calls."
    )


def _with_reason(name: str) -> str:
    return f"{name} ({REASONS[name]})" if name in REASONS else name


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _ratios(operator: Operator) -> list[float]:
    """What the columns hold, 0 for the last where there is no such statement."""
    return [*_beside(operator, SMALL), *_beside(operator, LARGE), _bare(operator)]


def _beside(operator: Operator, size: int) -> list[float]:
    ours, theirs = (_runs(operator, lib, size) for lib in (engine, torch))
    return [_ratio(operator, *sides) for sides in zip(ours, theirs, strict=True)]


def _bare(operator: Operator) -> float:
    if (bare := operator.bare) is None:
        return 0.0
    arrays = operator.inputs(LARGE)
    forward, _ = _runs(operator, torch, LARGE)
    return _ratio(operator, lambda: bare(*arrays), forward)


def _ratio(operator: Operator, ours: Callable[[], Any], theirs: Callable[[], Any]) -> float:
    return timed(Pair(operator.name, ours, theirs), ROUNDS, LEAST).ratio


def _runs(operator: Operator, lib: Any, size: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Forward, and forward and backward, in a library."""
    inputs = [_tensor(lib, array) for array in operator.inputs(size)]
    leaves = [each for each in inputs if each.requires_grad]
    functional: ModuleType = lib.nn.functional

    def forward() -> Any:
        return operator.run(lib, functional, *inputs)

    cotangent = lib.ones_like(forward())
    return forward, lambda: lib.autograd.grad(forward(), leaves, cotangent, allow_unused=True)


def _tensor(lib: Any, array: np.ndarray) -> Any:
    tensor = lib.tensor(array)
    return tensor.requires_grad_() if array.dtype == np.float64 else tensor
