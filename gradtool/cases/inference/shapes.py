"""Shapes to try for the floating tensors of a Function, in order.

Extents are distinct wherever they can be, because a square matrix hides a transposition.
Shapes whose extents differ most come first: ``(3, 4), (5, 4)`` is refused by everything but
``x @ w.T`` and its like, while ``(3, 3), (3, 3)`` is accepted by nearly anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradtool.cases.inference.roles import Shape

Shapes = tuple[Shape, ...]

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
    ((2, 3, 8), (3, 3)),  # one kernel a channel
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
    ((3, 8), (3, 4), (3, 4)),  # pairs of entries, turned
    ((4,), (4, 5), (5,)),  # a form of two vectors
    ((3, 4), (4,), (4,)),  # normalisation of rows
    ((2, 3, 4), (3,), (3,)),  # normalisation of channels
    ((2, 3, 4, 5), (3,), (3,)),
    ((2, 3, 8), (4, 3, 3), (4,)),
    ((2, 3, 6, 5), (4, 3, 3, 2), (4,)),
    ((3, 4), (3, 5), (6, 4, 5)),  # bilinear
    ((4,), (4,), (4,)),
    ((2, 3, 4), (2, 3, 4), (2, 3, 4)),
    ((3, 4), (4,), ()),
    ((3, 4), (), ()),
    ((3, 4), (3, 4), (3,)),  # pairs of rows and what each is to be
    ((3, 4), (5, 4), ()),  # distances with one scale
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
    ],
    5: [
        ((3, 4), (20, 9), (20,), (3, 5), (3, 5)),  # LSTM cell, weights of [h, x] in one
        ((3, 4), (15, 9), (15,), (3, 5), (3, 5)),
        ((3, 4), (3, 5), (5, 4), (5, 5), (5,)),
    ],
    6: [((3, 4), (3, 5), (15, 4), (15, 5), (15,), (15,))],  # GRU cell
    7: [((3, 4), (3, 5), (3, 5), (20, 4), (20, 5), (20,), (20,))],  # LSTM cell
}

_WEIGHT = re.compile(r"(.*_)?(w\d*|weights?\d*|kernel|filters?)(_.*|\d*)", re.IGNORECASE)
_ROW = re.compile(
    r"(.*_)?(b\d*|bias\d*|beta|gamma|shift|scale|running_.*|mean|var|std)(_.*|\d*)", re.IGNORECASE
)


def schemes(names: tuple[str, ...]) -> list[Shapes]:
    """Shapes for tensors with these names, most telling first, each once."""
    return list(dict.fromkeys([*_by_name(names), *_by_number(len(names))]))


def is_degenerate(shapes: Shapes) -> bool:
    """Whether a square or nothing but scalars lets an error of shape go unnoticed."""
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
    return [*((shape,) * count for shape in alike), *rows, ((3, 3),) * count, ((),) * count]


def optional_shapes(base: Shapes, output: Shape) -> list[Shape]:
    """Shapes to try for one more tensor beside `base`, when the result has shape `output`."""
    extents = [extent for shape in (output, *base) for extent in reversed(shape)]
    rows = [(extent,) for extent in dict.fromkeys(extents)]
    return list(dict.fromkeys([*rows[:1], output, *base, *rows[1:], ()]))
