"""Conditions that tell cases apart whose backward differs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gradtool.derive.assembly import WITHOUT, Branch
from gradtool.derive.problem import NotDerivable
from gradtool.derive.writing import Methods

Values = Mapping[str, Any]
"""The arguments of a case by name."""


def branches(groups: Sequence[tuple[Methods, list[Values]]], ctx: str) -> list[Branch]:
    """Return a branch for each group of cases; the last has no condition.

    Raises:
        NotDerivable: No argument tells them apart.
    """
    found = []
    for place, (methods, cases) in enumerate(groups[:-1]):
        others = [values for _, rest in groups[place + 1 :] for values in rest]
        found.append(_branch(methods, cases, others, ctx))
    return [*found, Branch(groups[-1][0])]


def _branch(methods: Methods, cases: list[Values], others: list[Values], ctx: str) -> Branch:
    tests = list(_tests(cases[0], ctx))
    tests = [each for each in tests if all(each[1](values) for values in cases)]
    for count in (1, 2):
        for chosen in itertools.combinations(tests, count):
            if not any(all(test(values) for _, test, _, _ in chosen) for values in others):
                condition = " and ".join(text for text, _, _, _ in chosen)
                parameters = tuple(name for *_, name, _ in chosen if name)
                return Branch(methods, condition, parameters, tuple(n for *_, n in chosen if n))
    raise NotDerivable("the cases need different backwards, but no argument distinguishes them")


def _tests(values: Values, ctx: str) -> Iterator[tuple[str, Any, str, str]]:
    """Tests that hold at a case: text, function, and the names that it needs from ctx or saved."""
    for name, value in values.items():
        if value is None:
            noted = f"{WITHOUT}{name}"
            yield f"{ctx}.{noted}", lambda v, n=name: v.get(n) is None, noted, ""
        elif isinstance(value, bool):
            text = f"{ctx}.{name}" if value else f"not {ctx}.{name}"
            yield text, lambda v, n=name, w=value: v.get(n) is w, name, ""
        elif isinstance(value, str | int):
            shown = f'"{value}"' if isinstance(value, str) else value
            yield f"{ctx}.{name} == {shown}", lambda v, n=name, w=value: v.get(n) == w, name, ""
        elif hasattr(value, "requires_grad"):
            noted = f"{WITHOUT}{name}"
            yield f"not {ctx}.{noted}", lambda v, n=name: v.get(n) is not None, noted, ""
            yield (
                f"{name}.ndim == {value.ndim}",
                lambda v, n=name, d=value.ndim: getattr(v.get(n), "ndim", None) == d,
                "",
                name,
            )
