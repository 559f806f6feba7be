"""The statements of a method: what is computed once has a name, the rest is written in place."""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from gradtool.derive.expression import Expression, needed
from gradtool.derive.text import Text

WIDTH = 76
"""Characters of an expression beyond which its parts get names."""

_SHORT = {
    "exp": "e",
    "sigmoid": "s",
    "tanh": "t",
    "softmax": "p",
    "eq": "same",
    "gt": "above",
    "lt": "below",
}


@dataclass
class Names:
    """Names that expressions have, each its own."""

    given: dict[Expression, str]
    taken: set[str]
    suggested: Mapping[Expression, str] = field(default_factory=dict)

    def name(self, value: Expression) -> str:
        """Give an expression a name of its own."""
        if value not in self.given:
            wanted = self.suggested.get(value) or _SHORT.get(value.name, "t")
            self.given[value] = self.free(wanted)
        return self.given[value]

    def free(self, wanted: str) -> str:
        """Return a name that nothing has, like the one that is wanted."""
        found, number = wanted, 1
        while found in self.taken or keyword.iskeyword(found):
            number += 1
            found = f"{wanted}{number}"
        self.taken.add(found)
        return found


@dataclass(frozen=True)
class Target:
    """A value that a method returns."""

    name: str
    value: Expression
    condition: str | None = None
    """The condition under which it is needed."""


def statements(targets: Sequence[Target], known: Collection[Expression], names: Names) -> list[str]:
    """Return the lines that compute the targets; conditional ones are None otherwise."""
    order = needed([target.value for target in targets], set(known))
    text = Text(names.given)
    owners = _owners(targets, order, set(known))
    named = _named(targets, order, set(known), names)
    lines: list[str] = []
    shared = [each for each in order if each in named and len(owners[each]) > 1]
    lines += _assignments(shared, names, text)
    conditional = [target for target in targets if target.condition]
    if len(conditional) > 1:
        lines.append(" = ".join(target.name for target in conditional) + " = None")
    for place, target in enumerate(targets):
        own = [each for each in order if each in named and owners[each] == {place}]
        inner = _assignments([each for each in own if each is not target.value], names, text)
        written = text.definition(target.value) if target.value in own else text(target.value)
        inner.append(
            f"{target.name} = {written}"
        ) if target.value.name != "setitem" or target.value not in own else inner.extend(
            _setitem(target.name, target.value, text)
        )
        if target.condition and len(conditional) > 1:
            lines.append(f"if {target.condition}:")
            lines += [f"    {line}" for line in inner]
        else:
            lines += inner
    return lines


def _assignments(values: Sequence[Expression], names: Names, text: Text) -> list[str]:
    lines = []
    for each in values:
        if each.name == "setitem":
            lines += _setitem(names.name(each), each, text)
            continue
        written = text.definition(each)
        lines.append(f"{names.name(each)} = {written}")
    return lines


def _setitem(name: str, value: Expression, text: Text) -> list[str]:
    owner, index, item = value.args
    inside = ", ".join(map(text, index)) if isinstance(index, tuple) and index else text(index)
    base = (
        text(owner, 10)
        if owner.name == "zeros_like" and owner not in text.names
        else f"{text(owner, 10)}.clone()"
    )
    return [f"{name} = {base}", f"{name}[{inside}] = {text(item)}"]


def _owners(
    targets: Sequence[Target], order: Sequence[Expression], known: set[Expression]
) -> dict[Expression, set[int]]:
    """The targets that each expression is needed for."""
    owners: dict[Expression, set[int]] = {each: set() for each in order}
    for place, target in enumerate(targets):
        for each in needed([target.value], known):
            owners[each].add(place)
    return owners


def _named(
    targets: Sequence[Target], order: Sequence[Expression], known: set[Expression], names: Names
) -> set[Expression]:
    """Values worth a statement: those used twice, named by forward, or long."""
    uses: Counter[Expression] = Counter()
    for each in order:
        if each not in known:
            uses.update(each.operands())
    roots = {target.value for target in targets}
    found: set[Expression] = set()
    for each in order:
        if each in known or _is_trivial(each, known):
            continue
        count = uses[each] + (each in roots)
        if count > 1 or each.name == "setitem" or (uses[each] and each in names.suggested):
            found.add(each)
    for each in order:
        if each in found or each in roots:
            _split(each, found, known, names)
    return found


def _split(value: Expression, found: set[Expression], known: set[Expression], names: Names) -> None:
    """Give names to parts of a value until no line of it is too long."""
    while True:
        text = Text({**names.given, **{each: "x" * 6 for each in found if each is not value}})
        if len(text.definition(value)) <= WIDTH:
            return
        parts = [
            each
            for each in needed([value], known | (found - {value}))
            if each not in found and each is not value and not _is_trivial(each, known)
        ]
        if not parts:
            return
        half = len(text.definition(value)) / 2
        chosen = min(parts, key=lambda each: abs(len(text.definition(each)) - half))
        if chosen in known or chosen.kind == "leaf":
            return
        found.add(chosen)


def _is_trivial(value: Expression, known: set[Expression]) -> bool:
    """Return True for an expression that costs nothing and reads well anywhere."""
    if value.kind in {"leaf", "literal"} or (
        not value.is_tensor and not isinstance(value.value, tuple | list)
    ):
        return True
    return value.kind in {"attribute", "part"} and all(
        each in known or each.kind == "leaf" for each in value.operands()
    )
