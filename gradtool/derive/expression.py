"""Expressions: programs of tensor operations without statements, each with its value at a case.

An expression that is written twice is one object, so that common subexpressions are computed
once. Its value is computed as it is made: shapes and dtypes need no rules of their own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

OPERATORS: dict[str, tuple[str, Callable[..., Any]]] = {
    "add": ("+", operator.add),
    "sub": ("-", operator.sub),
    "mul": ("*", operator.mul),
    "div": ("/", operator.truediv),
    "floor_divide": ("//", operator.floordiv),
    "remainder": ("%", operator.mod),
    "pow": ("**", operator.pow),
    "matmul": ("@", operator.matmul),
    "bitwise_and": ("&", operator.and_),
    "bitwise_or": ("|", operator.or_),
    "bitwise_xor": ("^", operator.xor),
    "lt": ("<", operator.lt),
    "le": ("<=", operator.le),
    "gt": (">", operator.gt),
    "ge": (">=", operator.ge),
    "eq": ("==", operator.eq),
    "ne": ("!=", operator.ne),
    "neg": ("-", operator.neg),
    "bitwise_not": ("~", operator.invert),
}
"""The operators of Python by the name of the operation: the symbol, and the computation."""

_ELEMENTWISE_NAMES = """
add sub mul div pow exp log sqrt rsqrt sin cos tan tanh sigmoid relu abs neg where maximum
minimum clamp square reciprocal log1p expm1 erf gelu softplus silu lt le gt ge eq ne sign
conj bitwise_not bitwise_and clone contiguous softmax log_softmax cumsum flip zeros_like
ones_like sgn
"""
ELEMENTWISE = frozenset(_ELEMENTWISE_NAMES.split())
"""Operations whose result has the shape of an operand, if that is as large."""


class Expression:
    """A value of a program.

    Args:
        kind: ``leaf``, ``literal``, ``operator``, ``method``, ``function``, ``attribute``,
            ``item`` (of a tensor) or ``part`` (of a tuple).
        name: The operation; of a leaf, its name; of a literal, its text, with ``__0__`` and so on
            for its operands.
        args: The operands: expressions, Python values, and tuples, lists and slices of either.
        kwargs: Operands that are passed by name.
        value: The value at the case.
        path: The text of a function: ``torch.exp``.
        function: The function itself.
    """

    __slots__ = ("args", "function", "graph", "kind", "kwargs", "name", "order", "path", "value")

    def __init__(
        self,
        graph: Graph,
        kind: str,
        name: str,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        value: Any,
        path: str = "",
        function: Any = None,
    ) -> None:
        self.graph = graph
        self.kind = kind
        self.name = name
        self.args = args
        self.kwargs = dict(kwargs)
        self.value = value
        self.path = path
        self.function = function
        self.order = graph.count

    def operands(self) -> Iterator[Expression]:
        """Yield the expressions that this one is computed from."""
        yield from leaves(self.args)
        yield from leaves(tuple(self.kwargs.values()))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape at the case."""
        return tuple(getattr(self.value, "shape", ()))

    @property
    def ndim(self) -> int:
        """The number of dimensions at the case."""
        return len(self.shape)

    @property
    def is_tensor(self) -> bool:
        """True for a tensor; False for a number, a shape and the like."""
        return hasattr(self.value, "requires_grad")

    @property
    def is_complex(self) -> bool:
        """True for a tensor or a number with an imaginary part."""
        if self.is_tensor:
            return bool(self.value.dtype.is_complex)
        return isinstance(self.value, complex)

    def conj(self) -> Expression:
        """The conjugate: the expression itself where it is real."""
        return self.method("conj") if self.is_complex and self.is_tensor else self

    def method(self, name: str, *args: Any, **kwargs: Any) -> Expression:
        """The result of a method."""
        return self.graph.call("method", name, (self, *args), kwargs)

    def attribute(self, name: str) -> Expression:
        """An attribute that is a tensor."""
        return self.graph.call("attribute", name, (self,), {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.method(name, *args, **kwargs)

    def __getitem__(self, index: Any) -> Expression:
        return self.graph.call("item", "getitem", (self, index), {})

    def __add__(self, other: Any) -> Expression:
        return self.graph.operator("add", self, other)

    def __radd__(self, other: Any) -> Expression:
        return self.graph.operator("add", other, self)

    def __sub__(self, other: Any) -> Expression:
        return self.graph.operator("sub", self, other)

    def __rsub__(self, other: Any) -> Expression:
        return self.graph.operator("sub", other, self)

    def __mul__(self, other: Any) -> Expression:
        return self.graph.operator("mul", self, other)

    def __rmul__(self, other: Any) -> Expression:
        return self.graph.operator("mul", other, self)

    def __truediv__(self, other: Any) -> Expression:
        return self.graph.operator("div", self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return self.graph.operator("div", other, self)

    def __pow__(self, other: Any) -> Expression:
        return self.graph.operator("pow", self, other)

    def __matmul__(self, other: Any) -> Expression:
        return self.graph.operator("matmul", self, other)

    def __and__(self, other: Any) -> Expression:
        return self.graph.operator("bitwise_and", self, other)

    def __neg__(self) -> Expression:
        return self.graph.operator("neg", self)

    def __invert__(self) -> Expression:
        return self.graph.operator("bitwise_not", self)

    def __gt__(self, other: Any) -> Expression:
        return self.graph.operator("gt", self, other)

    def __ge__(self, other: Any) -> Expression:
        return self.graph.operator("ge", self, other)

    def __lt__(self, other: Any) -> Expression:
        return self.graph.operator("lt", self, other)

    def __le__(self, other: Any) -> Expression:
        return self.graph.operator("le", self, other)


class Graph:
    """All expressions of a program, each once.

    Args:
        torch: The module whose functions are called.
        torch_name: Its name in the user's module.
        has_math: The module imports ``math``.
    """

    def __init__(self, torch: Any, torch_name: str = "torch", *, has_math: bool = False) -> None:
        self.torch = torch
        self.torch_name = torch_name
        self.has_math = has_math
        self.names: dict[Expression, str] = {}
        """Names that rules give to what is known by them."""
        self.count = 0
        self.cotangents: dict[Expression, Expression] = {}
        """The outputs of the leaves that are cotangents. A jvp has the former only."""
        self._known: dict[Any, Expression] = {}

    def leaf(self, name: str, value: Any) -> Expression:
        """A value that the program is given."""
        return self._made(("leaf", name), "leaf", name, (), {}, value)

    def literal(self, value: Any, text: str, operands: tuple[Expression, ...] = ()) -> Expression:
        """A Python value with the text that computes it."""
        key = ("literal", text, tuple(map(id, operands)), type(value), repr(value))
        return self._made(key, "literal", text, operands, {}, value)

    def operator(self, name: str, *args: Any) -> Expression:
        """The result of an operator."""
        return self.call("operator", name, args, {})

    def function(self, name: str, *args: Any, **kwargs: Any) -> Expression:
        """The result of a function of the library, such as ``where`` or ``linalg.inv``."""
        target = self.torch
        for part in name.split("."):
            target = getattr(target, part)
        return self.call("function", name, args, kwargs, f"{self.torch_name}.{name}", target)

    def call(
        self,
        kind: str,
        name: str,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        path: str = "",
        function: Any = None,
        computed: Any = None,
    ) -> Expression:
        """The result of an operation, simplified.

        Args:
            kind: As of `Expression`.
            name: As of `Expression`.
            args: As of `Expression`.
            kwargs: As of `Expression`.
            path: As of `Expression`.
            function: As of `Expression`.
            computed: The value, if it is known.
        """
        from gradtool.derive.simplify import simplified

        if computed is None:
            simpler = simplified(self, name, args, kwargs)
            if simpler is not None:
                return simpler
        key = (name, _key(args), _key(kwargs))
        if key in self._known:
            return self._known[key]
        if computed is None:
            computed = computed_by(kind, name, values(args), values(dict(kwargs)), function)
        return self._made(key, kind, name, args, kwargs, computed, path, function)

    def _made(self, key: Any, *fields: Any) -> Expression:
        if key not in self._known:
            self.count += 1
            self._known[key] = Expression(self, *fields)
        return self._known[key]


def computed_by(
    kind: str, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], function: Any
) -> Any:
    """Return the value of an operation on values."""
    if kind == "operator":
        return OPERATORS[name][1](*args)
    if name == "setitem":
        changed = args[0].clone()
        changed[args[1]] = args[2]
        return changed
    if kind == "method":
        return getattr(args[0], name)(*args[1:], **kwargs)
    if kind == "attribute":
        return getattr(args[0], name)
    if kind in {"item", "part"}:
        return args[0][args[1]]
    return function(*args, **kwargs)


def values(value: Any) -> Any:
    """Put the values of expressions in their places."""
    if isinstance(value, Expression):
        return value.value
    if isinstance(value, slice):
        return slice(values(value.start), values(value.stop), values(value.step))
    if isinstance(value, dict):
        return {name: values(each) for name, each in value.items()}
    if type(value) in {tuple, list}:
        return type(value)(map(values, value))
    return value


def leaves(value: Any) -> Iterator[Expression]:
    """Yield the expressions in an operand."""
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, slice):
        yield from leaves((value.start, value.stop, value.step))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from leaves(each)


def needed(
    roots: Iterable[Expression], known: frozenset[Expression] | set[Expression] = frozenset()
) -> list[Expression]:
    """All that the roots are computed from, operands first; nothing beyond what is `known`."""
    found: dict[Expression, None] = {}
    pending = [(root, False) for root in reversed(list(roots))]
    while pending:
        each, is_ready = pending.pop()
        if each in found:
            continue
        if is_ready or each in known:
            found[each] = None
            continue
        pending.append((each, True))
        pending.extend((operand, False) for operand in reversed(list(each.operands())))
    return list(found)


def _key(value: Any) -> Any:
    if isinstance(value, Expression):
        return id(value)
    if isinstance(value, slice):
        return ("slice", _key(value.start), _key(value.stop), _key(value.step))
    if isinstance(value, Mapping):
        return tuple(sorted((name, _key(each)) for name, each in value.items()))
    if isinstance(value, tuple | list):
        return (type(value).__name__, *map(_key, value))
    return (type(value).__name__, repr(value))
