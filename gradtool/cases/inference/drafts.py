"""Drafts: a value for each parameter, as a configuration writes it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradtool.adapters.library import library
from gradtool.cases.inference.candidates import Parameters
from gradtool.cases.inference.clues import Clues
from gradtool.config.schema import CaseConfig
from gradtool.config.tensor_spec import is_tensor

Draft = tuple[Any, ...]

_LARGEST = 8
"""Extent beyond which tensors of calls are made smaller, if the Function accepts that."""

_SMALL = (6, 5, 4, 7, 3, 8)
"""Extents in place of larger ones, a different one for each."""

_SCALES = ((2, 0), (1, 1), (1, -1))
"""Factors and terms for the extents of another draft, those first that keep ratios."""

_FEW = 60
"""Entries that are checked in no time."""


def case_of(parameters: Parameters, draft: Draft, name: str) -> CaseConfig:
    """The case that a draft is."""
    named = [parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters]
    pairs = list(zip(parameters, draft, named, strict=True))
    return CaseConfig(
        args=tuple(value for _, value, by_name in pairs if not by_name),
        kwargs={parameter.name: value for parameter, value, by_name in pairs if by_name},
        name=name,
    )


def settled(parameters: Parameters, clues: Clues, draft: Draft) -> Draft:
    """Ask for no gradient of tensors that backward returns None for, unless a call does.

    Of those, one that is named as the adjoint or the inverse of another is made from it.
    """
    values = [
        {**value, "requires_grad": False}
        if parameter.name in clues.undifferentiated and _is_open(value)
        else value
        for parameter, value in zip(parameters, draft, strict=True)
    ]
    for matrix, adjoint in adjoint_pairs(parameters, clues):
        if is_floating(values[matrix]) and is_floating(values[adjoint]):
            values[matrix], values[adjoint] = _with_adjoint(values[matrix])
    for at, inverse in inverse_pairs(parameters, clues):
        if count := _permuted(values, at):
            values[at], values[inverse] = permutation(count), inverse_permutation(count)
    return tuple(values)


_ADJOINT = re.compile(r"(.+)_(adjoint|adj|h|transposed?|t)", re.IGNORECASE)
"""Matches the name of the adjoint of a matrix, which is another argument."""


def adjoint_pairs(parameters: Parameters, clues: Clues) -> list[tuple[int, int]]:
    """List the positions of matrices and of their adjoints, none of which gets a gradient."""
    names = [each.name if each.name in clues.undifferentiated else "" for each in parameters]
    found = [(at, _ADJOINT.fullmatch(name)) for at, name in enumerate(names)]
    return [(names.index(of[1]), at) for at, of in found if of and of[1] in names]


def _with_adjoint(matrix: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A matrix with entries that are listed, and its adjoint; the matrix alone may be oblong."""
    rows, columns = shape_of(matrix)[-2:] if len(shape_of(matrix)) > 1 else (3, 4)
    entries = np.round(np.sin(1.0 + 2.0 * np.arange(rows * columns)), 3).reshape(rows, columns)
    return (
        {"values": entries.tolist(), "requires_grad": False},
        {"values": entries.T.tolist(), "requires_grad": False},
    )


_INVERSE = re.compile(
    r"(?:inverse|inv|reverse|rev)_(?P<behind>.+)|(?P<before>.+)_(?:inverse|inv|reverse|rev)"
)
"""Matches the name of the inverse of a permutation, which is another argument."""


def inverse_pairs(parameters: Parameters, clues: Clues) -> list[tuple[int, int]]:
    """List the positions of permutations and of their inverses, none of which gets a gradient."""
    names = [each.name if each.name in clues.undifferentiated else "" for each in parameters]
    found = [(at, _INVERSE.fullmatch(name)) for at, name in enumerate(names)]
    of = [(at, each["behind"] or each["before"]) for at, each in found if each]
    return [(names.index(name), at) for at, name in of if name in names]


def _permuted(values: Sequence[Any], position: int) -> int | None:
    """The number of entries that a permutation at a position arranges; None if it is none."""
    own = shape_of(values[position]) if is_tensor(values[position]) else []
    if len(own) != 1 or is_floating(values[position]):
        return None
    arranged = next((shape_of(each) for each in values if is_floating(each)), [])
    return own[0] if own[0] in arranged or not arranged else arranged[0]


def _is_open(value: Any) -> bool:
    """Return True for a floating tensor of which nothing says if it gets a gradient."""
    return is_floating(value) and "requires_grad" not in value


def places(count: int) -> dict[str, Any]:
    """An index tensor whose entries differ."""
    return {"dtype": "int64", "values": list(range(count))[::-1]}


def permutation(count: int) -> dict[str, Any]:
    """An index tensor with each entry once, which is not its own inverse."""
    return {"dtype": "int64", "values": [*range(1, count), 0]}


def inverse_permutation(count: int) -> dict[str, Any]:
    """The index tensor that undoes `permutation`."""
    return {"dtype": "int64", "values": [count - 1, *range(count - 1)]}


def is_floating(value: Any) -> bool:
    """Return True for a value that stands for a floating or complex tensor."""
    if not is_tensor(value):
        return False
    if "values" in value:
        return np.asarray(value["values"]).dtype.kind == "f"
    return str(value.get("dtype", "float64"))[0] in "fc"


def asks(value: Any) -> bool:
    """Return True for a floating tensor, outside of any list, that asks for a gradient."""
    return is_floating(value) and value.get("requires_grad") is not False


def as_written(value: Any) -> Any:
    """Write a value that code passes as a configuration does; an object stands for itself."""
    if isinstance(value, library().Tensor):
        return _tensor_as_written(value)
    if isinstance(value, list) and any(isinstance(each, library().Tensor) for each in value):
        return [as_written(each) for each in value]
    if value is None or type(value) in {bool, int, float, str}:
        return value
    return {"literal": value}


def _tensor_as_written(tensor: Any) -> dict[str, Any]:
    if not (tensor.is_floating_point() or tensor.is_complex()):
        if not tensor.numel():
            return {"shape": list(tensor.shape), "dtype": "int64"}
        return {"values": tensor.tolist()}
    spec: dict[str, Any] = {"shape": list(tensor.shape)}
    if tensor.requires_grad:
        spec["requires_grad"] = True
    if tensor.is_complex():
        return {**spec, "dtype": "complex128"}
    return {**spec, **_range(tensor)}


def _range(tensor: Any) -> dict[str, float]:
    """The range of values where none is negative, as of ``torch.rand``, or of an initial value."""
    values = library().array(tensor.detach())
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if not 0 <= low <= high < float("inf") or not high:
        return {}
    # Away from 0, where a logarithm or a root has no derivative; a constant gets some room.
    least = max(low, high / 20) if low < high else 0.7 * high
    return {"low": float(f"{least:.3g}"), "high": float(f"{high:.3g}")}


def shape_of(spec: Mapping[str, Any]) -> list[int]:
    """The extents of the tensor that a value stands for."""
    return list(spec["shape"]) if "shape" in spec else list(np.shape(spec["values"]))


def reshaped(spec: Mapping[str, Any], shape: list[int]) -> dict[str, Any]:
    """The tensor with another shape; its entries are drawn if they were listed."""
    rest = {key: each for key, each in spec.items() if key not in {"values", "shape"}}
    if "values" in spec and not is_floating(spec):
        rest = {"dtype": "int64", "low": 0, "high": 2, **rest}
    return {"shape": shape, **rest}


def smaller(draft: Draft) -> Draft:
    """Replace large extents by small ones, equal extents by equal ones."""
    large = dict.fromkeys(
        extent
        for each in draft
        if is_tensor(each)
        for extent in shape_of(each)
        if extent > _LARGEST
    )
    small = dict(zip(large, _SMALL * len(large), strict=False))
    return tuple(_mapped(value, small) for value in draft)


def others(draft: Draft) -> list[Draft]:
    """List the draft with other extents: small ones first, and others by their size."""
    extents = [extent for extent in _extents(draft) if extent > 1]
    changes = [{n: max(2, n * factor + term) for n in extents} for factor, term in _SCALES]
    changes += [{extent: extent + 1} for extent in extents]
    drafts = [tuple(_mapped(value, change) for value in draft) for change in changes]
    return sorted(
        (each for each in drafts if not is_same(each, draft)), key=lambda d: max(_FEW, entries(d))
    )


def is_same(one: Any, other: Any) -> bool:
    """Return True for equal values of one type; objects that cannot be compared are not."""
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:  # An `__eq__` of the package may raise whatever it likes.
        return one is other


def entries(draft: Draft) -> int:
    """The number of entries of the floating tensors."""
    return sum(math.prod(shape_of(each)) for each in draft if is_floating(each))


def _extents(draft: Draft) -> dict[int, None]:
    return dict.fromkeys(n for each in draft if is_tensor(each) for n in shape_of(each))


def _mapped(value: Any, extents: Mapping[int, int]) -> Any:
    if isinstance(value, list):
        return [_mapped(each, extents) if is_tensor(each) else each for each in value]
    if not is_tensor(value):
        return value
    if "values" in value:
        return _arranging(value, extents)
    return {**value, "shape": [extents.get(extent, extent) for extent in value["shape"]]}


def _arranging(value: dict[str, Any], extents: Mapping[int, int]) -> dict[str, Any]:
    """The tensor with listed values; one that arranges the entries of an axis has all of them."""
    count = math.prod(shape_of(value))
    for make in (permutation, inverse_permutation, places):
        if count in extents and value == make(count):
            return make(extents[count])
    return value
