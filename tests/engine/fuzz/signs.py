"""Signs by which a difference is known to have a reason."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.engine.fuzz.compare import Difference, same

NOTHING: frozenset[str] = frozenset()
OF_VALUES = frozenset(("value",))
OF_LAYOUT = frozenset(("stride", "storage_offset", "_base", "is_view", "is_conj", "is_neg"))
"""How a tensor lies in memory, and of what it is a view."""
FROM_LAYOUT = OF_LAYOUT | {"grad_fn", "error"}
"""What follows from that: nodes of changes in place through views, and whether they are refused."""
FROM_TANGENT = frozenset(("tangent", "tangent.dtype", "tangent.shape", "tangent.value"))
FROM_GRAPH = frozenset((
    "value", "grad", "requires_grad", "grad_fn", "is_leaf", "events", "error", "extra", "missing",
))  # fmt: skip
"""What follows from a graph of other nodes."""
FROM_RECORDING = frozenset((
    "requires_grad", "is_leaf", "grad_fn", "retains_grad", "grad", "error", "events",
))  # fmt: skip
"""What follows from whether a tensor is recorded."""

FROM_CHANGE = frozenset((
    "value", "_version", "requires_grad", "is_leaf", "grad_fn", "grad", "error", "events",
))  # fmt: skip
"""What follows from a change in place that reached a tensor, or did not."""

WRITES_INTO = re.compile(r"\] = |\.(masked_|index_)?fill_\(|\.bernoulli_\(")
WRITES = re.compile(r"\w_\(|\] .?= | [-+*/]+= |out=|inplace=True")
CHANGES = re.compile(WRITES.pattern + r"|backward\(|\.data = |zero_grad")
"""What changes memory in place, that of gradients among it."""
ARITHMETIC = re.compile(r"\.(add|sub|mul|div|addcmul|addcdiv|copysign|pow)_\(| [-+*/]= ")
FORWARD = re.compile(r"jvp|jacfwd|hessian|linearize|forward-mode")
NOT_RECORDED = "does not require grad and does not have a grad_fn"
ASKS_FOR_NODES = re.compile(r"^note\(.*(next_functions|\.node\.name\(\))")
ASSERTIONS = re.compile(
    r"INTERNAL ASSERT FAILED|Expected is\w+\(|doesn't correspond to a device"
    r"|Expected a value of type 'Tensor' for argument 'self' but instead found"
)
AN_ASSERTION = "an assertion"
"""What looking at a tensor ends in where PyTorch fails an assertion of its own."""
OF_TRACES = (
    "a leaf Variable", "more than one element of the written-to", "a 0-dim tensor", "treespec",
)  # fmt: skip
OF_A_MASK = re.compile(
    "where expected condition to be a boolean|masked_fill_ only supports"
    "|masked_select: expected BoolTensor"
)
STALE = re.compile(r"is a view|A view was created in")
"""Of a view that cannot be followed."""
STEPS = re.compile(
    r"\b(ceil|floor|round|trunc|frac|sign|signbit|sgn|heaviside|eq|ne|lt|gt|le|ge|any|all"
    r"|logical_\w+?)_?\("
    r"|\b(max|min|amax|amin|median|nanmedian|kthvalue|sort|topk|cummax|cummin|mode)\("
    r"|[!=<>]= |[<>] |//|argm|argsort|nonzero"
)
"""What tells apart numbers that agree but for their last bits."""
ON_ITSELF = re.compile(
    r"\b(t\d+)(\.(add|sub|mul|div|addcmul|addcdiv|copysign|pow)_\([^=]*| [-+*/]+= )\b\1\b"
)
LACKS_TANGENT = re.compile(
    r"Trying to use forward AD with .*(_backward|_out) that does not support it"
)
COMPOSED = re.compile(r"\.(repeat|tile|stack|hstack|vstack|dstack|kron)\(")
"""Operations that take several steps, the last of which is a view."""
_LAST_BITS = 4096


def _besides_packing(events: object) -> list[object]:
    return [each for each in events if each[:1] not in (("pack",), ("unpack",))]  # type: ignore[attr-defined]


def is_of_packing(difference: Difference) -> bool:
    """Whether what was noted is the same but for what was packed and unpacked."""
    return difference.what == "events" and same(
        tuple(_besides_packing(difference.expected)), tuple(_besides_packing(difference.got)), 2e-2
    )


def is_of_inputs(difference: Difference) -> bool:
    """Whether node hooks were given the same but for how many inputs the node has."""
    expected, got = difference.expected, difference.got
    return len(expected) == len(got) and all(
        same(one, other, 2e-2) or _differ_in_count(one, other)
        for one, other in zip(expected, got, strict=True)
    )


def _differ_in_count(one: Any, other: Any) -> bool:
    """Whether the notes of a hook of the same name, of inputs and outputs, differ in the first."""
    if not len(one) == len(other) == 3 or one[0] != other[0] or not same(one[2], other[2], 2e-2):
        return False
    return all(isinstance(each[1], tuple) for each in (one, other)) and len(one[1]) != len(other[1])


def is_of_recording(difference: Difference) -> bool:
    """Whether what was noted is the same but for whether tensors require a gradient."""
    if difference.what != "events":
        return False
    one, other = (_without_recording(each) for each in (difference.expected, difference.got))
    return same(one, other, 2e-2)


def _without_recording(noted: Any) -> Any:
    if isinstance(noted, tuple):
        return tuple(_without_recording(each) for each in noted)
    if isinstance(noted, dict):
        return {fact: what for fact, what in noted.items() if fact != "requires_grad"}
    return noted


def is_of_half_complex(difference: Difference) -> bool:
    """Whether a dtype is one that NumPy has not."""
    if difference.what == "error":
        return "ComplexHalf" in difference.texts[0] or (
            difference.expected is None and "scalar type: Half" in difference.texts[1]
        )
    if difference.what == "events":
        return "complex32" in str(difference.expected)
    return difference.what.endswith("dtype") and str(difference.expected) == "complex32"


def is_of_last_bits(difference: Difference) -> bool:
    """Whether integers are the bits of numbers that agree, singly or two to an integer."""
    one, other = difference.expected, difference.got
    if (np.abs(one.astype(np.int64) - other) <= _LAST_BITS).all():
        return True
    if one.nbytes % 8 == 0 and one.flags.c_contiguous and other.flags.c_contiguous:
        doubles = [each.reshape(-1).view(np.float64) for each in (one, other)]
        scale = np.abs(doubles[0]).max(initial=0)
        # Integers that are no bits of numbers make tiny ones.
        if 1e-100 < scale < np.inf and (np.abs(doubles[0] - doubles[1]) <= 1e-12 * scale).all():
            return True
    halves = [np.ascontiguousarray(each).view(np.int16).astype(int) for each in (one, other)]
    return bool((np.abs(halves[0] - halves[1]) <= 4).all())


def fact_of(difference: Difference) -> str:
    """The fact that differs, of the tensor, its gradient or its tangent."""
    return difference.what.rpartition(".")[2]
