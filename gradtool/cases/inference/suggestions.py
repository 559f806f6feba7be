"""Values that the source suggests for a parameter, the likeliest first."""

from __future__ import annotations

import enum
import inspect
import itertools
import math
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from gradtool.adapters.library import library
from gradtool.cases.inference.annotations import class_of, evaluated, hashable
from gradtool.cases.inference.constructors import constructed, made_by_functions, made_by_methods
from gradtool.cases.inference.drafts import as_written, permutation, places
from gradtool.cases.inference.operators import (
    NEEDS_DEFINITE,
    Operator,
    is_of_tensor,
    is_shape,
)
from gradtool.cases.inference.reading import Reading
from gradtool.cases.inference.roles import Role, number_for, plain_values, roles
from gradtool.cases.inference.sparse import sparse_arguments
from gradtool.cases.inference.stand_ins import (
    Bell,
    Rounding,
    Slope,
    SmoothFunction,
    Supplier,
    is_of_module,
    matrices,
    smooth_module,
)
from gradtool.cases.inference.uses import Use

_LABELS = re.compile(r"(.*_)?labels?")
_FLOAT8 = re.compile(r"float8|fp8|f8")
_PERMUTATION = re.compile(r"(.*_)?perm(utation)?(_.*)?")

_DIMENSIONS = re.compile(r"(.*_)?(dim|axi|axe)s?")
"""Matches the name of dimensions."""

_INSTANCES = 3
"""Objects of a class that are tried for a parameter annotated with it."""


def suggested(reading: Reading, parameter: inspect.Parameter) -> Iterator[Any]:
    """Yield values for a parameter, the likeliest first."""
    name, use = parameter.name, reading.uses[parameter.name]
    if use.is_dtype:
        # A tensor would be accepted, for `x.to(other)` takes one too, and show nothing.
        dtypes = ("float8_e4m3fn", "float8_e5m2") if _FLOAT8.search(name) else ()
        for each in (*dtypes, "float64", "float32"):
            yield {"literal": getattr(library().torch, each)}
        return
    if _is_handed_on(name, reading.text):
        yield {"literal": []}
    known = reading.shapes.concrete()
    shape = known.get(name)
    names = [each.name for each in reading.parameters]
    factors = {each for each in names if reading.uses[each].is_factor and each not in known}
    sparse = sparse_arguments(names, known, factors)
    if name in sparse:
        yield sparse[name]
    yield from _not_numeric(reading, parameter, use)
    size = reading.shapes.sizes().get(name)
    if size is not None and shape is None:
        yield size
    if use.length is not None:
        yield from ([1] * use.length, [2] * use.length, [0] * use.length)
    is_cast = use.is_cast and not use.is_scalar
    is_whole = use.is_whole and name in reading.clues.undifferentiated
    is_word = re.search(r"\bstr\b", str(parameter.annotation))
    if use.is_sorted:
        yield _sorted_values(shape, requires_grad=name not in reading.clues.undifferentiated)
    elif not is_word and (use.is_index or is_cast or is_whole or is_length(name)):
        yield from _indices(reading, name, shape, use)
    elif use.is_mask:
        yield {"shape": list(shape or _base(reading)), "dtype": "bool"}
    elif use.matrix:
        yield from square_matrices(reading, name, use.matrix, _squared(shape))
    elif use.is_scalar:
        yield from (_tensor(each, reading.clues.range_of(name)) for each in ((), (1,)))
    elif shape is not None:
        if _LABELS.fullmatch(name) and name in reading.clues.undifferentiated:
            yield {"shape": list(shape), "dtype": "int64", "low": 0, "high": 2}
        yield _tensor(shape, reading.clues.range_of(name))
    if use.is_count and not use.attributes:
        named = [value for value in plain_values(parameter) if type(value) is int and value > 1]
        yield from dict.fromkeys((*named, 2, 1, 3))
    if name.endswith("kwargs"):
        yield {"literal": {}}
    yield from _of_plain(str(parameter.annotation))
    if use.loops and re.search(r"list|tuple|sequence|iterable", str(parameter.annotation), re.I):
        yield [{"shape": list(_base(reading))}, {"shape": list(_base(reading))}]
    if use.loops and _DIMENSIONS.fullmatch(name):
        yield from ([0], [1])
    if use.is_tested and not use.attributes:
        yield from (False, True)
    base = _base(reading)
    for role in roles(parameter, reading.clues):
        yield _of_role(role, base)


def _is_handed_on(name: str, text: str) -> bool:
    """Return True for positional arguments of another function: ``op(x, *args, **kwargs)``."""
    return bool(re.search(rf"[(,]\s*\*{re.escape(name)},\s*\*\*\w", text))


_OF_WORDS = re.compile(r"(?:[\w.]+\.)?(list|tuple|set|sequence|iterable)\[str\b", re.IGNORECASE)
_OF_VALUES = re.compile(r"(?:[\w.]+\.)?(dict|mapping)\[", re.IGNORECASE)
"""Match the annotations of a collection of words, and of values by name."""


def _of_plain(note: str) -> Iterator[Any]:
    """Yield a collection of plain values for an annotation such as ``list[str]``."""
    if _OF_VALUES.match(note):
        yield {"literal": {}}
    elif found := _OF_WORDS.match(note):
        make = {"tuple": tuple, "set": set}.get(found[1].lower(), list)
        yield {"literal": make(("a", "b"))}


def _of_role(role: Role, base: tuple[int, ...]) -> Any:
    return _tensor(base, role.within) if role.fill is None else role.fill(base)


def _tensor(shape: tuple[int, ...], within: tuple[float, float] | None) -> dict[str, Any]:
    spec: dict[str, Any] = {"shape": list(shape)}
    return spec if within is None else {**spec, "low": within[0], "high": within[1]}


def _not_numeric(reading: Reading, parameter: inspect.Parameter, use: Use) -> Iterator[Any]:
    """Yield members of enums, strings, callables and objects."""
    numbers = [each for each in plain_values(parameter) if type(each) is int]
    compared = [evaluated(value, reading.namespace) for value in map(hashable, use.values)]
    # A count that is compared with a number is a special case there.
    special = [each for each in compared if type(each) is int] if numbers else []
    for value in [*numbers[: len(special)], *compared]:
        if value is not None:
            yield as_written(value)
    if use.is_generator:
        yield None
    if use.may_be_none and parameter.name in reading.clues.undifferentiated:
        yield None
    note = parameter.annotation
    named = class_of(parameter, reading.namespace)
    if named is not None:
        yield from ({"literal": each} for each in _instances(named, reading.namespace))
    is_module = is_of_module(use.attributes) or (reading.differentiates and "Module" in str(note))
    yield from ({"literal": each} for each in _functions_of_backward(reading, parameter.name, use))
    is_adjoint = parameter.name in reading.clues.uses.adjoints
    if is_adjoint or (use.is_called and not reading.differentiates):
        yield from ({"literal": each} for each in linear_maps(reading))
    if use.supplies:
        yield from ({"literal": Supplier(shape)} for shape in _SUPPLIED)
    if use.is_called or is_module:
        yield {"literal": SmoothFunction()}
    if use.looped:
        yield from _functions(use, constructs=reading.constructs)
    if use.attributes == {"get"}:
        yield {"literal": {}}
    if use.keys and not use.attributes:
        yield from ({"literal": dict.fromkeys(use.keys, value)} for value in _IN_DICTS)
    if use.is_unused and parameter.name in reading.clues.undifferentiated:
        yield None
    own = any(not is_of_tensor(name) for name in use.attributes)
    if own and use.fills:
        yield {"literal": Operator(fills=True)}
    if own and use.numbers and not use.is_called:
        yield {"literal": _with_numbers(use)}
    is_tensor = any(map(is_of_tensor, use.attributes))
    if use.attributes and not is_tensor and not use.is_called and not is_module:
        for value in _OF_ATTRIBUTES:
            yield {"literal": SimpleNamespace(**dict.fromkeys(sorted(use.attributes), value))}
        if use.methods:
            yield from ({"literal": _with_methods(use, value)} for value in _OF_ATTRIBUTES)
            suppliers = map(Supplier, _SUPPLIED)
            yield from ({"literal": _with_methods(use, False, each)} for each in suppliers)
    if own:
        yield from ({"literal": each} for each in _operators(use.attributes, _base(reading)))


def _functions_of_backward(reading: Reading, name: str, use: Use) -> Iterator[Any]:
    """Yield what backward calls for the slope of forward, and what it is then the slope of."""
    uses = reading.clues.uses
    if name in uses.slopes:
        yield Bell()
    if name in uses.derivatives:
        yield Slope()
    elif use.is_called and uses.derivatives:
        yield SmoothFunction()
    if use.is_called and _ROUNDS.search(name):
        yield Rounding()


_ROUNDS = re.compile(r"(^|_)round(ing)?(_|$)")
"""Matches the name of a function that rounds."""

_SUPPLIED = ((3, 4), (5, 4), (4, 5), (4, 4), (4,), (3,), ())
"""Shapes of tensors that a function without arguments returns."""

_OF_ATTRIBUTES = (2, False)
"""Values of the attributes of an object that is not known: numbers, and options that are off."""


def _with_methods(use: Use, value: Any, method: Any = None) -> SimpleNamespace:
    """An object with a value for each attribute, and a linear map or `method` for each method."""
    methods = dict.fromkeys(sorted(use.methods), method or Operator())
    return SimpleNamespace(**{**dict.fromkeys(sorted(use.attributes), value), **methods})


def _with_numbers(use: Use) -> SimpleNamespace:
    """An object with a number for each attribute, and None for those that may be None."""
    numbers = {name: number_for(name.strip("_").lower()) for name in sorted(use.attributes)}
    return SimpleNamespace(**{**numbers, **dict.fromkeys(use.absent)})


_IN_DICTS = (0.5, False, None, 2)
"""Values of a dict whose keys are known."""


def _functions(use: Use, *, constructs: bool) -> Iterator[Any]:
    """Yield lists of two functions, or of two tuples of functions: blocks of a network."""
    if use.calls_items or constructs:
        made = (smooth_module if constructs else SmoothFunction) if use.looped == 1 else None
        if made is not None:
            yield {"literal": [made(), made()]}
        else:
            pairs = [tuple(smooth_module() for _ in range(use.looped)) for _ in range(2)]
            yield {"literal": pairs}


def switched_off(value: Any) -> Iterator[dict[str, Any]]:
    """Yield an unknown object with all its options off."""
    held = value.get("literal") if isinstance(value, dict) else None
    if isinstance(held, SimpleNamespace):
        yield {"literal": SimpleNamespace(**dict.fromkeys(vars(held), False))}


def _operators(attributes: Collection[str], base: tuple[int, ...]) -> Iterator[Operator]:
    if any(map(is_shape, attributes)):
        yield from (Operator(base[axis:]) for axis in range(len(base)))
        # One item and one channel of a batch, each by itself.
        yield Operator((1, *base[-2:]))
    yield Operator()
    yield Operator(at=0)


def linear_maps(reading: Reading) -> Iterator[Operator]:
    """Yield maps in place of a function or an object: a definite one first if a text asks so."""
    if NEEDS_DEFINITE.search(reading.text):
        yield Operator(definite=True)
    yield Operator()


def _instances(cls: type[Any], namespace: Mapping[str, Any]) -> Iterator[Any]:
    """Yield objects of a class: members of an enum, those of a module that has it, a new one."""
    own = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
    known = (*namespace.values(), *own.values())
    members = list(cls) if issubclass(cls, enum.Enum) else [e for e in known if type(e) is cls]
    yield from members[:_INSTANCES]
    if not members:
        made = itertools.chain(made_by_functions(cls), made_by_methods(cls) or _new(cls))
        yield from itertools.islice(made, _INSTANCES)


def _new(cls: type[Any]) -> Iterator[Any]:
    """Yield objects of a class, and of those below it, which make an abstract one."""
    made = (constructed(each) for each in (cls, *cls.__subclasses__()))
    return (each for each in made if each is not None)


def square_matrices(
    reading: Reading, name: str, kind: str, shape: tuple[int, ...]
) -> Iterator[dict[str, Any]]:
    """Yield square matrices; one with a structure only where no gradient is taken by its entries.

    A change of one entry leaves the matrices for which the gradient of forward holds. Positive
    definite ones stay so: they come first if a text speaks of them, and last otherwise.
    """
    if name in reading.clues.undifferentiated:
        yield {"values": matrices(kind, shape), "requires_grad": False}
    elif kind == "square":
        yield {"values": matrices(kind, shape)}
    elif kind == "positive definite":
        found: list[dict[str, Any]] = [{"shape": list(shape)}, {"values": matrices(kind, shape)}]
        yield from reversed(found) if reading.uses[name].is_said_matrix else found
    else:
        yield {"shape": list(shape)}


def _sorted_values(shape: tuple[int, ...] | None, *, requires_grad: bool) -> dict[str, Any]:
    """Ascending numbers around those of a standard normal, unevenly spaced."""
    count = shape[-1] if shape else 5
    values = [round(6.0 * (at + 0.2 * (at % 2)) / count - 3.0, 3) for at in range(count)]
    return {"values": values} if requires_grad else {"values": values, "requires_grad": False}


def is_length(name: str) -> bool:
    """Return True for the name of lengths, or of the places where pieces begin."""
    return name.endswith(("lengths", "lens", "_len", "seqlens", "offsets", "ptr"))


def _base(reading: Reading) -> tuple[int, ...]:
    """The shape of the first tensor of more than one entry, as far as it is known."""
    known = reading.shapes.concrete()
    shapes = (known[p.name] for p in reading.parameters if p.name in known)
    return next((shape for shape in shapes if math.prod(shape) > 1), (3, 4))


def _squared(shape: tuple[int, ...] | None) -> tuple[int, ...]:
    return (3, 3) if not shape or len(shape) < 2 else (*shape[:-2], shape[-1], shape[-1])


def _indices(
    reading: Reading, name: str, shape: tuple[int, ...] | None, use: Use
) -> Iterator[dict[str, Any]]:
    """Yield integer tensors: valid indices, lengths, or the ends of consecutive pieces."""
    base = _base(reading)
    first = base[0] if base else 2
    # Longer than the tensor, so that some must repeat; one for each row where they are gathered.
    own = shape if shape is not None else (first if use.gathers or use.places else first + 2,)
    is_permutation = bool(_PERMUTATION.fullmatch(name))
    if len(own) == 1 and (use.places or is_permutation):
        yield permutation(own[0]) if is_permutation else places(own[0])
        return
    if name.endswith(("seqlens", "offsets", "ptr")):
        count = own[0] if len(own) == 1 else 3
        pieces = sorted({0, *range(1, count - 1), max(base[0] if base else 3, count - 1)})
        yield {"values": pieces if "cu_" in name or "ptr" in name else list(range(count))}
    elif is_length(name) and len(own) == 1:
        yield {"values": [2 - (at % 2) for at in range(own[0])]}
    known = [extent for each in reading.shapes.concrete().values() for extent in each]
    spec = {"dtype": "int64", "low": 0, "high": min([2, *known]) or 1}
    if use.gathers and shape is None and len(base) > 1:
        # One entry along the gathered dimension: more may repeat, and hide what scatters them.
        yield {"shape": [base[0]], **spec}
    yield {"shape": list(own), **spec}
