"""Recording of forward as expressions: its tensor operations, with the names of the source."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import FrameType, FunctionType
from typing import Any

from gradtool.adapters.common.binding import parameters_of
from gradtool.adapters.library import library
from gradtool.derive.expression import OPERATORS, Expression, Graph
from gradtool.derive.instrument import instrumented
from gradtool.derive.problem import NotDerivable
from gradtool.derive.python_values import (
    PLAIN,
    is_constant,
    is_plain,
    may_vary,
    operand_nodes,
    own_function,
    plain_text,
    shown,
    tensors,
)
from gradtool.derive.recorded import Context, Recorded

_SAME = frozenset(["detach", "clone", "contiguous", "view_as", "requires_grad_", "detach_", "cpu"])
"""Methods whose result has the values of the tensor, for the derivative too."""
_LEAVING = frozenset(["item", "numpy", "tolist", "__float__", "__int__", "__bool__", "__array__"])
_METADATA_NAMES = """
size dim numel stride element_size is_complex is_floating_point is_contiguous get_device
data_ptr nelement ndimension
"""
_METADATA = frozenset(_METADATA_NAMES.split())
_RANDOM_NAMES = """
rand randn randint bernoulli dropout rand_like randn_like randint_like normal multinomial
randperm uniform bernoulli_ uniform_ normal_ dropout1d dropout2d alpha_dropout
"""
_RANDOM = frozenset(_RANDOM_NAMES.split())
_FITS_ONE = "a derived backward would be right only for this function"
_FOLDERS = frozenset({"linalg", "fft", "special"})
_INFINITIES = (math.inf, -math.inf)


class Tracer:
    """Answers the requests of an instrumented function, and records what it computes."""

    def __init__(self, graph: Graph) -> None:
        self.recorded = Recorded(graph)
        self.sites: list[ast.AST] = []
        self._graph = graph
        self._expressions: dict[int, Expression] = {}
        self._alive: list[Any] = []
        self._scopes: list[dict[str, Expression | None]] = []
        self._instrumented: dict[Any, FunctionType] = {}
        self._tensor = library().Tensor

    # Arguments and names

    def enter(self, name: str, value: Any, needs_gradient: bool) -> None:
        """Declare an argument of forward."""
        if isinstance(value, self._tensor):
            leaf = self._graph.leaf(name, value)
            self._learn(value, leaf)
            self.recorded.inputs.append(leaf)
            self.recorded.names[leaf] = name
            if needs_gradient:
                self.recorded.active.add(leaf)
        else:
            self.recorded.inputs.append(None)
            self.declare(name, value)

    def declare(self, name: str, value: Any) -> None:
        """Declare an argument of forward that is no tensor."""
        self.recorded.parameters[name] = self._graph.leaf(name, value)

    def run(
        self,
        function: FunctionType,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        scope: dict[str, Expression | None],
    ) -> Any:
        """Run a function of the user's, each operation recorded."""
        if function not in self._instrumented:
            try:
                self._instrumented[function] = instrumented(function, self, self.sites)
            except (OSError, SyntaxError, TypeError) as error:
                raise NotDerivable(
                    f"the source of {function.__name__} cannot be read: {error}"
                ) from None
        self._scopes.append(scope)
        try:
            return self._instrumented[function](*args, **kwargs)
        finally:
            self._scopes.pop()

    def bind(self, site: int, name: str, value: Any, is_alone: bool) -> None:
        """Note that a name is given to a value."""
        scope = self._scopes[-1]
        if len(self._scopes) == 1 and name in {
            *self.recorded.parameters,
            *(i.name for i in self.recorded.inputs if i),
        }:
            self.recorded.rebound.add(name)
        if isinstance(value, self._tensor):
            expression = self._expressions.get(id(value))
            if expression is not None:
                self.recorded.names.setdefault(expression, name)
            scope.pop(name, None)
        elif is_alone:
            scope[name] = self._literal(value, self.sites[site])
        else:
            scope[name] = None

    def _learn(self, tensor: Any, expression: Expression) -> None:
        self._alive.append(tensor)
        self._expressions[id(tensor)] = expression

    # Requests

    def iterate(self, site: int, value: Any) -> Any:
        """Return the rows of a tensor, each of them recorded; anything else as it is."""
        if not isinstance(value, self._tensor):
            return value
        rows = []
        for number in range(len(value)):
            row = value[number]
            self._result("item", "getitem", (value, number), {}, row, site)
            rows.append(row)
        return rows

    def loop(self, site: int, value: Any) -> Any:
        """Return what a loop goes over, as `iterate` does."""
        node: Any = self.sites[site]
        rows = self.iterate(site, value)
        if hasattr(rows, "__len__"):
            lines = (node.body[0].lineno, node.end_lineno)
            self.recorded.loops[node.lineno] = (lines, len(rows))
        return rows

    def truth(self, site: int, value: Any) -> Any:
        """Refuse to branch on values of a tensor."""
        if isinstance(value, self._tensor) and self._is_active(value):
            raise self._cut(site, "branches on the values of a tensor")
        return value

    def attribute(self, site: int, owner: Any, name: str) -> Any:
        """Return an attribute."""
        found = getattr(owner, name)
        if isinstance(owner, self._tensor) and isinstance(found, self._tensor):
            if name == "data":
                self._learn(found, self._expression(owner, site))
            else:
                self._result("attribute", name, (owner,), {}, found, site)
        return found

    def item(self, site: int, owner: Any, index: Any) -> Any:
        """Return an item; of a tensor, it is recorded."""
        found = owner[index]
        if isinstance(owner, self._tensor):
            node = self.sites[site]
            assert isinstance(node, ast.Subscript)
            place = self._operand(index, node.slice, site)
            self._result("item", "getitem", (owner, place), {}, found, site)
        return found

    def operator(self, site: int, name: str, *operands: Any) -> Any:
        """Return the result of an operator."""
        found = OPERATORS[name][1](*operands)
        if isinstance(found, self._tensor):
            nodes = operand_nodes(self.sites[site])
            args = tuple(self._operand(v, n, site) for v, n in zip(operands, nodes, strict=True))
            self._result("operator", name, args, {}, found, site)
        return found

    def method(self, site: int, owner: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        """Return the result of a method, or of a function of a module or class."""
        if not isinstance(owner, self._tensor):
            return self.call(site, getattr(owner, name), *args, **kwargs)
        if name in _LEAVING and self._is_active(owner):
            raise self._cut(site, f"turns a tensor into numbers with .{name}()")
        is_change = name.endswith("_") and not name.endswith("__") and name not in _SAME
        before = self._before_change(owner, site) if is_change else None
        found = getattr(owner, name)(*args, **kwargs)
        if name in _METADATA or not tensors(found, self._tensor):
            return found
        if name in _SAME:
            self._learn(found, self._expression(owner, site))
            return found
        operands = (owner, *self._operands(args, site))
        named = self._keywords(kwargs, site)
        if before is None:
            self._result("method", name, operands, named, found, site)
        else:
            self._changed(owner, name[:-1], operands, named, before, site)
        return found

    def call(self, site: int, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the result of a call."""
        self._refuse_argument(site, function, args)
        own = own_function(function)
        if own is not None:
            return self._inner(site, own, args, kwargs)
        owner = getattr(function, "__self__", None)
        if inspect.ismethod(function) and isinstance(owner, type) and function.__name__ != "apply":
            own = own_function(function.__func__)
            if own is not None:
                return self._inner(site, own, (owner, *args), kwargs)
        if isinstance(owner, type) and issubclass(owner, library().Function):
            return self._inner_function(site, owner, args)
        if function is sum and inspect.isgenerator(args[0]):
            args = (list(args[0]), *args[1:])
        given = [*tensors(args, self._tensor), *tensors(kwargs, self._tensor)]
        if given and is_plain(function):
            return self._plain(site, function, args, kwargs, given)
        if "out" in kwargs:
            raise self._cut(site, "writes into out=")
        found = function(*args, **kwargs)
        if not self._is_of_library(function):
            if (
                given
                and any(self._is_active(each) for each in given)
                and not isinstance(owner, Context)
            ):
                if (
                    tensors(found, self._tensor)
                    and found is not given[0]
                    and not isinstance(function, type)
                ):
                    raise self._cut(
                        site, f"calls {shown(function)}, which gradtool cannot differentiate"
                    )
                if type(function).__module__.startswith("numpy") or (
                    getattr(function, "__module__", None) or ""
                ).startswith("numpy"):
                    raise self._cut(site, "leaves the engine for NumPy")
            return found
        if tensors(found, self._tensor):
            self._function(site, function, args, kwargs, found)
        return found

    def _refuse_argument(self, site: int, function: Any, args: Sequence[Any]) -> None:
        """Refuse a function that the caller passes: backward would fit no other."""
        parameters = self.recorded.parameters
        name = next((n for n, leaf in parameters.items() if leaf.value is function), None)
        if name is not None and any(self._is_active(each) for each in tensors(args, self._tensor)):
            raise self._cut(site, f"calls the argument `{name}`: {_FITS_ONE}")

    def store(self, site: int, owner: Any, index: Any, value: Any) -> None:
        """Assign to an item."""
        if not isinstance(owner, self._tensor):
            owner[index] = value
            return
        node: Any = self.sites[site]
        is_plain = isinstance(node, ast.Assign)
        target = node.targets[0] if is_plain else node.target
        before = self._before_change(owner, site)
        place = self._operand(index, target.slice, site)
        given = self._operand(value, node.value if is_plain else None, site)
        owner[index] = value
        self._changed(owner, "setitem", (owner, place, given), {}, before, site)

    def augmented(self, site: int, name: str, before: Any, value: Any) -> Any:
        """Change a variable by an operator."""
        inplace = {
            "div": "itruediv",
            "floor_divide": "ifloordiv",
            "remainder": "imod",
            "bitwise_and": "iand",
            "bitwise_or": "ior",
            "bitwise_xor": "ixor",
        }
        change = getattr(operator, inplace.get(name, f"i{name}"))
        if not isinstance(before, self._tensor):
            found = change(before, value)
            if isinstance(found, self._tensor):
                node = self.sites[site].value  # type: ignore[attr-defined]
                operands = (self._operand(before, None, site), self._operand(value, node, site))
                self._result("operator", name, operands, {}, found, site)
            return found
        saved = self._before_change(before, site)
        operand = self._operand(value, self.sites[site].value, site)  # type: ignore[attr-defined]
        found = change(before, value)
        if found is before:
            self._changed(before, name, (before, operand), {}, saved, site, "operator")
        else:
            self._result("operator", name, (before, operand), {}, found, site)
        return found

    def augmented_item(self, site: int, name: str, owner: Any, index: Any, value: Any) -> None:
        """Change an item by an operator."""
        if not isinstance(owner, self._tensor):
            owner[index] = OPERATORS[name][1](owner[index], value)
            return
        node: Any = self.sites[site]
        place = self._operand(index, node.target.slice, site)
        item = owner[index].clone()
        self._result("item", "getitem", (owner, place), {}, item, site)
        result = OPERATORS[name][1](item, value)
        self._result(
            "operator", name, (item, self._operand(value, node.value, site)), {}, result, site
        )
        self.store(site, owner, index, result)

    # Calls of several kinds

    def _inner(
        self, site: int, function: FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        operands = self._operands(args, site, lenient=True)
        named = self._keywords(kwargs, site, lenient=True)
        try:
            bound = inspect.signature(function).bind(*operands, **named)
        except TypeError:
            return function(*args, **kwargs)
        scope: dict[str, Expression | None] = {}
        for name, operand in bound.arguments.items():
            if isinstance(operand, Expression) and not operand.is_tensor:
                scope[name] = operand
            elif not isinstance(operand, Expression):
                scope[name] = None
        return self.run(function, args, kwargs, scope)

    def _inner_function(self, site: int, cls: Any, args: Sequence[Any]) -> Any:
        forward = cls.forward
        if cls.setup_context is library().Function.setup_context:
            args = (Context(tuple(True for _ in args)), *args)
            operands: tuple[Any, ...] = (None, *self._operands(args[1:], site, lenient=True))
        else:
            operands = self._operands(args, site, lenient=True)
        names = list(inspect.signature(forward).parameters)
        scope = {
            name: operand if isinstance(operand, Expression) else None
            for name, operand in zip(names, operands, strict=False)
            if not (isinstance(operand, Expression) and operand.is_tensor)
        }
        return self.run(forward, args, {}, scope)

    def _plain(
        self,
        site: int,
        function: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        given: list[Any],
    ) -> Any:
        if function is sum:
            total = args[1] if len(args) > 1 else 0
            for number, each in enumerate(self.iterate(site, args[0])):
                if number == 0 and isinstance(total, int) and total == 0:
                    total = each
                    continue
                following = total + each
                self._result("operator", "add", (total, each), {}, following, site)
                total = following
            return total
        if (
            function in {float, int, bool, complex, max, min, abs, round, pow, sorted, any, all}
            or getattr(function, "__module__", "") == "math"
        ):
            if function is abs and len(args) == 1:
                found = abs(args[0])
                self._result("method", "abs", (args[0],), {}, found, site)
                return found
            if any(self._is_active(each) for each in given):
                raise self._cut(site, f"turns a tensor into numbers with {function.__name__}()")
            return function(*args, **kwargs)
        if function in {zip, enumerate, list, tuple, reversed, iter, map}:
            args = [self.iterate(site, each) for each in args]
        return function(*args, **kwargs)

    def _function(
        self, site: int, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], found: Any
    ) -> None:
        node = self.sites[site]
        callee = ast.unparse(node.func) if isinstance(node, ast.Call) else function.__name__
        parts = callee.split(".")
        name = parts[-1] if parts[-1].isidentifier() else function.__name__
        own_name = str(getattr(function, "__name__", ""))
        if getattr(self._graph.torch, own_name, None) is function:
            name = own_name  # The code may call it by another one.
        if len(parts) > 1 and parts[-2] in _FOLDERS:
            name = f"{parts[-2]}.{name}"
        if name.endswith("_") and args and found is args[0]:
            raise self._cut(site, f"changes a tensor in place with {callee}")
        if name in _SAME:
            self._learn(found, self._expression(args[0], site))
            return
        root = getattr(getattr(node, "func", None), "value", node)
        path = callee if self._is_global(root) else f"{self._graph.torch_name}.{name}"
        self._result(
            "function",
            name,
            self._operands(args, site),
            self._keywords(kwargs, site),
            found,
            site,
            path,
            function,
        )

    def _is_global(self, node: ast.AST) -> bool:
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        locals_ = _locals()
        return not any(name in locals_ for name in names)

    def _is_of_library(self, function: Any) -> bool:
        module = getattr(function, "__module__", None) or type(function).__module__ or ""
        owner = getattr(function, "__self__", None)
        if inspect.ismodule(owner):
            module = owner.__name__
        return any(
            module == each or module.startswith(each + ".") for each in library().packages
        ) or module.startswith("torch")

    # Recording

    def _result(
        self,
        kind: str,
        name: str,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        found: Any,
        site: int,
        path: str = "",
        function: Any = None,
    ) -> None:
        if isinstance(found, self._tensor) and id(found) in self._expressions:
            return
        operands = tuple(self._tensor_operand(each, site) for each in args)
        made = self._graph.call(kind, name, operands, kwargs, path, function, computed=found)
        self._note(made, site)
        if isinstance(found, self._tensor):
            self._learn(found, made)
            return
        for number, each in enumerate(found):
            if isinstance(each, self._tensor):
                part = self._graph.call("part", "part", (made, number), {}, computed=each)
                self._note(part, site)
                self._learn(each, part)

    def _in_place(
        self, kind: str, name: str, operands: tuple[Any, ...], kwargs: Mapping[str, Any], found: Any
    ) -> Expression:
        """The expression of a tensor after a change in place."""
        old = operands[0]
        if name == "copy":
            source: Expression = operands[1]
            if source.shape == old.shape and source.value.dtype == old.value.dtype:
                return source
            return self._graph.call("method", "expand_as", (source, old), {}, computed=found)
        if name == "zero":
            zeros = self._graph.torch.zeros_like
            path = f"{self._graph.torch_name}.zeros_like"
            return self._graph.call("function", "zeros_like", (old,), {}, path, zeros)
        if name == "fill":
            zero = self._graph.call("operator", "mul", (0, old), {})
            return self._graph.call("operator", "add", (zero, operands[1]), {}, computed=found)
        return self._graph.call(kind, name, operands, kwargs, computed=found)

    def _tensor_operand(self, value: Any, site: int) -> Any:
        return self._expression(value, site) if isinstance(value, self._tensor) else value

    def _note(self, made: Expression, site: int) -> None:
        self.recorded.lines.setdefault(made, self._line(site))
        operands = list(made.operands())
        if any(each in self.recorded.active for each in operands) and may_vary(made.value):
            self.recorded.active.add(made)
        elif made.name in _RANDOM or any(each in self.recorded.random for each in operands):
            self.recorded.random.add(made)

    def _before_change(self, tensor: Any, site: int) -> Any:
        """Keep the values of all that a change in place may reach."""
        old = self._expression(tensor, site)
        copy = tensor.detach().clone()
        shared = [
            (each, each.detach().clone())
            for each in self._alive
            if each is not tensor and library().shares_memory(each, tensor) and each.data_ptr
        ]
        return old, copy, shared

    def _changed(
        self,
        tensor: Any,
        name: str,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        before: Any,
        site: int,
        kind: str = "method",
    ) -> None:
        old, copy, shared = before
        torch = library().torch
        for each, value in shared:
            if not torch.equal(each, value) and self._expressions.get(id(each)) is not old:
                raise self._cut(site, "changes memory that another tensor shares")
            self._expressions[id(each)].value = (
                value if self._expressions[id(each)] is old else self._expressions[id(each)].value
            )
        if old.value is tensor:
            old.value = copy
        if old in self.recorded.inputs:
            self.recorded.changed.add(old.name)
        operands = tuple(
            old if each is tensor else self._tensor_operand(each, site) for each in args
        )
        made = self._in_place(kind, name, operands, kwargs, tensor)
        self._note(made, site)
        self._expressions[id(tensor)] = made
        if old in self.recorded.names and old not in self.recorded.inputs:
            self.recorded.names.setdefault(made, self.recorded.names.pop(old))

    def _is_active(self, tensor: Any) -> bool:
        found = self._expressions.get(id(tensor))
        return found is not None and found in self.recorded.active

    def _expression(self, tensor: Any, site: int) -> Expression:
        if id(tensor) not in self._expressions:
            raise self._cut(site, "uses a tensor that no recorded operation created")
        return self._expressions[id(tensor)]

    # Operands

    def _operands(
        self, args: Sequence[Any], site: int, *, lenient: bool = False
    ) -> tuple[Any, ...]:
        node = self.sites[site]
        nodes: list[Any] = list(node.args) if isinstance(node, ast.Call) else []
        if any(isinstance(each, ast.Starred) for each in nodes) or len(nodes) != len(args):
            nodes = [None] * len(args)
        return tuple(
            self._operand(v, n, site, lenient=lenient) for v, n in zip(args, nodes, strict=True)
        )

    def _keywords(
        self, kwargs: Mapping[str, Any], site: int, *, lenient: bool = False
    ) -> dict[str, Any]:
        node = self.sites[site]
        nodes = (
            {each.arg: each.value for each in node.keywords} if isinstance(node, ast.Call) else {}
        )
        return {
            name: self._operand(each, nodes.get(name), site, lenient=lenient)
            for name, each in kwargs.items()
        }

    def _operand(self, value: Any, node: Any, site: int, *, lenient: bool = False) -> Any:
        if isinstance(value, Expression):
            return value
        if isinstance(value, self._tensor):
            if id(value) not in self._expressions and isinstance(node, ast.Name):
                self._learn(value, self._graph.literal(value, node.id))
            if lenient and id(value) not in self._expressions:
                return None
            return self._expression(value, site)
        if isinstance(value, slice):
            parts = (
                (node.lower, node.upper, node.step) if isinstance(node, ast.Slice) else (None,) * 3
            )
            ends = zip((value.start, value.stop, value.step), parts, strict=True)
            return slice(*[self._operand(each, part, site, lenient=lenient) for each, part in ends])
        if (type(value) in {tuple, list} and tensors(value, self._tensor)) or isinstance(
            node, ast.Tuple | ast.List
        ):
            nodes: Sequence[Any] = getattr(node, "elts", ())
            if len(nodes) != len(value) or any(isinstance(each, ast.Starred) for each in nodes):
                nodes = [None] * len(value)
            return type(value)(
                [
                    self._operand(v, n, site, lenient=lenient)
                    for v, n in zip(value, nodes, strict=True)
                ]
            )
        if value is None or value is Ellipsis:
            return value
        if is_constant(node):
            return value
        found = self._literal(value, node)
        if found is None and not lenient:
            unwritten = f"an object of type {type(value).__name__}"
            raise self._cut(site, f"passes {unwritten}, which cannot be written as code")
        return found

    def _literal(self, value: Any, node: Any) -> Any:
        """The text of a Python value: that of the source, else the value itself."""
        found = self._written(value, node) if node is not None else None
        if found is not None:
            return found
        if type(value) in PLAIN and value == value and value not in _INFINITIES:
            return value
        text = plain_text(value, self._graph.torch_name)
        return None if text is None else self._graph.literal(value, text)

    def _written(self, value: Any, node: Any) -> Any:
        names = _locals()
        operands: list[Expression] = []

        class Naming(ast.NodeTransformer):
            """Puts numbers in the places of local names."""

            def visit_Name(self, name: ast.Name) -> Any:
                operand = tracer._named(name.id, names)
                if operand is None:
                    return name
                if operand not in operands:
                    operands.append(operand)
                return ast.Name(f"__{operands.index(operand)}__", name.ctx)

        tracer = self
        if any(
            isinstance(each, ast.Lambda | ast.comprehension | ast.NamedExpr)
            for each in ast.walk(node)
        ):
            return None
        import copy

        try:
            written = Naming().visit(copy.deepcopy(node))
        except _UnknownNameError:
            return None
        text = ast.unparse(written)
        if text == "__0__":
            only = operands[0]
            return value if only.kind == "literal" and type(value) in PLAIN else only
        return self._graph.literal(value, text, tuple(operands))

    def _named(self, name: str, names: Mapping[str, Any]) -> Expression | None:
        """The expression of a local name; None for a global one."""
        scope = self._scopes[-1]
        if name not in names:
            return None
        value = names[name]
        if isinstance(value, self._tensor):
            found = self._expressions.get(id(value))
        elif name in scope:
            found = scope[name]
        elif len(self._scopes) == 1:
            found = self.recorded.parameters.get(name)
        else:
            found = None
        if found is None:
            if type(value) in PLAIN:
                return self._graph.literal(value, repr(value))
            raise _UnknownNameError
        return found

    def _line(self, site: int) -> int:
        return int(getattr(self.sites[site], "lineno", 0))

    def _cut(self, site: int, what: str) -> NotDerivable:
        line = self._line(site)
        return NotDerivable(f"line {line} {what}", line)


class _UnknownNameError(Exception):
    """A local name whose value cannot be written down."""


def _locals() -> dict[str, Any]:
    """The local names of the instrumented code that asked, those of enclosing blocks included."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    found: dict[str, Any] = {}
    while frame is not None:
        found = {**frame.f_locals, **found}
        if not frame.f_code.co_name.startswith("<"):
            break
        frame = frame.f_back
    return found


def record(
    cls: Any,
    graph: Graph,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    needs: Sequence[bool],
    names: Sequence[str],
) -> Recorded:
    """Record the forward of a Function.

    Raises:
        NotDerivable: It leaves what can be recorded.
    """
    tracer = Tracer(graph)
    for name, value, need in zip(names, args, needs, strict=True):
        tracer.enter(name, value, need)
    for parameter in parameters_of(cls):
        if parameter.name not in names and parameter.default is not inspect.Parameter.empty:
            tracer.declare(parameter.name, kwargs.get(parameter.name, parameter.default))
    given = tuple(args)
    if cls.setup_context is library().Function.setup_context:
        given = (Context(tuple(needs)), *given)
    torch = library().torch
    with torch.no_grad():
        output = tracer.run(cls.forward, given, kwargs, {})
    recorded = tracer.recorded
    recorded.is_tuple = isinstance(output, tuple | list)
    outputs: Iterable[Any] = output if isinstance(output, tuple | list) else (output,)
    for each in outputs:
        found = tracer._expressions.get(id(each)) if isinstance(each, library().Tensor) else None
        if isinstance(each, library().Tensor) and found is None:
            raise NotDerivable("forward returns a tensor that no recorded operation created")
        recorded.outputs.append(found)
    return recorded
