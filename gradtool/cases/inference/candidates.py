"""The candidates of a search for arguments: roles and shapes for every required parameter."""

from __future__ import annotations

import heapq
import inspect
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gradtool.cases.inference.clues import Clues
from gradtool.cases.inference.roles import TENSOR, Role, Shape, constant, roles
from gradtool.cases.inference.shapes import Shapes, optional_shapes, schemes
from gradtool.config.schema import CaseConfig

Parameters = tuple[inspect.Parameter, ...]
Domain = dict[str, float | str]
"""``low`` and ``high`` of the values of tensors, or their dtype; empty for the standard normal."""

_COMBINATIONS = 40
"""Ways to assign roles to parameters that are considered."""

_ROLE_COST = 4.0
"""How many more shapes are tried with the likeliest roles before less likely ones."""

_FOLLOWER_COST = 0.1
"""The same for a tensor that follows the first one: all its shapes are tried with each."""

_STAR_COST = 8.0
"""The same for another number of arguments in place of ``*args``."""

_STARRED = (2, 1, 3, 0)
"""Numbers of arguments that ``*args`` may stand for, likeliest first."""


@dataclass(frozen=True)
class Candidate:
    """One assignment of roles and shapes to parameters."""

    parameters: Parameters
    roles: tuple[Role, ...]
    shapes: Shapes

    def case(self, name: str, domain: Domain) -> CaseConfig:
        """The case it stands for, with values of its tensors drawn from `domain`."""
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
    return {**spec, **domain} if role.gradient else {**spec, **domain, "requires_grad": False}


def candidates(parameters: Parameters, clues: Clues) -> Iterator[Candidate]:
    """Candidates for the required ones of `parameters`, likeliest first."""
    streams = [
        _ranked(variant, clues, number * _STAR_COST)
        for number, variant in enumerate(_variants(parameters))
    ]
    for _, candidate in heapq.merge(*streams, key=lambda ranked: ranked[0]):
        yield candidate


def _variants(parameters: Parameters) -> Iterator[Parameters]:
    """The required parameters, with ``*args`` written out as so many single ones."""
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    starred = next((p for p in required if p.kind is p.VAR_POSITIONAL), None)
    if starred is None:
        yield tuple(required)
        return
    at = required.index(starred)
    for count in _STARRED:
        single = [
            starred.replace(name=f"{starred.name}_{i}", kind=inspect.Parameter.POSITIONAL_ONLY)
            for i in range(count)
        ]
        yield (*required[:at], *single, *required[at + 1 :])


def _ranked(parameters: Parameters, clues: Clues, cost: float) -> Iterator[tuple[float, Candidate]]:
    """Candidates with their cost: an unlikely role costs more than an unlikely shape."""
    choices = [_costly(_roles(parameter, clues, parameters)) for parameter in parameters]
    combinations = sorted(
        itertools.islice(itertools.product(*choices), 5000),
        key=lambda combination: sum(more for more, _ in combination),
    )
    streams = [_shaped(parameters, chosen, cost) for chosen in combinations[:_COMBINATIONS]]
    yield from heapq.merge(*streams, key=lambda ranked: ranked[0])


def _roles(parameter: inspect.Parameter, clues: Clues, among: Parameters) -> list[Role]:
    """The roles of `parameter`; alone or beside a query it is a tensor, whatever it is called."""
    beside_query = parameter.name == "k" and any(other.name == "q" for other in among)
    return [TENSOR] if len(among) == 1 or beside_query else roles(parameter, clues)


def _costly(found: Sequence[Role]) -> list[tuple[float, Role]]:
    """Each role with what it costs to come to it."""
    costs = itertools.accumulate(
        (_FOLLOWER_COST if role.follows else _ROLE_COST for role in found), initial=0.0
    )
    return list(zip(costs, found, strict=False))


def _shaped(
    parameters: Parameters, chosen: Sequence[tuple[float, Role]], cost: float
) -> Iterator[tuple[float, Candidate]]:
    filled = tuple(role for _, role in chosen)
    names = tuple(p.name for p, role in zip(parameters, filled, strict=True) if role.is_tensor)
    total = cost + sum(more for more, _ in chosen)
    for rank, shapes in enumerate(schemes(names) if names else ()):
        yield total + rank, Candidate(parameters, filled, shapes)


def with_defaults(base: Candidate, parameters: Parameters) -> Candidate:
    """`base` with the default of every optional parameter spelled out."""
    for parameter in parameters:
        if parameter.default is not parameter.empty:
            value = parameter.default
            literal = {"literal": value} if isinstance(value, dict) else value
            base = base.extended(parameter, constant(literal), ())
    return base


def with_optional(
    base: Candidate, output: Shape, optional: Sequence[inspect.Parameter], clues: Clues
) -> list[Candidate]:
    """`base` with a value for each of `optional`, likeliest first."""
    fills = [_optional_fills(base, output, parameter, clues) for parameter in optional]
    combinations = sorted(
        itertools.islice(itertools.product(*map(enumerate, fills)), 5000),
        key=lambda combination: sum(rank for rank, _ in combination),
    )
    return [_extend(base, optional, combination) for combination in combinations]


def _optional_fills(
    base: Candidate, output: Shape, parameter: inspect.Parameter, clues: Clues
) -> list[tuple[Role, Shape]]:
    return [
        (role, shape)
        for role in roles(parameter, clues)
        if role.is_tensor or role.follows
        for shape in (optional_shapes(base.shapes, output) if role.is_tensor else [()])
    ]


def _extend(
    base: Candidate,
    optional: Sequence[inspect.Parameter],
    combination: Sequence[tuple[int, tuple[Role, Shape]]],
) -> Candidate:
    for parameter, (_, (role, shape)) in zip(optional, combination, strict=True):
        base = base.extended(parameter, role, shape)
    return base
