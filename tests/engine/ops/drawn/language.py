"""How the arguments of an operation are drawn: shapes, dtypes, dimensions and what depends on them.

An entry of the table is one line, `op` around a strategy of calls::

    "tanh": op(of_one(normal)),                              # any shape, any floating dtype
    "sum": op(reduced(normal)),                              # any dimensions, kept or not
    "fmod": op(of_two(distinct, nonzero, number=2.5)),       # shapes and dtypes that mix
    "narrow": op(by_shape(lambda pick, shape: ...)),         # whatever it takes

What follows the tensors of a call is stated by choices: a strategy, or a function that makes
one from the shape of the first tensor. Elements follow from the case, as those of `OpCase` do:
Hypothesis chooses shapes and options alone, which keeps an example to a few decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import hypothesis.strategies as st
import numpy as np

from tests.engine.ops.cases.case import Arg, OpCase, Shape

Kind = Callable[..., Arg]
"""RepeatedDraws the elements of a tensor of any shape: `normal`, `distinct`, …"""

Pick = Callable[[st.SearchStrategy[Any]], Any]
Build = Callable[[Pick, Shape], "Call"]
Choice = st.SearchStrategy[Any] | Callable[[Shape], st.SearchStrategy[Any]]

FLOATS = ("float64", "float32", "float16")
WIDE = ("float64", "float32")
SMOOTH = (*WIDE, "complex128")
NUMBERS = (*FLOATS, "complex128", "int64", "int32", "uint8", "bool")
REAL = (*FLOATS, "int64", "int32", "uint8")
WHOLE = ("int64", "int32", "int16", "int8", "uint8")

TOLERANCES = {"float16": 3e-2, "float32": 3e-5, "complex64": 3e-5}
"""What is left of the digits after two derivatives."""

BOOL = st.booleans()
ABSENT = object()
"""Chosen for an option that is left out."""


@dataclass(frozen=True)
class Call:
    """Arguments: tensors, then what follows them by place and by name."""

    tensors: tuple[Arg, ...]
    rest: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        options = [*map(repr, self.rest), *[f"{name}={it!r}" for name, it in self.named.items()]]
        return ", ".join([*[arg.text for arg in self.tensors], *options])


@dataclass(frozen=True)
class Op:
    """An entry of the table: its calls, and what `OpCase` is to know of them."""

    calls: st.SearchStrategy[Call]
    function: Callable[..., Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def case(self, name: str, call: Call) -> OpCase:
        """One call of the operation of this name."""
        function = self.function or (lambda t, *args, **named: _found(t, name)(*args, **named))
        tolerance = max([TOLERANCES.get(arg.dtype, 1e-11) for arg in call.tensors], default=0)
        return OpCase(
            f"{name}({call!r})",
            lambda t, *tensors: function(t, *tensors, *call.rest, **call.named),
            call.tensors,
            **{"tolerance": tolerance, "noise": 1.0, **self.options},
        )


def op(
    calls: st.SearchStrategy[Call], function: Callable[..., Any] | None = None, **options: Any
) -> Op:
    """An entry; `function` where calling it takes more than its name."""
    return Op(calls, function, options)


def each(names: str, entry: Op) -> dict[str, Op]:
    """The same entry for several names."""
    return dict.fromkeys(names.split(), entry)


def _found(t: Any, name: str) -> Any:
    for part in name.split("."):
        t = getattr(t, part)
    return t


# ---- elements -------------------------------------------------------------------------------


def typed(arg: Arg, dtype: str) -> Arg:
    """The same elements in another dtype; a complex one has them in both parts."""
    if dtype == "float64":
        return arg

    def draw(rng: np.random.Generator) -> Any:
        array = arg.draw(rng)
        if dtype.startswith("complex"):
            array = array + 1j * arg.draw(rng)
        with np.errstate(all="ignore"):
            return np.asarray(array).astype(dtype)

    return Arg(f"{dtype} {arg.text}", draw, dtype)


def within(low: float, high: float) -> Kind:
    """Uniform numbers in [low, high)."""
    return lambda *shape: Arg(
        "x".join(map(str, shape)) or "0-d", lambda rng: np.asarray(rng.uniform(low, high, shape))
    )


def integers(*shape: int) -> Arg:
    """Integers from 0 to 4, as floating numbers until they are `typed`."""
    return Arg(
        "x".join(map(str, shape)) or "0-d",
        lambda rng: np.asarray(rng.integers(0, 5, shape)).astype("float64"),
    )


def positions(extent: int, shape: Shape, negative: bool = False) -> Arg:
    """Positions along a dimension of this extent; none where it has none."""
    low = -extent if negative else 0

    def draw(rng: np.random.Generator) -> Any:
        return rng.integers(low, extent, shape) if extent else np.zeros(shape, dtype=np.int64)

    return Arg(f"positions {'x'.join(map(str, shape))}", draw)


# ---- shapes ---------------------------------------------------------------------------------


def shapes(least: int = 0, most: int = 3, smallest: int = 0) -> st.SearchStrategy[Shape]:
    """Extents up to 4, most of them 2 or 3."""
    sides = [side for side in (2, 3, 1, 4, 0) if side >= smallest]
    return st.lists(st.sampled_from(sides), min_size=least, max_size=most).map(tuple)


@st.composite
def broadcastable(draw: Pick, count: int, most: int = 3, smallest: int = 0) -> tuple[Shape, ...]:
    """Shapes that broadcast with each other: leading dimensions left out, others of extent 1."""
    whole = draw(shapes(0, most, smallest))
    return tuple([_shrunk(draw, whole) for _ in range(count)])


def _shrunk(draw: Pick, whole: Shape) -> Shape:
    start = draw(st.integers(0, len(whole)).map(lambda n: 0 if n == len(whole) else n))
    kept = draw(st.integers(0, 2 ** len(whole)))
    return tuple([
        1 if kept >> at & 1 and kept != 2 ** len(whole) else side
        for at, side in enumerate(whole)
    ][start:])  # fmt: skip


# ---- choices --------------------------------------------------------------------------------


def dim(shape: Shape) -> st.SearchStrategy[int]:
    """A dimension, counted from either end; a 0-d tensor has 0 and -1."""
    count = max(len(shape), 1)
    return st.integers(-count, count - 1)


def dims(shape: Shape) -> st.SearchStrategy[tuple[int, ...]]:
    """Some dimensions, each once."""
    chosen = st.lists(st.sampled_from(range(len(shape))), unique=True) if shape else st.just([])
    return chosen.map(lambda them: tuple([at - len(shape) if at % 2 else at for at in them]))


def order(shape: Shape) -> st.SearchStrategy[tuple[int, ...]]:
    """All dimensions in some order."""
    return st.permutations(range(len(shape))).map(tuple)


def optional(choice: Choice) -> Choice:
    """The same, or left out."""
    if isinstance(choice, st.SearchStrategy):
        return st.just(ABSENT) | choice
    return lambda shape: st.just(ABSENT) | choice(shape)


def among(*values: Any) -> st.SearchStrategy[Any]:
    """One of these."""
    return st.sampled_from(values)


def chosen(pick: Pick, shape: Shape, choices: Mapping[str, Choice]) -> dict[str, Any]:
    """Options by name, those left out gone."""
    found = {name: _chosen(pick, shape, choice) for name, choice in choices.items()}
    return {name: value for name, value in found.items() if value is not ABSENT}


def _chosen(pick: Pick, shape: Shape, choice: Choice) -> Any:
    return pick(choice if isinstance(choice, st.SearchStrategy) else choice(shape))


# ---- calls ----------------------------------------------------------------------------------


@st.composite
def by_shape(draw: Pick, build: Build, least: int = 0, most: int = 3, smallest: int = 0) -> Call:
    """What `build` makes of a shape."""
    return build(draw, draw(shapes(least, most, smallest)))


@st.composite
def of_one(
    draw: Pick,
    kind: Kind,
    *rest: Choice,
    dtypes: tuple[str, ...] = FLOATS,
    least: int = 0,
    most: int = 3,
    smallest: int = 0,
    **named: Choice,
) -> Call:
    """One tensor, and options."""
    shape = draw(shapes(least, most, smallest))
    tensor = typed(kind(*shape), draw(st.sampled_from(dtypes)))
    following = [_chosen(draw, shape, choice) for choice in rest]
    return Call((tensor,), tuple(following), chosen(draw, shape, named))


@st.composite
def of_several(
    draw: Pick,
    *kinds: Kind,
    dtypes: tuple[str, ...] = WIDE,
    same: bool = False,
    most: int = 3,
    smallest: int = 0,
    **named: Choice,
) -> Call:
    """Tensors whose shapes broadcast with each other, or are the `same`, of one dtype."""
    dtype = draw(st.sampled_from(dtypes))
    several = draw(broadcastable(len(kinds), most, smallest))
    if same:
        several = (several[0],) * len(kinds)
    tensors = [typed(kind(*shape), dtype) for kind, shape in zip(kinds, several, strict=True)]
    return Call(tuple(tensors), (), chosen(draw, several[0], named))


@st.composite
def of_two(
    draw: Pick,
    first: Kind,
    second: Kind,
    *,
    dtypes: tuple[str, ...] = FLOATS,
    number: Any = None,
    most: int = 3,
    **named: Choice,
) -> Call:
    """Two tensors whose shapes and dtypes mix; or, where there may be one, a number for one."""
    one, other = draw(broadcastable(2, most))
    tensors = [
        typed(kind(*shape), draw(st.sampled_from(dtypes)))
        for kind, shape in ((first, one), (second, other))
    ]
    if number is not None and draw(st.integers(0, 3)) == 3:
        return Call((tensors[0],), (number,), chosen(draw, one, named))
    return Call(tuple(tensors), (), chosen(draw, one, named))


@st.composite
def reduced(
    draw: Pick,
    kind: Kind,
    *,
    several: bool = True,
    dtypes: tuple[str, ...] = FLOATS,
    needs_dim: bool = False,
    smallest: int = 0,
    least: int = 0,
    **named: Choice,
) -> Call:
    """One tensor over all of it, or over a dimension (or several), kept or not."""
    shape = draw(shapes(least, 3, smallest))
    tensor = typed(kind(*shape), draw(st.sampled_from(dtypes)))
    options = chosen(draw, shape, named)
    over = draw(st.sampled_from(["all", "one", "some"][needs_dim : 3 if several else 2]))
    if over != "all":
        options["dim"] = draw(dim(shape) if over == "one" else dims(shape))
        options["keepdim"] = draw(BOOL)
    return Call((tensor,), (), options)
