"""Shapes that docstrings state, such as ``x (B, T)`` and ``state (B, (K - 1) * dilation)``."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, product
from typing import Any

from gradtool.adapters.common.parsed_source import docstring_of
from gradtool.cases.inference.class_source import source_of
from gradtool.cases.inference.shapes.annotated import in_annotations

_AXES = r"\(((?:[^()]|\([^()]*\))*)\)"
_STATED = re.compile(
    r"((?:\b\w+`*(?:,| and) `*)*)\b(\w+)`*(:| are| have)?"
    r"(?:(?<=:)[^().:;]{0,32}\b(?:shape|size|tensor|matrix|vector|array|scalar)s?\b,?)?"
    r"(?: (?:is|has|of|with)\b)?(?:,? optional\b)?(?:\s(?:one )?(?:per|for each|for every) \w+)?"
    rf"(?: (?:a |the )?(?:shape|size)s?\b)?\s*`*{_AXES}(?!\s*\*)"
)
"""Matches ``x (B, T)``, ``x: (B, (K - 1) * d)``, ``q, k: (B, L, d)`` and ``a and b, each (C,)``.

And ``x is (N, C)``, ``q and k are (B, L, d)``, ``w of shape (n // 2 + 1,)``, ``x: an array (N,)``,
``mask optional (B, N)``, and ``alpha is per column (k,)``.
"""

_COUNTED = re.compile(
    r"\b(\w+)`* (?:of|with|has|holds) (\w[^,.;:()]{0,31}?) (entries|elements|numbers|values|rows)\b"
)
"""Matches ``a mask m of n // 2 + 1 entries``, and ``values v with T + 1 rows``."""

_TENSOR = r"(?:torch\.)?\w*[Tt]ensor"
_TYPED = re.compile(
    rf"^([ \t]*\w+)[ \t]*(?:(\({_TENSOR}(?:, optional)?\)[ \t]*:)|:[ \t]*{_TENSOR}\b)", re.MULTILINE
)
"""Matches ``x (Tensor):``, where the shape follows in words, and ``x : torch.Tensor``."""

_BRACKETED = re.compile(
    r"^([ \t]*(?!\w*(?:shape|size)s?:)\w+:[^\[\]().:;\n]{0,24})\[([^\[\]\n]+)\]", re.MULTILINE
)
"""Matches ``x: [B, T]``; an argument called ``shape`` would be the list itself."""

_TYPES = {"tensor", "array", "bool", "dict", "float", "int", "list", "optional", "str", "tuple"}
"""Words in brackets that are no extents."""

_OR = re.compile(rf"[^().:]{{0,40}}\bor\b[^().:]{{0,24}}?(\w*)\s*{_AXES}")
"""Matches another shape behind the first, as in ``(n, n) symmetric, or a batch (B, n, n)``."""

_SHAPE = r"`*\((?:[^()]|\([^()]*\))*\)`*"

_LISTED = re.compile(rf"((?:\s*,\s*{_SHAPE})+),?\s+or\s+`*{_AXES}`*")
"""Matches further shapes of a list behind the first, as in ``(3,), (1, 3) or (N, 3)``."""

_LIST_OF = re.compile(
    r"([^().;]{1,64})(?::|\bone of|\beither|\bshapes?)\s+`*"
    rf"{_AXES}`*(?=(?:\s*,\s*{_SHAPE})*,?\s+or\s+`*\()"
)
"""Matches a list behind more words, as in ``light that broadcasts to them: (3,) or (N, 3)``."""

_FURTHER = re.compile(rf"([^().]{{0,60}}){_AXES}")
"""Matches any shape behind the first, as in ``(out, in); stacked layers (E, out, in) work too``."""

_OF_RESULT = re.compile(
    r"\b(outputs?|out|results?|returns?|gives?|giving|yields?|produc\w+|maps?|none)\b"
    r"|->|\u2192|=",
    re.I,
)
"""Words between two shapes of which the second is not one of the same argument."""

_OF_STACK = re.compile(
    r"\b(or|also|too|stack\w*|batch\w*|several|many|optional\w*|may|can)\b", re.I
)
"""Words between two shapes of which the second is another one of the same argument."""

_CONTRACTS = re.compile(
    r"\bcontracti|\bspectral (?:norm|radius)\b[^.;]{0,20}(?:below|less|<|under)", re.I
)

_OF_CONTRACTION = (-0.25, 0.25)
"""Range of the entries of a small matrix whose spectral norm is below one."""

_INTERVAL = re.compile(
    r"\b(?:must|should|has to|have to) (?:be|lie)(?: \w+)? (?:in|within|between) "
    r"[\[(]?(-?[\d.]*\d)(?:,| and) ?(-?[\d.]*\d)"
)
"""Matches ``must be in [0, 1]``: the ends of the interval."""

_POSITIVE = re.compile(
    r"\b(?:must|should|has to|have to) be (?:strictly )?positive\b(?! \w*definite)"
)
"""Matches ``must be positive``."""

_OF_POSITIVE = (0.5, 1.5)
"""Range of the values of what is positive."""

_AT_LEAST = re.compile(r"^(\w+)\s*(>=|>|\u2265)\s*(\d+)$")
"""Matches ``W >= 2``, an extent of at least two."""

_CHOICE = re.compile(r"\s+or\s+|\s*\|\s*")
"""Matches what is between two extents to choose from."""

_MOST_CHOICES = 8
"""Shapes that the extents of one leave to choose from."""

_MULTIPLE = re.compile(r"\b(\d+)([A-Za-z]\w*)")
"""Matches ``4H``, which is four times `H`."""

_SCALAR = re.compile(r"\b(\w+)`*:?[^\w,;.]*(?:[<>]=? ?[\d.]+ )?(?:is )?(?:a )?scalar( tensor)?\b")
"""Matches ``tau > 0 scalar tensor``."""

_ONE_NUMBER = r"(?:scalar|0-?d(?:im\w*)?|zero-dim\w*)"
_OF_ANOTHER_KIND = (
    r"(?![\w -]{0,12}\b(?:fields?|products?|functions?|potentials?|multiples?|loss|outputs?"
    r"|results?|per|for each|for every)\b)"
    r"(?![\w, -]{0,24}\bor\b(?! (?:none|a? ?(?:python )?(?:float|number))\b))"
)
"""Excludes ``scalar field`` and ``scalar or (C,)``, which may be several numbers."""

_IS_SCALAR = re.compile(
    rf"\b(\w+)`*(?: \(optional\))?(?:[:,]| is| are| [<>]=? ?[\d.]+)?(?: an?)?(?: optional)?"
    rf"(?: learn\w+)? \(?({_ONE_NUMBER}\b(?: tensor)?){_OF_ANOTHER_KIND}",
    re.I,
)
"""Matches ``surface: scalar tensor or None`` and ``tau > 0 scalar``."""

_SCALAR_NAMED = re.compile(
    rf"\b({_ONE_NUMBER}(?: tensors?)?) `*(\w+)\b{_OF_ANOTHER_KIND}(?:`* `*(\w+)\b)?", re.I
)
"""Matches ``a scalar bias`` and ``a 0-d tensor gain``, and the next word: ``scalar gain g``."""

_NOUN = re.compile(r"bias|gain|parameter|weight|offset|scale|shift|factor|exponent", re.I)

_NAMES_TENSOR = re.compile(r"tensor|\d|zero|bias|gain|parameter", re.I)
"""Matches a word for one number that is a tensor."""

_NO_EXTENTS = {"optional", "scalar", "required", "default"}
"""Words in parentheses behind a name that are no shape."""

_SCALAR_OR = re.compile(
    rf"\b(\w+)`*:[^().:;]{{0,48}}\(?\b(?:0-?d[\w-]*|scalar)\b\)?[^().:;]{{0,16}}\bor\b"
    rf"[^().:;]{{0,40}}{_AXES}"
)
"""Matches ``alpha: a level, 0-d or one per channel with shape (1, C)``, or a level (0-dim)."""

_INTEGER = re.compile(
    r"\b(\w+)`*:?\s*\((?:[^()]|\([^()]*\))*\):?\s*"
    r"(?:of )?(?:int(?:32|64|eger)?s?|long|ind(?:ex|ices))\b"
)
"""Matches ``index (N,) int64``."""

ANY_AXES = ("...", "*")
"""Any number of axes."""

_EXTENTS = (3, 4, 5, 2, 6, 7, 8)
"""Extents for names, a different one for each."""

Shapes = Mapping[str, tuple[str, ...]]
"""The extents that are stated, by the name of an argument."""


def documentation(function: Any) -> str:
    """The docstrings of a Function, of its forward, and of its module, and annotated shapes."""
    module = sys.modules.get(getattr(function, "__module__", ""))
    forward = getattr(function, "forward", None)
    owners = (each for each in (module, function, forward) if each is not None)
    return "\n".join([*(docstring_of(each) for each in owners), in_annotations(forward)])


def source(function: Any) -> str:
    """The source of a Function; empty if there is none."""
    try:
        return _source(function)
    except (OSError, TypeError):
        return ""


_source = lru_cache(maxsize=64)(source_of)


def stated(text: str, names: Collection[str]) -> Shapes:
    """The shapes that a text states of arguments with these names."""
    return {name: shapes[0] for name, shapes in alternatives(text, names).items()}


def alternatives(text: str, names: Collection[str]) -> Mapping[str, Sequence[tuple[str, ...]]]:
    """The shapes that a text states of arguments with these names: one, or several to choose from.

    Several names have a shape in common where a colon follows them, or ``each``.
    """
    text = _in_one_style(text)
    found: dict[str, list[tuple[str, ...]]] = {}
    for match in _STATED.finditer(text):
        *listed, name = (*re.findall(r"\w+", match[1]), match[2])
        is_common = match[3] or name == "each"
        alike = [each for each in listed if is_common and each in names]
        stated = (match[4], *_others(text, match.end(), {*names} - {name}))
        shapes = [shape for each in stated for shape in _shapes(each)]
        if re.search(rf"\b{_ONE_NUMBER}\b[^()]*,", text[match.end(2) : match.start(4)]):
            shapes.append(())
        shapes += _stacked(text, match.end(), shapes[-1], {*names})
        if _are_shapes(shapes):
            given = [each for each in (*alike, name) if each in names]
            # Those that are another shape of the same argument are known already.
            found |= {each: shapes for each in given if not {*shapes} <= {*found.get(each, ())}}
    for match in _LIST_OF.finditer(text):
        owners = {*re.findall(r"\w+", match[1])} & {*names} - found.keys()
        stated = (match[2], *_others(text, match.end(), names))
        shapes = [shape for each in stated for shape in _shapes(each)]
        if len(owners) == 1 and not _OF_RESULT.search(match[1]) and _are_shapes(shapes):
            found[owners.pop()] = shapes
    for match in _COUNTED.finditer(text):
        if match[1] in {*names} - found.keys() and _is_extent(match[2]):
            found[match[1]] = [(match[2], ANY_AXES[0]) if match[3] == "rows" else (match[2],)]
    return found


def _in_one_style(text: str) -> str:
    """The text with shapes as ``x: tensor (B, T)``, in whichever style its docstrings are."""
    text = _TYPED.sub(lambda match: f"{match[1]}:{'' if match[2] else ' tensor'}", text)
    return _BRACKETED.sub(r"\1(\2)", text)


def _shapes(text: str) -> Iterator[tuple[str, ...]]:
    """The shapes of some axes, of which several are meant by ``N or 1, C``."""
    axes = (_CHOICE.split(_AT_LEAST.sub(r"\1", axis)) for axis in _axes(text))
    return islice(product(*axes), _MOST_CHOICES)


def _are_shapes(shapes: Sequence[tuple[str, ...]]) -> bool:
    """Return True for lists of extents; one without any is a shape beside others only."""
    axes = [*chain.from_iterable(shapes)]
    return bool(axes) and _NO_EXTENTS.isdisjoint(axes) and all(map(_is_extent, axes))


def least_extents(text: str) -> dict[str, int]:
    """The least extents that a text states in shapes, by the names of the extents."""
    axes = (axis for match in re.finditer(_AXES, text) for axis in _axes(match[1]))
    found = filter(None, map(_AT_LEAST.match, axes))
    return {match[1]: int(match[3]) + (match[2] == ">") for match in found}


def scalars_or(text: str, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The axes that a text states of arguments which may also be scalars."""
    return {
        match[1]: tuple(_axes(match[2])) for match in _SCALAR_OR.finditer(text) if match[1] in names
    }


def scalars(text: str, names: Collection[str]) -> dict[str, bool]:
    """The arguments that a text calls one number, each with True if it says that it is a tensor."""
    text = _in_one_style(text)
    found: dict[str, bool] = {}
    pairs = [(match[1], match[2]) for match in _IS_SCALAR.finditer(text)]
    for match in _SCALAR_NAMED.finditer(text):
        is_noun = match[2] not in names and _NOUN.fullmatch(match[2])
        pairs.append((match[3] if is_noun else match[2], f"{match[1]} {match[2]}"))
    for name, kind in pairs:
        if name in names:
            found[name] = found.get(name, False) or bool(_NAMES_TENSOR.search(kind))
    return {
        name: is_tensor for name, is_tensor in found.items() if name not in stated(text, {name})
    }


def _others(text: str, start: int, names: Collection[str]) -> Iterator[str]:
    """The axes of further shapes that follow at a place, unless they are of another argument."""
    if match := _LISTED.match(text, start):
        yield from (each[1] for each in re.finditer(_AXES, match[1]))
        yield match[2]
        start = match.end()
    while (match := _OR.match(text, start)) and match[1] not in names:
        if _OF_RESULT.search(text, start, match.start(2)):
            return
        yield match[2]
        start = match.end()


def _stacked(
    text: str, start: int, shape: tuple[str, ...], names: set[str]
) -> Iterator[tuple[str, ...]]:
    """The shape with one more leading axis, if that is the next that follows.

    Its names may be shortened: ``(E, out, in)`` behind ``(out_features, in_features)``. What a
    result or another argument is said to have is none.
    """
    if match := _FURTHER.match(text, start):
        owner = match[1].split()[-1:]
        is_of_other = not names.isdisjoint(owner) or bool(_OF_RESULT.search(match[1]))
        if is_of_other or not _OF_STACK.search(match[1]):
            return
        first, *rest = (*_axes(match[2]), "")[:-1] or ("",)
        alike = len(rest) == len(shape) > 0 and all(
            own.startswith(short) for own, short in zip(shape, rest, strict=True)
        )
        if alike and first.isidentifier():
            yield (first, *shape)


def contractions(text: str, names: Collection[str]) -> dict[str, tuple[float, float]]:
    """Ranges for the entries of matrices that a text says to contract."""
    found = {}
    for name in names if _CONTRACTS.search(text) else ():
        for match in re.finditer(rf"^(\s*){re.escape(name)}`*:.*(?:\n\1\s+\S.*)*", text, re.M):
            if _CONTRACTS.search(match[0]):
                found[name] = _OF_CONTRACTION
    return found


def stated_ranges(text: str, names: Collection[str]) -> dict[str, tuple[float, float]]:
    """Ranges of the values of arguments that a text says to be positive, or in an interval."""
    found = {}
    for name in names if _INTERVAL.search(text) or _POSITIVE.search(text) else ():
        for line in re.findall(
            rf"^\s*(?::param )?{re.escape(name)}`*(?:\s*\(.*?\))?:.*", text, re.M
        ):
            if match := _INTERVAL.search(line):
                low, high = float(match[1]), float(match[2])
                margin = (high - low) / 10
                if low < high:
                    found[name] = low + margin, high - margin
            elif _POSITIVE.search(line):
                found[name] = _OF_POSITIVE
    return found


def integers(text: str, names: Collection[str]) -> frozenset[str]:
    """The arguments that a text says to be tensors of integers."""
    return frozenset(name for name in _INTEGER.findall(text) if name in names)


def extents_for(text: str, names: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Shapes of tensors as a text states them, with an extent for each name in it.

    What is computed from other extents is left out, with the argument that has it.
    """
    known: dict[str, int] = {}
    found: dict[str, tuple[int, ...]] = {
        name: () for name, _ in _SCALAR.findall(text) if name in names
    }
    for name, axes in stated(text, names).items():
        own = [axis for axis in axes if axis not in ANY_AXES]
        for axis in own:
            if axis.isidentifier() and axis not in known and len(known) < len(_EXTENTS):
                known[axis] = _EXTENTS[len(known)]
        values = [known.get(axis, int(axis) if axis.isdecimal() else 0) for axis in own]
        if all(values):
            found[name] = tuple(values)
    return found


def _axes(text: str) -> Iterator[str]:
    """The parts of a list, without an empty one after the last comma."""
    depth, part = 0, ""
    for sign in f"{text},".replace("'", "_prime"):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            if part.strip():
                yield part.strip()
            part = ""
        else:
            part += sign


def _is_extent(axis: str) -> bool:
    if axis.lower().rpartition(".")[2] in _TYPES:
        return False
    return axis in ANY_AXES or axis.isidentifier() or expression(axis) is not None


def expression(axis: str) -> ast.expr | None:
    """The tree of a computed extent, of names, numbers and operators; None for anything else."""
    try:
        found = ast.parse(_MULTIPLE.sub(r"\1*\2", axis), mode="eval").body
    except SyntaxError:
        return None
    known = (ast.BinOp, ast.Name, ast.Constant, ast.operator, ast.expr_context)
    return found if all(isinstance(node, known) for node in ast.walk(found)) else None
