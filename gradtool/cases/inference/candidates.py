"""Candidates of a search for arguments: roles and shapes for every required parameter.

Extents are distinct wherever they can be, because a square matrix hides a transposition.
Shapes whose extents differ most come first: ``(3, 4), (5, 4)`` is refused by everything but
``x @ w.T`` and its like, while ``(3, 3), (3, 3)`` is accepted by nearly anything.
"""

from __future__ import annotations

import heapq
import inspect
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from gradtool.cases.inference.clues import Clues
from gradtool.cases.inference.roles import Role, Shape, constant, roles, tensor
from gradtool.config.schema import CaseConfig

Parameters = tuple[inspect.Parameter, ...]
Shapes = tuple[Shape, ...]
Domain = dict[str, float | str]
"""``low`` and ``high`` of the values of tensors, or their dtype; empty for standard normal."""

_COMBINATIONS = 40
"""Ways to assign roles to parameters that are considered."""

_ROLE_COST = 4.0
"""Number of further shapes that are tried with the likeliest roles before less likely ones."""

_FOLLOWER_COST = 0.1
"""The same for a tensor that follows the first one: all its shapes are tried with each."""

_STAR_COST = 8.0
"""The same for another number of arguments for ``*args``."""

_STARRED = (2, 1, 3, 0)
"""Numbers of arguments that ``*args`` may stand for, likeliest first."""

_STARRED_UNUSED = (0, 1, 2)
"""The same where nothing uses them: others may be passed, but none has to."""


class Candidate(msgspec.Struct, frozen=True):
    """One assignment of roles and shapes to parameters."""

    parameters: Parameters
    roles: tuple[Role, ...]
    shapes: Shapes
    is_stated: bool = False
    """A docstring states all of its shapes."""

    @property
    def shows_little(self) -> bool:
        """True for shapes that hide an error, unless those are the ones that are meant."""
        return is_degenerate(self.shapes) and not self.is_stated

    def case(self, name: str, domain: Domain) -> CaseConfig:
        """The case of this candidate, with values of its tensors drawn from `domain`."""
        shapes = iter(self.shapes)
        base = next((shape for shape in self.shapes if shape), ())
        values = [_value(role, shapes, base, domain) for role in self.roles]
        named = [p.kind is inspect.Parameter.KEYWORD_ONLY for p in self.parameters]
        args = tuple(value for value, by_name in zip(values, named, strict=True) if not by_name)
        kwargs = {
            parameter.name: value
            for parameter, value, by_name in zip(self.parameters, values, named, strict=True)
            if by_name
        }
        return CaseConfig(args=args, kwargs=kwargs, name=name)

    def reshaped(self, position: int, shape: Shape) -> Candidate | None:
        """The same with another shape for one argument; None unless its shape was chosen."""
        chosen = [at for at, role in enumerate(self.roles) if role.is_tensor]
        if position not in chosen:
            return None
        shapes = list(self.shapes)
        shapes[chosen.index(position)] = shape
        return replace(self, shapes=tuple(shapes), is_stated=False)

    def extended(self, parameter: inspect.Parameter, role: Role, shape: Shape) -> Candidate:
        """The same with one more argument, given by name."""
        named = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        shapes = (*self.shapes, shape) if role.is_tensor else self.shapes
        return Candidate((*self.parameters, named), (*self.roles, role), shapes)


def _value(role: Role, shapes: Iterator[Shape], base: Shape, domain: Domain) -> Any:
    if role.fill is not None and not role.follows:
        return role.fill(base)
    spec = {"shape": list(next(shapes))} if role.fill is None else role.fill(base)
    if "dtype" in spec:
        return spec
    if role.within is not None:
        domain = {**domain, "low": role.within[0], "high": role.within[1]}
    return {**spec, **domain} if role.gradient else {**spec, **domain, "requires_grad": False}


def candidates(parameters: Parameters, clues: Clues) -> Iterator[Candidate]:
    """Yield candidates for the required `parameters`, likeliest first."""
    streams = [
        _ranked(variant, clues, number * _STAR_COST)
        for number, variant in enumerate(variants(parameters, clues))
    ]
    for _, candidate in heapq.merge(*streams, key=lambda ranked: ranked[0]):
        yield candidate


def variants(parameters: Parameters, clues: Clues) -> Iterator[Parameters]:
    """Yield the required parameters, ``*args`` expanded to each likely number of single ones."""
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    starred = next((p for p in required if p.kind is p.VAR_POSITIONAL), None)
    if starred is None:
        yield tuple(required)
        return
    at = required.index(starred)
    is_unused = len(required) > 1 and starred.name in clues.unnamed
    for count in _STARRED_UNUSED if is_unused else _STARRED:
        single = [
            starred.replace(name=f"{starred.name}_{i}", kind=inspect.Parameter.POSITIONAL_ONLY)
            for i in range(count)
        ]
        yield (*required[:at], *single, *required[at + 1 :])


def _ranked(parameters: Parameters, clues: Clues, cost: float) -> Iterator[tuple[float, Candidate]]:
    """Yield candidates with their cost; an unlikely role costs more than an unlikely shape."""
    choices = [_with_costs(_roles(parameter, clues, parameters)) for parameter in parameters]
    combinations = sorted(
        itertools.islice(itertools.product(*choices), 5000),
        key=lambda combination: sum(more for more, _ in combination),
    )
    streams = [_shaped(parameters, each, clues, cost) for each in combinations[:_COMBINATIONS]]
    yield from heapq.merge(*streams, key=lambda ranked: ranked[0])


def _roles(parameter: inspect.Parameter, clues: Clues, among: Parameters) -> list[Role]:
    """Roles of `parameter`: an only one, or a ``k`` next to a ``q``, is always a tensor."""
    is_key = parameter.name == "k" and any(other.name == "q" for other in among)
    is_tensor = len(among) == 1 or is_key
    return [tensor(clues.range_of(parameter.name))] if is_tensor else roles(parameter, clues)


def _with_costs(found: Sequence[Role]) -> list[tuple[float, Role]]:
    """Pair each role with the cost of trying it after those before it."""
    costs = itertools.accumulate(
        (_FOLLOWER_COST if role.follows else _ROLE_COST for role in found), initial=0.0
    )
    return list(zip(costs, found, strict=False))


def _shaped(
    parameters: Parameters, chosen: Sequence[tuple[float, Role]], clues: Clues, cost: float
) -> Iterator[tuple[float, Candidate]]:
    filled = tuple(role for _, role in chosen)
    names = tuple(p.name for p, role in zip(parameters, filled, strict=True) if role.is_tensor)
    total = cost + sum(more for more, _ in chosen)
    found = schemes(names) if names else []
    stated = None
    if names and all(name in clues.documented for name in names):
        stated = tuple(clues.documented[name] for name in names)
        found = [stated, *(each for each in found if each != stated)]
    for rank, shapes in enumerate(found):
        yield total + rank, Candidate(parameters, filled, shapes, is_stated=shapes == stated)


def with_defaults(base: Candidate, parameters: Parameters) -> Candidate:
    """Extend `base` by the default of every optional parameter."""
    for parameter in parameters:
        if parameter.default is not parameter.empty:
            value = parameter.default
            literal = {"literal": value} if isinstance(value, dict) else value
            base = base.extended(parameter, constant(literal), ())
    return base


def with_optional(
    base: Candidate, output: Shape, optional: Sequence[inspect.Parameter], clues: Clues
) -> list[Candidate]:
    """Extend `base` by a value for each of `optional`, likeliest first."""
    fills = [_optional_fills(base, output, parameter, clues) for parameter in optional]
    combinations = sorted(
        itertools.islice(itertools.product(*map(enumerate, fills)), 5000),
        key=lambda combination: sum(rank for rank, _ in combination),
    )
    return [_extend(base, optional, combination) for combination in combinations]


def _optional_fills(
    base: Candidate, output: Shape, parameter: inspect.Parameter, clues: Clues
) -> list[tuple[Role, Shape]]:
    stated = [clues.documented[parameter.name]] if parameter.name in clues.documented else []
    shapes = list(dict.fromkeys([*stated, *optional_shapes(base.shapes, output)]))
    return [
        (role, shape)
        for role in roles(parameter, clues)
        if role.is_tensor or role.follows
        for shape in (shapes if role.is_tensor else [()])
    ]


def _extend(
    base: Candidate,
    optional: Sequence[inspect.Parameter],
    combination: Sequence[tuple[int, tuple[Role, Shape]]],
) -> Candidate:
    for parameter, (_, (role, shape)) in zip(optional, combination, strict=True):
        base = base.extended(parameter, role, shape)
    return base


_ONE: list[Shapes] = [
    ((3, 4),), ((4,),), ((2, 3, 4),), ((2, 3, 4, 5),), ((4, 6),), ((2, 6, 4),), ((2, 4, 6, 3),),
    ((2, 3, 4, 6),), ((9,),), ((5, 3),), ((5, 2),), ((3, 3),), ((2, 3, 3),), ((),), ((1,),),
]  # fmt: skip

_TWO: list[Shapes] = [
    ((3, 4), (5, 4)),  # x @ w.T, distances between rows
    ((3, 4), (4, 5)),  # a @ b
    ((3, 4), (3, 4)),  # element by element
    ((3, 4), (4,)),  # a row for each, or a vector
    ((3,), (4,)),  # outer product
    ((4,), (4,)),
    ((2, 3, 4), (2, 4, 5)),  # batched product
    ((2, 3, 4), (5, 4)),
    ((2, 3, 4), (3,)),  # one value a channel
    ((2, 3, 8), (4, 3, 3)),  # convolution of signals
    ((2, 3, 6, 5), (4, 3, 3, 2)),  # convolution of images
    ((6, 5), (3, 2)),  # one image, one kernel
    ((8,), (3,)),
    ((2, 3, 8), (3, 4)),  # one kernel a channel
    ((3, 4), (3,)),
    ((3, 4), (3, 1)),
    ((3, 20), (3, 5)),  # four gates and a state
    ((2, 3, 4), (2, 3, 4)),
    ((2, 3, 4, 5), (2, 3, 4, 5)),
    ((2, 3, 4, 5), (3,)),
    ((3, 4), ()),
    ((3, 3), (3, 4)),  # a linear system
    ((3, 3), (3,)),
    ((3,), (3, 3)),
    ((3, 3), (3, 3)),
    ((), ()),
]

_THREE: list[Shapes] = [
    ((3, 4), (5, 4), (5,)),  # linear layer
    ((3, 4), (4, 5), (5,)),
    ((3, 4), (5, 4), (5, 6)),  # attention
    ((3, 5), (3, 4), (4, 5)),  # addmm
    ((3, 4), (4, 5), (3, 5)),
    ((3, 4), (4, 5), (5, 6)),  # a chain of products
    ((3, 4), (4, 5), (4, 5)),  # two projections, one of them a gate
    ((3, 4), (5, 4), (5, 4)),
    ((2, 3, 4), (2, 5, 4), (2, 5, 6)),  # batched attention
    ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 6)),
    ((3, 4), (3, 4), (3, 4)),
    ((3, 8), (3, 4), (3, 4)),  # pairs of entries, rotated
    ((4,), (4, 5), (5,)),  # a form of two vectors
    ((3, 4), (4,), (4,)),  # normalization of rows
    ((2, 3, 4), (3,), (3,)),  # normalization of channels
    ((2, 3, 4, 5), (3,), (3,)),
    ((2, 3, 8), (4, 3, 3), (4,)),
    ((2, 3, 6, 5), (4, 3, 3, 2), (4,)),
    ((3, 4), (3, 5), (6, 4, 5)),  # bilinear
    ((4,), (4,), (4,)),
    ((2, 3, 4), (2, 3, 4), (2, 3, 4)),
    ((3, 4), (4,), ()),
    ((3, 4), (), ()),
    ((3, 4), (3, 4), (3,)),  # pairs of rows and a target for each
    ((3, 4), (5, 4), ()),  # distances with one scale
    ((3, 4), (3,), (3,)),  # two numbers a row
    ((3, 4), (3,), (4,)),  # a matrix with a vector on either side
    ((3, 3), (3, 3), (3, 3)),
    ((), (), ()),
]

_LAYERS: dict[int, list[Shapes]] = {
    4: [
        ((3, 4), (3, 5), (15, 4), (15, 5)),  # GRU cell without biases
        ((3, 4), (3, 5), (4, 5), (5, 5)),
        ((2, 3, 4), (3, 5), (4, 5), (5, 5)),  # all steps of a recurrent layer
        ((3, 4), (4, 5), (4, 5), (5, 4)),  # gated layer and back
        ((3, 4), (5, 4), (5, 4), (4, 5)),
        ((3, 4), (5, 4), (2, 4), (5, 2)),  # layer with an update of low rank
        ((5, 2), (2, 4), (5, 3), (3, 4)),  # products of two pairs, of one shape
    ],
    5: [
        ((3, 4), (20, 9), (20,), (3, 5), (3, 5)),  # LSTM cell, weights of [h, x] in one
        ((3, 4), (15, 9), (15,), (3, 5), (3, 5)),
        ((3, 4), (3, 5), (5, 4), (5, 5), (5,)),
    ],
    6: [((3, 4), (3, 5), (15, 4), (15, 5), (15,), (15,))],  # GRU cell
    7: [
        ((3, 4), (3, 5), (3, 5), (20, 4), (20, 5), (20,), (20,)),  # LSTM cell
        ((3, 4), (5, 4), (5,), (5, 4), (5,), (6, 5), (6,)),  # gated layer and back, with biases
    ],
}

_WEIGHT = re.compile(r"(.*_)?(w\d*|weights?\d*|kernel|filters?)(_.*|\d*)", re.IGNORECASE)
_ROW = re.compile(
    r"(.*_)?(b\d*|bias\d*|beta|gamma|shift|scale|running_.*|mean|var|std)(_.*|\d*)", re.IGNORECASE
)


def schemes(names: tuple[str, ...]) -> list[Shapes]:
    """Shapes for tensors with these names, the most informative first, each once."""
    return list(dict.fromkeys([*_by_name(names), *_by_number(len(names))]))


def is_degenerate(shapes: Shapes) -> bool:
    """Return True for shapes that hide an error: with a square, or nothing but scalars."""
    squares = any(len(shape) > 1 and len(set(shape)) == 1 for shape in shapes)
    return squares or all(extent == 1 for shape in shapes for extent in shape)


def _by_name(names: tuple[str, ...]) -> Iterator[Shapes]:
    """Layers of weights and biases in the order of their names."""
    rest = names[1:]
    if not any(_WEIGHT.fullmatch(name) or _ROW.fullmatch(name) for name in rest):
        return
    for transposed in (True, False):
        shapes = _layers(rest, transposed=transposed)
        if shapes:
            yield shapes


def _layers(names: tuple[str, ...], *, transposed: bool) -> Shapes | None:
    """Shapes of ``x`` and of the parameters that follow it; None when a name is neither."""
    width, extents = 4, iter(range(5, 5 + len(names)))
    shapes: list[Shape] = [(3, width)]
    for name in names:
        if _WEIGHT.fullmatch(name):
            new = next(extents)
            shapes.append((new, width) if transposed else (width, new))
            width = new
        elif _ROW.fullmatch(name):
            shapes.append((width,))
        else:
            return None
    return tuple(shapes)


def _by_number(count: int) -> list[Shapes]:
    few = {1: _ONE, 2: _TWO, 3: _THREE}
    return few[count] if count in few else [*_LAYERS.get(count, []), *_many(count)]


def _many(count: int) -> list[Shapes]:
    alike: list[Shape] = [(3, 4), (4,), (2, 3, 4), (2, 3, 4, 5)]
    rest = count - 1
    rows = [((3, 4), *[(4,)] * rest), *((x, *[(3,)] * rest) for x in ((2, 3, 4), (2, 3, 4, 5)))]
    each = ((3, 4), *[(3,)] * rest)  # one number a row
    return [*((shape,) * count for shape in alike), *rows, each, ((3, 3),) * count, ((),) * count]


def optional_shapes(base: Shapes, output: Shape) -> list[Shape]:
    """Shapes to try for one more tensor after `base`, when the result has shape `output`."""
    extents = [extent for shape in (output, *base) for extent in reversed(shape)]
    rows = [(extent,) for extent in dict.fromkeys(extents)]
    return list(dict.fromkeys([*rows[:1], output, *base, *rows[1:], ()]))
