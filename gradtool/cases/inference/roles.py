"""Roles of an argument, most likely first: a tensor, an index, a mask or a plain value.

A role fills one parameter with a value as a configuration writes it. It is chosen by
annotation, then by clues in the source, then by name. Later roles are tried when
``forward`` refuses the earlier ones.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import msgspec

from gradtool.adapters.library import library
from gradtool.cases.inference.bounds import side
from gradtool.cases.inference.clues import Clues
from gradtool.engine.distributed._group import GROUP_NAME

Shape = tuple[int, ...]
Fill = Callable[[Shape], Any]
"""Maps the shape of the first tensor to a value of a configuration."""


class Role(msgspec.Struct, frozen=True):
    """One way to fill a parameter. Without `fill` it is a floating tensor."""

    fill: Fill | None = None
    gradient: bool = True
    follows: bool = False
    """It is a tensor whose shape follows from the first one: an index, a mask, a target."""
    within: tuple[float, float] | None = None
    """The range of its values, where it is a bound of others."""

    @property
    def is_tensor(self) -> bool:
        """True if the search chooses its shape."""
        return self.fill is None


TENSOR = Role()


def roles(parameter: inspect.Parameter, clues: Clues) -> list[Role]:
    """List ways to fill `parameter`, most likely first; never empty."""
    name, note = _plain_name(parameter), _annotation(parameter)
    if parameter.name in clues.dtypes and not name.endswith("device"):
        return [constant({"literal": library().torch.float64}), constant("cpu")]
    if name.endswith("device"):
        return [constant({"literal": library().torch.device("cpu")}), constant(None)]
    if parameter.name in clues.passed:
        return [constant(clues.passed[parameter.name]), *_named(name), constant(2)]
    floating = tensor(clues.within.get(parameter.name) or side(name))
    if parameter.name in clues.single:
        return [_one_entry(floating), floating, constant(1)]
    if _TABLE_NAMES.fullmatch(name) and parameter.name in clues.undifferentiated:
        return [Role(gradient=False)]
    if parameter.name in clues.integers and parameter.name in clues.documented:
        return [_whole(clues.documented[parameter.name]), *_INDICES, *_FULL_INDICES]
    following = _following(name, differentiated=parameter.name not in clues.undifferentiated)
    if _TENSORS.search(note):
        return [Role(lambda base: [_like(base), _like(base)])]
    if "Tensor" in note:
        numbers = _annotated(name, note) if parameter.name in clues.undifferentiated else []
        return [*following, *numbers, floating]
    if note and (values := _annotated(name, note)):
        return values
    if following:
        return [*following, floating, constant(1)]
    if parameter.name in clues.differentiated and parameter.default is parameter.empty:
        return [floating]
    if _GROUP_NAMES.fullmatch(name) and parameter.name in clues.undifferentiated:
        return [constant(None), *_world(), floating, constant(2)]
    if parameter.name in clues.uses.tested:
        return _named(name) or [constant(False), constant(True)]
    if parameter.name in clues.uses.counts:
        return [*_named(name), constant(2), constant(3), constant(1)]
    if parameter.name in clues.uses.numbers:
        return [*_named(name), *map(constant, _GENERIC), floating]
    if parameter.name in clues.tensors:
        return [floating, *_named(name), *map(constant, _GENERIC)]
    if _named(name) or parameter.name in clues.plain:
        return [*_named(name), *map(constant, _GENERIC), floating]
    return [floating, *map(constant, _GENERIC)]


def tensor(within: tuple[float, float] | None) -> Role:
    """The role of a floating tensor, whose values are in a range if there is one."""
    return TENSOR if within is None else Role(within=within)


def _one_entry(floating: Role) -> Role:
    """The role of a tensor with a single entry, in the range of a floating one."""
    low, high = floating.within or (0.5, 1.5)
    spec = {"shape": [1], "low": low, "high": high}
    return Role(lambda _: dict(spec), follows=True)


def _world() -> list[Role]:
    """The group of all processes, where the library under check has one."""
    world = getattr(getattr(library().torch.distributed, "group", None), "WORLD", None)
    return [] if world is None else [constant({"literal": world})]


def may_be_tensor(parameter: inspect.Parameter, clues: Clues) -> bool:
    """Return True if an optional parameter, None by default, is worth trying with a tensor."""
    name, note = _plain_name(parameter), _annotation(parameter)
    if "Tensor" in note or parameter.name in clues.documented:
        return True
    if (note and _annotated(name, note)) or parameter.name in clues.uses.numbers:
        return False
    plain = bool(_named(name)) or parameter.name in clues.plain or name in _NEVER_TENSORS
    return parameter.name in clues.tensors or not plain


def _plain_name(parameter: inspect.Parameter) -> str:
    """The name without underscores at its ends: ``alpha`` for ``alpha_``."""
    return parameter.name.strip("_").lower()


_NEVER_TENSORS = {"out", "dtype", "device", "layout", "generator", "memory_format", "name", "ctx"}
"""Optional parameters of torch's functions that are not operands."""

_GENERIC = (0.75, 2, True)
"""Plain values for parameters without clues."""


def constant(value: Any) -> Role:
    """A plain value, the same for all shapes."""
    return Role(lambda _: value)


def _index(shape: Callable[[Shape], Shape]) -> Role:
    """Indices that are valid along every dimension of the first tensor."""

    def fill(base: Shape) -> dict[str, Any]:
        spec = {"shape": list(shape(base)), "dtype": "int64"}
        return {**spec, "low": 0, "high": min(base, default=2)}

    return Role(fill, follows=True)


def _whole(shape: Shape) -> Role:
    """Integers that are valid indices along any axis of two entries, in a shape of their own."""
    spec = {"shape": list(shape), "dtype": "int64", "low": 0, "high": 2}
    return Role(lambda _: dict(spec), follows=True)


def _mask(shape: Callable[[Shape], Shape]) -> Role:
    return Role(lambda base: {"shape": list(shape(base)), "dtype": "bool"}, follows=True)


_INDICES = [
    _index(lambda base: (sum(base[:1]) + 2,)),  # longer than the tensor: some must repeat
    _index(lambda base: base[:1]),
    _index(lambda base: base[:-1]),
]
_ALONG_ONE = _index(lambda base: (*base[:1], *(1 for _ in base[1:2]), *base[2:]))
"""One index along the second dimension, as ``gather(1, index)`` takes it: more may hide a sum."""
_FULL_INDICES = [_index(lambda base: base), _index(lambda _: ())]
_MASKS = [
    _mask(lambda base: base),
    _mask(lambda base: base[:1]),
    _mask(lambda base: base[-1:]),
]

_INDEX_NAMES = re.compile(
    r"(.*_)?(idx|indx|index|indexes|indices|inds|ids|offsets|lengths|segments?)"
)
_TARGET_NAMES = re.compile(r"(.*_)?(labels?|targets?|y_true|ground_truth)|classes")
_GROUP_NAMES = re.compile(r"(.*_)?(group|pg)")
"""Groups of processes, whose methods (``size``) are also those of tensors; None is the default."""
_COUNT_NAMES = re.compile(r"(num|n)_.*")
_TABLE_NAMES = re.compile(r"(.*_)?(cos|sin)|freqs(_cis)?|running_(mean|var)")
"""Tensors that are precomputed and never learnt, if backward returns None for them too."""
_IGNORED_LABELS = {"padding_idx", "ignore_index"}
"""Names of a plain number: the label or index that is to be ignored."""
_MASK_NAMES = re.compile(r"(.*_)?(mask|masks|keep|valid|cond|condition)")


def _following(name: str, *, differentiated: bool) -> list[Role]:
    """Roles of a tensor whose shape follows from the first one, for names that suggest one."""
    if _COUNT_NAMES.fullmatch(name) or name in _IGNORED_LABELS:
        return []
    if _TARGET_NAMES.fullmatch(name):
        like = Role(_like, differentiated, follows=True)
        return [*_INDICES[1:], like, _ALONG_ONE, *_FULL_INDICES]
    if _INDEX_NAMES.fullmatch(name):
        return [*_INDICES, *_FULL_INDICES]
    return list(_MASKS) if _MASK_NAMES.fullmatch(name) else []


def _shape_values() -> list[Role]:
    return [
        Role(lambda base: list(reversed(base))),
        Role(lambda base: [2, *base]),
        Role(lambda _: [2, 2]),
        Role(lambda _: 2),
    ]


def _permutation() -> list[Role]:
    return [Role(lambda base: list(reversed(range(len(base))))), constant(1)]


def _like(base: Shape) -> dict[str, Any]:
    return {"shape": list(base)}


NO_FILE = "no such file"
"""What is passed for the name of a file, which only the user knows."""

_NAMED: list[tuple[str, tuple[Any, ...]]] = [
    (r"padding_idx|ignore_index", (1, -100)),
    (r"(.*_)?group_name", (GROUP_NAME,)),
    (r"(.*_)?(group|pg)", (None, 2)),
    (r"blank(_?(id|idx|index|label))?", (0,)),
    (r"(.*_)?world_size", (1,)),
    (r"rank|src|dst|tag", (0, 1)),
    (r"reduce_?op", ("sum",)),
    (r"inplace|in_place|ceil_mode|(.*_)?(fp8|int8|quantized?)(_.*)?", (False, True)),
    (r"(is|use|has|with|do|return|keep)_.*|training|train|keepdims?|flag", (True, False)),
    (r"reverse|descending|largest|align_corners|normalized?|causal|affine", (True, False)),
    (r"reduction|reduce", ("mean", "sum", "none")),
    (r"approximate", ("none", "tanh")),
    # A number would be taken for the descriptor of an open file, and closed.
    (r"(.*_)?(path|file|file_?name|folder|dir(ectory)?|url)", (NO_FILE,)),
    (r"(einsum_)?(equation|subscripts)", ("ij,jk->ik",)),
    (r"padding_mode", ("zeros", "constant")),
    (r"mode", ("constant", "nearest", "bilinear", "mean")),
    (r"(.*_)?(dim|axis)\d?", (1, 0, -1)),
    (r"strides?|dilations?|groups", (1, 2)),
    (r"pad|paddings?", (1, 0)),
    (r"(.*_)?(level_?low|q_?min|quant_?min|qn|int_?min)", (-8,)),
    (r"(.*_)?(level_?high|q_?max|quant_?max|qp|int_?max)", (7,)),
    (r"(.*_)?levels?", (16, 4)),
    (r"(num_?|n_?)?(knots|bins|control_points|grid_points)", (5, 8, 4)),
    (r"((num|n|w|a|weight|act)_?)?(bits?|bit_?width)|(.*_)bits", (4, 8, 2)),
    (r"(.*_)?(max|num|n)?_?(iters?|iterations?)", (50, 2)),  # few, and what iterates is unfinished
    (r"(.*_)?[ar]?tol(erance)?", (1e-10,)),
    (r"exponent|power|degree", (3, 2, 0.5)),
    (r"p|prob|probability|(drop(out)?|keep)(_?(p|prob|rate))?", (0.5, 2)),
    (r"eps|epsilon|.*_eps", (1e-5,)),
    (r"(.*_)?(momentum|decay|rate)", (0.1,)),
    (r"(clip_|a_)?(min|low|lower|lo)(_?(val|value|bound))?|vmin", (-0.5,)),
    (r"(clip_|a_)?(max|high|upper|hi)(_?(val|value|bound))?|vmax", (0.75,)),
    (r"(num|n)_.*|n|k|num|count|steps?|chunks?|repeats?|shifts?|.*_(size|count)|ksize", (2, 3, 1)),
    (r"kernel|window|order|diagonal|offset|start|length|block", (2, 1, 0)),
    (r"const|constant|value|alpha|lambd|lambda|lam|slope|.*_slope|coeffs?|coef", (0.75, 2)),
    (r"scale_factor|factor|multiplier|temperature|temp|tau|threshold|margin|delta", (0.75, 2)),
]  # fmt: skip
"""Names of plain parameters and values for them; the first pattern that matches is used."""

_NAMED_PATTERNS = [(re.compile(pattern), values) for pattern, values in _NAMED]
_SHAPE_NAMES = re.compile(r"(.*_)?(shape|sizes?|sections|splits)")
_PERMUTATION_NAMES = re.compile(r"perm|permutation|dims|axes")


def _named(name: str) -> list[Role]:
    """Roles of a plain value, for names that suggest one."""
    for pattern, values in _NAMED_PATTERNS:
        if pattern.fullmatch(name):
            return [constant(value) for value in values]
    if _PERMUTATION_NAMES.fullmatch(name):
        return _permutation()
    return _shape_values() if _SHAPE_NAMES.fullmatch(name) else []


def number_for(name: str) -> float:
    """A number for an attribute of an object, by its name."""
    values = next((v for pattern, v in _NAMED_PATTERNS if pattern.fullmatch(name)), ())
    numbers = (value for value in values if type(value) in (int, float))
    return next(numbers, _GENERIC[0])


def plain_values(parameter: inspect.Parameter) -> list[Any]:
    """Values that the name of a parameter suggests, or an annotation other than ``int``."""
    name, note = _plain_name(parameter), _annotation(parameter)
    if name.endswith("device"):
        return ["cpu" if "str" in note else library().torch.device("cpu")]
    hinted = next((list(v) for pattern, v in _NAMED_PATTERNS if pattern.fullmatch(name)), [])
    for word, fits, values in _ANNOTATED:
        if re.search(rf"\b{word}\b", note):
            return [*filter(fits, hinted), *(values if word != "int" else ())]
    return hinted


def takes_tensor(parameter: inspect.Parameter) -> bool:
    """Return True for a parameter annotated as one tensor, which may also be None."""
    return bool(_ONE_TENSOR.fullmatch(_annotation(parameter)))


_ONE_TENSOR = re.compile(r"(Optional\[|Union\[)?([\w.]+\.)?Tensor(\]|(, | \| )None\]?)?")


def is_callable(parameter: inspect.Parameter) -> bool:
    """Return True for a parameter annotated as a callable."""
    return bool(_CALLABLE.match(_annotation(parameter)))


_CALLABLE = re.compile(
    r"(?:(?:typing|collections\.abc|t)\.)?(?:Optional\[)?(?:typing\.)?Callable\b"
)


def _annotation(parameter: inspect.Parameter) -> str:
    """The annotation as text; empty if there is none."""
    note = parameter.annotation
    if note is inspect.Parameter.empty:
        return ""
    return note if isinstance(note, str) else inspect.formatannotation(note)


_ANNOTATED: list[tuple[str, Callable[[Any], bool], tuple[Any, ...]]] = [
    ("bool", lambda value: isinstance(value, bool), (True, False)),
    ("str", lambda value: isinstance(value, str), ("mean", "none")),
    ("float", lambda value: not isinstance(value, bool | str), (0.75, 2.0, 0.1)),
    ("Number", lambda value: not isinstance(value, bool | str), (0.75, 2)),
    ("int", lambda value: isinstance(value, int) and not isinstance(value, bool), (2, 1, 3, 0)),
]
"""Word in an annotation, the test of a value that fits it, and values for any name."""

_SEQUENCE = re.compile(r"(tuple|list|sequence|iterable|size)", re.IGNORECASE)
_TENSORS = re.compile(r"(tuple|list|sequence|iterable)\[[^\]]*Tensor", re.IGNORECASE)
"""Matches the annotation of several tensors in one argument."""


_AXIS_BY_AXIS = re.compile(r"strides?|paddings?|dilations?|(output_)?padding|kernel(_size)?")
"""Names of small numbers, one for each axis of an image or a signal."""


def _annotated(name: str, note: str) -> list[Role]:
    """Roles of a plain value, for annotations that name its type."""
    if _SEQUENCE.search(note):
        if _AXIS_BY_AXIS.fullmatch(name):
            return [constant([value] * axes) for axes in (2, 1, 3) for value in (1, 2)]
        return _permutation() if _PERMUTATION_NAMES.fullmatch(name) else _shape_values()
    hinted = next((v for pattern, v in _NAMED_PATTERNS if pattern.fullmatch(name)), ())
    for word, fits, values in _ANNOTATED:
        if re.search(rf"\b{word}\b", note):
            return [constant(v) for v in dict.fromkeys([*filter(fits, hinted), *values])]
    return []
