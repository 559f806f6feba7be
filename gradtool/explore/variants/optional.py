"""Variants that give a tensor which the case leaves out, or leave out one that it gives.

Where forward takes something else for a missing tensor, as in ``h = zeros(...) if h0 is None else
h0``, that shows the shape of the tensor. Otherwise the shapes of the other arguments are tried.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any

import numpy as np
from msgspec import structs

from gradtool.adapters.common.executable_lines import tracing
from gradtool.adapters.common.parsed_source import forward_of
from gradtool.adapters.library import library
from gradtool.cases.inference.bounds import side
from gradtool.collect.checkable import Checkable
from gradtool.explore.excuses import outputs_at
from gradtool.explore.point import Point, Variant, with_value
from gradtool.explore.reading.comparisons import compared_with_none, tested_for_none
from gradtool.explore.reading.documented_shapes import shapes_of
from gradtool.explore.reading.names import (
    is_initial_state,
    is_learned,
    is_length,
    is_mask,
    is_optional_tensor,
    is_position,
    is_state,
    is_statistic,
)
from gradtool.explore.reading.source import trees
from gradtool.explore.reading.tensor_uses import is_used_as_mask, is_used_as_tensor
from gradtool.explore.reading.wording import wording
from gradtool.explore.variants.plain import Options, is_choice, is_kept, plain, with_defaults
from gradtool.verify.protocol.observation import Array

Shape = tuple[int, ...]

_MOST_SHAPES = 3
"""Shapes of several tensors at once."""


def optional(checkable: Checkable, point: Point, points: Sequence[Point]) -> Iterator[Variant]:
    """Yield variants in which an optional tensor is given or left out.

    Args:
        checkable: The Function.
        point: The arguments of the case.
        points: Those of all cases: where one of them gives a tensor, no other is made up.
    """
    parameters = checkable.parameters()
    given = {at.names[each] for at in points for each in at.tensors}
    given_none = {n for at in points for n, v in zip(at.names, at.values, strict=True) if v is None}
    full = with_defaults(point, parameters)
    defaults = {p.name: p.default for p in parameters}
    yield from _not_passed(point, parameters, given_none)
    missing = [
        at for at, value in enumerate(full.values) if value is None and full.names[at] not in given
    ]
    yield from _several_given(checkable, full, missing)
    said = wording(checkable.obj)
    taken = _taken_instead(checkable, full) if missing else {}
    instead = {
        name: each
        for name, each in taken.items()
        if not (_is_number(each) and said.is_scalar_tensor(name))
    }
    may_be_none = {name for name, default in defaults.items() if default is None}
    may_be_none |= tested_for_none(checkable.obj)
    for at, name in enumerate(full.names):
        if at in full.tensors and name in may_be_none:
            rest = tuple(each for each in full.tensors if each != at)
            without = full.having({at: None})
            without = structs.replace(without, tensors=rest, tracked=full.tracked - {at})
            yield Variant(without, f"`{name}` is omitted", may_raise=False)
        elif at in missing and is_position(name):
            yield from _positions(full, at)
        elif at in missing and len(missing) == 1 and said.speaks_of_integer_or_none:
            continue  # Any integer may mean something else, as an index of padding does.
        elif at in missing and _is_mask(checkable.obj, name):
            yield from _masks(full, at, shapes_of(said.docstrings, name, full))
        elif at in missing and _is_number(instead.get(name)):
            yield from _other_number(full, at, instead[name])
        elif at in missing and is_length(name):
            yield from _lengths(full, at)
        elif at in missing:
            yield from _given(checkable, full, at, instead.get(name))
            if instead.get(name) is None and not is_used_as_tensor(checkable, name):
                yield from _numbers(full, at)


def _is_mask(function: Any, name: str) -> bool:
    is_called_mask = is_mask(name) or wording(function).is_called_mask(name)
    return is_called_mask or is_used_as_mask(function, name)


def with_choices(
    point: Point,
    given: Iterable[Variant],
    parameters: Sequence[inspect.Parameter],
    known: Options,
) -> Iterator[Variant]:
    """Yield variants of an optional tensor together with each flag and word among the options."""
    for variant in given:
        if len(variant.point.tensors) == len(point.tensors):
            continue
        for option in plain(variant.point, parameters, known):
            if is_choice(variant.point, option):
                change = f"{variant.change}, and {option.change}"
                yield structs.replace(
                    option,
                    change=change,
                    is_plain=False,
                    options=(),
                    may_lack=variant.may_lack,
                )


def _other_number(point: Point, at: int, instead: float) -> Iterator[Variant]:
    """Variants that give another number than the one that forward takes instead of None."""
    if is_kept(point.names[at], None):
        return
    is_whole = isinstance(instead, int)
    for value in _beside(instead) if is_whole else (0.7 * instead or 0.3,):
        yield with_value(point, at, value, may_raise=is_whole)


def _numbers(point: Point, at: int) -> Iterator[Variant]:
    """Variants that give a number where nothing stands for None: a bound beyond all values."""
    name = point.names[at]
    if is_kept(name, None):
        return
    entries = [array.real for _, array in point.continuous() if array.size]
    within = side(name)
    if within and entries:
        beyond = max(each.max() for each in entries) + 0.5
        beyond = beyond if within[1] > 0.5 else min(each.min() for each in entries) - 0.5
        numbers = [round(float(beyond), 1)]
    else:
        numbers = [0.7, 2.0]
    for value in numbers:
        yield with_value(point, at, value)


def _positions(point: Point, at: int) -> Iterator[Variant]:
    """Variants that give a position which is among those of an integer tensor."""
    for _, array in point.arrays():
        if array.dtype.kind in "iu" and array.size:
            yield with_value(point, at, int(array.flat[0]))


def _beside(number: float) -> list[float]:
    """Numbers other than one that forward takes by itself: a larger one, and all smaller ones."""
    smaller = [number - 1, 1] if number > 1 else []
    return list(dict.fromkeys((number + 1, *smaller)))


def _not_passed(
    point: Point, parameters: Sequence[inspect.Parameter], given_none: Collection[str]
) -> Iterator[Variant]:
    """The call without its last arguments, as far as these are optional tensors or defaults."""
    given = parameters[: point.positional]
    if any(each.kind is each.VAR_POSITIONAL for each in given):
        return
    number = len(given)
    while number and _may_be_left(given[number - 1], point, number - 1):
        number -= 1
    if number == point.positional or point.positional < len(point.values):
        return
    tensors = tuple(at for at in point.tensors if at < number)
    if not point.tracked & set(tensors):
        return
    fewer = structs.replace(
        point,
        names=point.names[:number],
        values=point.values[:number],
        tensors=tensors,
        tracked=point.tracked & set(tensors),
        positional=number,
    )
    names = " and ".join(f"`{each}`" for each in point.names[number:])
    verb = "is" if point.positional - number == 1 else "are"
    # Cases that pass None may know that backward counts the arguments.
    may_raise = all(at < number or point.names[at] in given_none for at in point.tensors)
    yield Variant(fewer, f"{names} {verb} not passed", may_raise=may_raise)


def _may_be_left(parameter: inspect.Parameter, point: Point, at: int) -> bool:
    value, default = point.values[at], parameter.default
    if at in point.tensors:
        return default is None
    return value is default or (type(value) is type(default) and bool(value == default))


def _masks(point: Point, at: int, stated: Sequence[Shape]) -> Iterator[Variant]:
    """Variants that give a mask of one of the tensors, which leaves out some entries.

    Of the shapes that are stated, if there are any.
    """
    for shape in stated or _shapes(point):
        kept = np.arange(int(np.prod(shape))).reshape(shape) % 3 != 1
        yield _with_tensor(point, at, kept)


def _lengths(point: Point, at: int) -> Iterator[Variant]:
    """Variants that give lengths, all but the first shorter than the second axis of a tensor."""
    for _, array in point.continuous():
        if array.ndim > 1:
            lengths = np.maximum(array.shape[1] - np.arange(array.shape[0]), 1)
            yield _with_tensor(point, at, lengths)


def _with_tensor(point: Point, at: int, array: Array) -> Variant:
    change = f"`{point.names[at]}` is a tensor of shape {list(array.shape)}"
    tensors = tuple(sorted({*point.tensors, at}))
    return Variant(structs.replace(point.having({at: array}), tensors=tensors), change)


def _given(checkable: Checkable, point: Point, at: int, instead: Any) -> Iterator[Variant]:
    """Variants that give the tensor: one that takes a gradient and, as it may have none, one not.

    Nobody asked for the gradient of a tensor that no case gives, so that none is no mistake.
    """
    name, is_wanted = point.names[at], _has_gradient(checkable, point.names[at])
    for shape, dtype in _kinds(checkable, point, name, instead):
        drawn = np.linspace(0.4, 1.3, int(np.prod(shape))).reshape(shape).astype(dtype)
        given = _with_tensor(point, at, drawn)
        wanted = structs.replace(given.point, tracked=point.tracked | {at})
        may_lack = None if is_wanted else at
        yield Variant(wanted, given.change, may_lack=may_lack)
        yield structs.replace(given, change=f"{given.change} without a gradient")


def _has_gradient(checkable: Checkable, name: str) -> bool:
    """Return True for what is learned or continues a sequence, by its name or a docstring."""
    said = wording(checkable.obj)
    if said.is_learned(name) or said.is_initial_state(name) or said.continues_sequence(name):
        return True
    is_start = is_initial_state(name) and not said.is_guess(name)
    is_named = is_learned(name) or is_start or said.is_scalar_tensor(name)
    return is_named and not said.is_constant(name)


def _may_be_tensor(checkable: Checkable, name: str) -> bool:
    is_named_so = is_optional_tensor(name) or is_statistic(name)
    return is_named_so or is_used_as_tensor(checkable, name)


def _several_given(checkable: Checkable, point: Point, missing: Sequence[int]) -> Iterator[Variant]:
    """Variants that give all tensors of one shape at once, without gradients, as statistics."""
    said = wording(checkable.obj)
    named = [(at, point.names[at]) for at in missing]
    chosen = [at for at, n in named if _may_be_tensor(checkable, n) and not said.is_scalar(n)]
    dtypes = [array.dtype for _, array in point.continuous()]
    for shape in _shapes(point)[:_MOST_SHAPES] if len(chosen) > 1 else ():
        count = int(np.prod(shape))
        made = {
            at: np.linspace(0.5 + 0.1 * turn, 1.3, count).reshape(shape).astype(dtypes[0])
            for turn, at in enumerate(chosen)
        }
        tensors = tuple(sorted({*point.tensors, *chosen}))
        names = " and ".join(f"`{point.names[at]}`" for at in chosen)
        change = f"{names} are tensors of shape {list(shape)}"
        yield Variant(structs.replace(point.having(made), tensors=tensors), change)


def _kinds(checkable: Checkable, point: Point, name: str, instead: Any) -> list[tuple[Shape, Any]]:
    """Shapes and dtypes that the tensor may have."""
    models, said = [array for _, array in point.continuous()], wording(checkable.obj)
    is_array = isinstance(instead, np.ndarray)
    first = [(instead.shape, instead.dtype)] if is_array and instead.dtype.kind == "f" else []
    if first and instead.size > 1 and name in _replaced(checkable.obj):
        return first  # Any other shape is one that broadcasting lets pass.
    if models and said.is_scalar(name) and not _is_number(instead):
        return [((), models[0].dtype)]
    if not (instead is None or first) or not models or not _may_be_tensor(checkable, name):
        return first  # A number that forward takes instead stands for a number.
    stated = shapes_of(said.docstrings, name, point)[:1]
    if stated:
        return [*dict.fromkeys([*first, (stated[0], models[0].dtype)])]
    shapes = [*(_returned(checkable, point) if is_state(name) else ()), *_shapes(point)]
    return [*dict.fromkeys([*first, *((shape, models[0].dtype) for shape in shapes)])]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _returned(checkable: Checkable, point: Point) -> list[Shape]:
    """Shapes of the outputs: what forward returns may be the state that the next call takes."""
    try:
        outputs = outputs_at(checkable, point)
    except Exception:  # The user's forward may raise anything.
        return []
    return [output.shape for output in reversed(outputs) if output is not None]


def _shapes(point: Point) -> list[Shape]:
    """Shapes that another tensor may have: those of the given ones, or of a part of them."""
    models = [array.shape for _, array in point.continuous()][:2]
    shapes = [s for m in models for s in (m[-1:], m[:1], m)]
    shapes += [m[-2:-1] * 2 for m in models if len(m) > 1]  # As of positions.
    indices = [m.shape for _, m in point.arrays() if m.dtype.kind in "iu"]
    shapes += [shape for index in indices for shape in (index, index[-1:])]
    for m in models:
        # As of one step of a sequence.
        shapes += [(*m[:axis], *m[axis + 1 :]) for axis in reversed(range(len(m)))]
        shapes += [(*m[:axis], 1, *m[axis + 1 :]) for axis in reversed(range(len(m)))]
    return [*dict.fromkeys(shapes)]


# ---- what forward takes instead ---------------------------------------------------------------


def _taken_instead(checkable: Checkable, point: Point) -> dict[str, Any]:
    """The array or number that forward takes for each argument that is None, by its name."""
    targets = _targets(checkable.obj)
    method = inspect.unwrap(forward_of(checkable.obj))
    code = getattr(method, "__code__", None)
    if not targets or code is None:
        return {}
    args, kwargs = point.call()
    run = getattr(checkable.obj, "apply", checkable.obj)
    # The user's forward may raise anything, and what it assigned before counts.
    with suppress(Exception):
        seen = _locals_of(code, set(targets.values()), lambda: run(*args, **kwargs))
        return {name: seen[target] for name, target in targets.items() if target in seen}
    return {}


def _targets(function: Any) -> Mapping[str, str]:
    """For each argument that may be None the variable that has its value or another one.

    It may be an attribute, as ``ctx.scale``.
    """
    found: dict[str, str] = {}
    for tree in trees(forward_of(function)):
        for node in _single_assignments(tree):
            match node:
                case ast.Assign(
                    targets=[ast.Name() | ast.Attribute(value=ast.Name()) as target],
                    value=ast.IfExp(test=test),
                ):
                    found |= dict.fromkeys(compared_with_none(test), ast.unparse(target))
                case ast.Assign(
                    targets=[ast.Name(id=target)],
                    value=ast.BoolOp(op=ast.Or(), values=[ast.Name(id=name), *_]),
                ):
                    found[name] = target
                case ast.If(
                    test=ast.Compare(ops=[ast.Is()]) as test,
                    body=[ast.Assign(targets=[ast.Name(id=target)])],
                ):
                    found |= dict.fromkeys(compared_with_none(test), target)
    return found


def _replaced(function: Any) -> set[str]:
    """The arguments that forward replaces by what it takes instead of None, if they are None."""
    found: set[str] = set()
    for tree in trees(forward_of(function)):
        for node in ast.walk(tree):
            match node:
                case ast.IfExp(test=test, body=body, orelse=orelse):
                    either = {each.id for each in (body, orelse) if isinstance(each, ast.Name)}
                    found |= either.intersection(compared_with_none(test))
                case ast.If(test=test, body=[ast.Assign(targets=[ast.Name(id=target)])]):
                    found |= {target}.intersection(compared_with_none(test))
    return found


def _single_assignments(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree, with ``a, b = c, d`` as two assignments."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=False):
                    yield ast.Assign(targets=[target], value=value)
            case _:
                yield node


def _locals_of(code: CodeType, names: set[str], call: Any) -> dict[str, Any]:
    """The first value that is not None of each variable of some code, during a call."""
    found: dict[str, Any] = {}

    def on_line(frame: FrameType, _event: str, _: Any) -> Any:
        for name in names - found.keys():
            variable, *attributes = name.split(".")
            value = frame.f_locals.get(variable)
            for attribute in attributes:
                value = getattr(value, attribute, None)
            if value is not None:
                found[name] = _copied(value)
        return on_line

    def on_call(frame: FrameType, _event: str, _: Any) -> Any:
        return on_line if frame.f_code is code else None

    with tracing(on_call):
        call()
    return found


def _copied(value: Any) -> Any:
    """A tensor as an array, anything else as it is."""
    if isinstance(value, library().Tensor):
        return np.array(library().array(value.detach()))
    return value
