"""Edits of variables: two change places, one is counted twice, or the wrong one was saved."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from gradtool.adapters.common.alterations.altered_code import standin
from gradtool.adapters.common.alterations.forward.calls import by_input
from gradtool.adapters.common.alterations.forward.edit import Computed, Edit, Forward, last
from gradtool.adapters.common.alterations.trees import inside, replaced
from gradtool.verify.thresholds.edits import EDITS_MOST_SWAPPED


def swapped(computed: Computed) -> Iterator[Edit]:
    """Exchange two numbers, or two variables, of an expression."""
    value = computed.value
    numbers = [n for n in ast.walk(value) if isinstance(n, ast.Constant)]
    names = [n for n in inside(value) if isinstance(n, ast.Name)]
    for alike in (numbers[:EDITS_MOST_SWAPPED], names[:EDITS_MOST_SWAPPED]):
        for first, second in itertools.combinations(alike, 2):
            if ast.dump(first) != ast.dump(second):
                made = replaced(value, {first: second, second: first})
                yield Edit("swapped", value, made, value, ast.unparse(made))


def counted_twice(computed: Computed) -> Iterator[Edit]:
    """Count one use of a variable twice, and another use of it not at all."""
    value = computed.value
    sizes = [n.value for n in ast.walk(value) if isinstance(n, ast.Attribute) and n.attr == "shape"]
    names = [n for n in inside(value) if isinstance(n, ast.Name) and n not in sizes]
    for first, second in itertools.permutations(names, 2):
        if first.id == second.id:
            twice, never = standin("doubled", first), standin("constant", second)
            made = replaced(value, {first: twice, second: never})
            yield Edit("twice", value, made, value, first.id)


def saved_for_others(forward: Forward) -> Iterator[Edit]:
    """Put another variable in the place of one after it is set, as if that had been saved."""
    for name, value in forward.assignments:
        for other in (each for each in forward.final if each != name.id):
            for passed in (value, *by_input(value)):
                yield Edit("saved", value, standin("moved", passed, last(other)), name, other)
