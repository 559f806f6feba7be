"""Other values to put in the place of one that was refused."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from gradtool.adapters.library import library
from gradtool.cases.inference.drafts import Draft, places, shape_of
from gradtool.cases.inference.reading import Reading
from gradtool.cases.inference.stand_ins import matrices
from gradtool.cases.inference.suggestions import is_length, square_matrices, suggested
from gradtool.cases.inference.uses import Use
from gradtool.config.tensor_spec import is_tensor

_POOL = (2, 3, 4, 6, 8, 1)
"""Extents to try beside those that other tensors have."""

_LARGEST = 64
"""Number beyond which an integer is not taken for an extent."""

_SHAPES: tuple[tuple[int, ...], ...] = (
    (3, 4), (4,), (2, 3, 4), (2, 3, 6, 5), (), (2,), (2, 2, 3, 4),
    (2, 3, 4, 5, 2), (3, 3), (2, 3, 3),
)  # fmt: skip

_PLAIN = (2, 1, 0.5, 0, True, False, None, 3, [2, 2], [1, 1], "mean", "sum", "none", -1, 8)


def alternatives(reading: Reading, draft: Draft, at: int) -> Iterator[Any]:
    """Yield other values for one parameter, the likeliest first."""
    within = reading.clues.range_of(reading.parameters[at].name)
    for value in _alternatives(reading, draft, at):
        if within and is_tensor(value) and not {"values", "dtype", "low"} & value.keys():
            yield {**value, "low": within[0], "high": within[1]}
        else:
            yield value


def _alternatives(reading: Reading, draft: Draft, at: int) -> Iterator[Any]:
    parameter, value = reading.parameters[at], draft[at]
    use = reading.uses[parameter.name]
    yield from suggested(reading, parameter)
    if use.is_dtype or use.is_called or parameter.name in reading.clues.uses.tested:
        return
    extents = [extent for each in draft if is_tensor(each) for extent in shape_of(each)]
    if parameter.name in reading.clues.uses.counts:
        yield from dict.fromkeys([*extents, *_POOL])
        return
    if is_length(parameter.name) and is_tensor(value):
        yield from _lengths(reading, draft, at)
    if is_tensor(value):
        yield from _reshaped(draft, at, use)
    if use.matrix:
        for square in ((3, 3), (2, 3, 3)):
            yield from square_matrices(reading, parameter.name, use.matrix, square)
    for shape in _SHAPES:
        yield {"shape": list(shape)}
    counts = [each for each in draft if type(each) is int and 0 < each <= _LARGEST]
    for number in range(2, len(counts) + 1):
        yield {"shape": counts[:number]}
    yield from dict.fromkeys(extents)
    yield from _PLAIN
    if isinstance(value, list):
        yield from _lists(value)
    yield {"shape": [3], "dtype": "int64", "low": 0, "high": 2}
    if not _is_one_tensor(reading.parameters[at]):
        yield [{"shape": [3, 4]}, {"shape": [3, 4]}]
    if not (use.loops or use.looped):
        yield []  # A loop over nothing would show nothing.
    yield list(reversed(extents[:2]))


def _is_one_tensor(parameter: inspect.Parameter) -> bool:
    """Return True for a parameter that is annotated as a tensor, and nothing else."""
    note = parameter.annotation
    return note is library().Tensor or note in ("Tensor", "torch.Tensor")


def _lengths(reading: Reading, draft: Draft, at: int) -> Iterator[dict[str, Any]]:
    """Yield the extents of other tensors as lengths: those first whose tensor the name is of.

    One of them is shorter, so that something is left out.
    """
    name, rank = reading.parameters[at].name, len(shape_of(draft[at]))
    others = [(p.name, shape_of(v)) for p, v in zip(reading.parameters, draft, strict=True)
              if p.name != name and is_tensor(v) and len(shape_of(v)) > 1]  # fmt: skip
    for _, shape in sorted(others, key=lambda each: not name.startswith(each[0].rstrip("s"))):
        kind = {"dtype": draft[at]["dtype"]} if "dtype" in draft[at] else {}
        if rank == 2 and len(shape) > 2:
            yield {"values": _shortened([shape[1:3]] * shape[0]), **kind}
        elif rank < 2:
            for extent in dict.fromkeys(shape[1:]):
                columns = _shortened([[extent]] * shape[0])
                yield {"values": [each for (each,) in columns], **kind}


def _shortened(rows: list[list[int]]) -> list[list[int]]:
    """Rows of which each but the first has numbers that are less by one, but not zero."""
    return [rows[0], *([max(each - 1, 1) for each in row] for row in rows[1:])]


def _reshaped(draft: Draft, at: int, use: Use) -> Iterator[dict[str, Any]]:
    """Yield the tensor with one other extent, one dimension more or less, or another's shape."""
    spec, own = draft[at], shape_of(draft[at])
    others = [shape_of(each) for i, each in enumerate(draft) if i != at and is_tensor(each)]
    pool = list(dict.fromkeys([*(extent for each in others for extent in each), *_POOL]))
    for shape in others:
        yield _with_shape(spec, shape, use)
    for axis in range(len(own)):
        for extent in pool:
            if extent != own[axis]:
                yield _with_shape(spec, [*own[:axis], extent, *own[axis + 1 :]], use)
    if own:
        yield _with_shape(spec, own[1:], use)
        yield _with_shape(spec, own[:-1], use)
    for extent in pool[:4]:
        yield _with_shape(spec, [*own, extent], use)
        yield _with_shape(spec, [extent, *own], use)


def _with_shape(spec: Mapping[str, Any], shape: list[int], use: Use) -> dict[str, Any]:
    if "values" in spec and use.matrix and len(shape) > 1 and shape[-1] == shape[-2]:
        return {"values": matrices(use.matrix, tuple(shape))}
    if "values" in spec and use.places and len(shape) == 1:
        return places(shape[0])
    rest = {k: v for k, v in spec.items() if k not in {"values", "shape"}}
    if "values" in spec and not use.matrix:
        rest.update(dtype="int64", low=0, high=2)
    return {"shape": shape, **rest}


def _lists(value: list[Any]) -> Iterator[list[Any]]:
    """Yield the list with another length, and with other numbers."""
    if all(isinstance(each, int) for each in value):
        for number in (1, 2, 3, 0):
            yield [number] * len(value)
        yield [*value, 1]
        for at in range(len(value)):
            yield [*value[:at], value[at] + 1, *value[at + 1 :]]
    else:
        yield value[:1]
