"""Sums of products written with an index for every dimension: ``ij,jk->ik``.

Operands are contracted from left to right, each pair as one product of batches of matrices.
Labels are letters; dimensions under an ellipsis get the negative numbers that count them from
the right, so that they line up as broadcasting does.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod
from string import ascii_letters
from typing import Any, NamedTuple

from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.elementwise.arithmetic import mul
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.shape.axes import permute
from gradtool.engine._tensor import Tensor

Label = str | int


class _Labelled(NamedTuple):
    """A tensor with a label for each dimension."""

    tensor: Tensor
    labels: tuple[Label, ...]


def _node_name(equation: Any, *_operands: Any) -> str | None:
    """Return the name of the last of the operations that PyTorch makes an einsum of."""
    if not isinstance(equation, str):
        return None
    inputs, arrow, out = equation.replace(" ", "").replace("...", "").partition("->")
    letters = set(inputs) - {","}
    kept = set(out) if arrow else {each for each in letters if inputs.count(each) == 1}
    if "," not in inputs:
        return "SumBackward1" if letters - kept else None
    return "ViewBackward0" if letters - kept else "MulBackward0"


@op(node=_node_name)
def einsum(*args: Any) -> Tensor:
    """The sum of products that an equation describes.

    Takes an equation and the operands, one by one or as a list; or each operand followed by a
    list of numbers that label its dimensions, and perhaps a list for the result. Without
    ``->`` the result has what appears once, in alphabetical order.

    Raises:
        RuntimeError: the equation is malformed, or does not fit the operands.
    """
    equation, operands = _equation_and_operands(args)
    terms, output = _terms(equation, len(operands))
    labelled = [_labelled(*each) for each in zip(itertools.count(), operands, terms)]
    wanted = _output_labels(labelled, terms, output)
    fitted = _fitted(labelled)
    found = fitted[0]
    for position, other in enumerate(fitted[1:], start=2):
        rest = {label for each in fitted[position:] for label in each.labels}
        found = _contracted(found, other, rest.union(wanted))
    found = _summed(found, set(wanted))
    return permute(found.tensor, tuple([found.labels.index(label) for label in wanted]))


# ---- reading the equation -------------------------------------------------------------------


def _equation_and_operands(args: Sequence[Any]) -> tuple[str, list[Tensor]]:
    if args and isinstance(args[0], str):
        listed = len(args) == 2 and isinstance(args[1], tuple | list)
        operands = list(args[1] if listed else args[1:])
    elif len(args) >= 2:
        return _from_numbers(args)
    else:
        operands = []
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least "
            "one operand and its subscripts list"
        )
    return args[0], operands


def _from_numbers(args: Sequence[Any]) -> tuple[str, list[Tensor]]:
    """The equation of the form in which lists of numbers follow the operands."""
    pairs = len(args) // 2
    terms = [_letters(args[2 * at + 1]) for at in range(pairs)]
    result = "->" + _letters(args[-1]) if len(args) % 2 else ""
    return ",".join(terms) + result, [args[2 * at] for at in range(pairs)]


def _letters(numbers: Iterable[Any]) -> str:
    return "".join(["..." if each is Ellipsis else ascii_letters[each] for each in numbers])


@functools.lru_cache(maxsize=64)
def _terms(equation: str, count: int) -> tuple[list[str], str | None]:
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    for term in [*terms, right]:
        _check_term(term, equation)
    if len(terms) != count:
        found = "fewer" if count < len(terms) else "more"
        raise RuntimeError(
            f"einsum(): {found} operands were provided than specified in the equation"
        )
    return terms, right if arrow else None


def _check_term(term: str, equation: str) -> None:
    letters = term.replace("...", "", 1)
    for letter in letters:
        if letter not in ascii_letters:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {equation.index(letter)} in the "
                "equation string, subscripts must be in [a-zA-Z]"
            )


# ---- labels ---------------------------------------------------------------------------------


def _labelled(number: int, x: Tensor, term: str) -> _Labelled:
    """An operand with its labels; where one is repeated, the diagonal."""
    before, dots, after = term.partition("...")
    named = len(before) + len(after)
    if x.ndim < named or (x.ndim > named and not dots):
        relation = "and no ellipsis was given" if not dots else "for the ellipsis"
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) does not match the "
            f"number of dimensions ({x.ndim}) for operand {number} {relation}"
        )
    labels: list[Label] = [*before, *range(named - x.ndim, 0), *after]
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            x = _diagonal(x, labels, label, number)
    return _Labelled(x, tuple(labels))


def _diagonal(x: Tensor, labels: list[Label], label: Label, number: int) -> Tensor:
    """The diagonal of the first two dimensions labelled so; it comes last."""
    first = labels.index(label)
    second = labels.index(label, first + 1)
    if x.shape[first] != x.shape[second]:
        raise RuntimeError(
            f"einsum(): subscript {label} is repeated for operand {number} but the sizes don't "
            f"match, {x.shape[second]} != {x.shape[first]}"
        )
    del labels[second], labels[first]
    labels.append(label)
    return x.diagonal(0, first, second)


def _output_labels(
    operands: Sequence[_Labelled], terms: Sequence[str], output: str | None
) -> tuple[Label, ...]:
    """The labels of the result."""
    given = {label for each in operands for label in each.labels}
    ellipsis: list[Label] = sorted([label for label in given if isinstance(label, int)])
    if output is None:
        counts = Counter("".join(terms).replace(".", ""))
        return (*ellipsis, *sorted([letter for letter, count in counts.items() if count == 1]))
    before, dots, after = output.partition("...")
    for letter in before + after:
        if letter not in given:
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any "
                "input operand"
            )
        if (before + after).count(letter) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {letter} appears more than once in the output"
            )
    return (*before, *(ellipsis if dots else ()), *after)


def _fitted(operands: Sequence[_Labelled]) -> list[_Labelled]:
    """The operands without dimensions of extent one that broadcast."""
    extents: dict[Label, int] = {}
    for number, (x, labels) in enumerate(operands):
        for label, extent in zip(labels, x.shape):
            if 1 not in (extent, extents.setdefault(label, extent)) and extent != extents[label]:
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {extent} for operand {number} which "
                    f"does not broadcast with previously seen size {extents[label]}"
                )
            extents[label] = extent if extents[label] == 1 else extents[label]
    return [_without_stretched(each, extents) for each in operands]


def _without_stretched(operand: _Labelled, extents: dict[Label, int]) -> _Labelled:
    x, labels = operand
    for dim in reversed(range(x.ndim)):
        if x.shape[dim] == 1 != extents[labels[dim]]:
            x, labels = x.select(dim, 0), labels[:dim] + labels[dim + 1 :]
    return _Labelled(x, labels)


# ---- contracting ----------------------------------------------------------------------------


def _summed(operand: _Labelled, needed: set[Label]) -> _Labelled:
    """Summed over the dimensions whose label nothing needs."""
    dims = [dim for dim, label in enumerate(operand.labels) if label not in needed]
    if not dims:
        return operand
    kept = tuple([label for label in operand.labels if label in needed])
    return _Labelled(operand.tensor.sum(dims), kept)


def _contracted(x: _Labelled, y: _Labelled, needed: set[Label]) -> _Labelled:
    """The product of two operands, summed over what only they share."""
    x, y = _summed(x, needed.union(y.labels)), _summed(y, needed.union(x.labels))
    shared = [label for label in x.labels if label in y.labels]
    batch = [label for label in shared if label in needed]
    inner = [label for label in shared if label not in needed]
    rows = [label for label in x.labels if label not in shared]
    columns = [label for label in y.labels if label not in shared]
    extents = dict(zip((*x.labels, *y.labels), (*x.tensor.shape, *y.tensor.shape)))
    # As in torch a product without a sum is that of the elements, whatever their dtypes.
    multiplied = matmul if any(extents[label] != 1 for label in inner) else mul
    product = multiplied(_grouped(x, batch, rows, inner), _grouped(y, batch, inner, columns))
    labels = (*batch, *rows, *columns)
    if not len(batch) == len(rows) == len(columns) == 1:
        product = product.reshape([extents[label] for label in labels])
    return _Labelled(product, labels)


def _grouped(x: _Labelled, *groups: list[Label]) -> Tensor:
    """The tensor with one dimension for each group of labels."""
    order = [label for group in groups for label in group]
    extents = dict(zip(x.labels, x.tensor.shape))
    grouped = permute(x.tensor, tuple([x.labels.index(label) for label in order]))
    if any(len(group) != 1 for group in groups):
        grouped = grouped.reshape([prod([extents[each] for each in group]) for group in groups])
    return grouped
