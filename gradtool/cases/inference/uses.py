"""Uses of parameters that show what kind of value they take: read from the source of forward."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gradtool.adapters.common.parsed_source import walked
from gradtool.cases.inference.helpers import Helper, parameters_of, passed_to

_INDEXING = {
    "gather": 1,
    "index_select": 1,
    "index_add": 1,
    "index_add_": 1,
    "index_copy": 1,
    "scatter": 1,
    "scatter_": 1,
    "scatter_add": 1,
    "scatter_add_": 1,
    "take": 0,
    "embedding": 0,
}
"""Methods that take an index, and its place among their arguments."""

_ALONG_ONE = ("gather", "scatter")
"""The beginnings of those that take it along one dimension only."""

_POSITIVE_DEFINITE = {"cholesky", "cholesky_ex", "cholesky_inverse"}
_SYMMETRIC = {"eigh", "eigvalsh", "symeig"}
_SQUARE = {"inv", "inverse", "det", "slogdet", "logdet", "matrix_exp", "solve"}

SAYS_SQUARE = re.compile(r"\bsquare[- ]matri(x|ces)\b", re.IGNORECASE)
"""Matches a text about a square matrix."""

_REARRANGE = {"contiguous", "detach", "flatten", "permute", "reshape", "squeeze", "t", "to",
              "transpose", "unsqueeze", "view"}  # fmt: skip
"""Methods whose result has the entries of their tensor."""

_TAKES_COUNTS = {"view", "reshape", "new_zeros", "new_empty", "expand", "repeat", "zeros", "arange"}
"""Methods whose arguments are extents."""


class Use(msgspec.Struct):
    """The uses of one parameter in the source."""

    values: list[Any] = msgspec.field(default_factory=list)
    """Plain values that it is compared with."""
    is_index: bool = False
    """It indexes a tensor."""
    gathers: bool = False
    """It does so along one dimension only, by ``gather`` or ``scatter``."""
    places: bool = False
    """It says where values are written, of which repeated ones would lose all but the last."""
    is_mask: bool = False
    is_dtype: bool = False
    is_called: bool = False
    may_be_none: bool = False
    """It is compared with None."""
    is_tested: bool = False
    """It is the condition of an ``if``, and nothing else is known of it."""
    is_cast: bool = False
    """It is converted to a floating dtype, so it has another."""
    is_whole: bool = False
    """It is converted to integers."""
    is_scalar: bool = False
    """Its only entry is taken as a number: ``x.item()``."""
    length: int | None = None
    """The number of values that it is unpacked to."""
    is_generator: bool = False
    is_count: bool = False
    """It is an extent, or the end of a range."""
    is_unused: bool = False
    """Nothing but the context keeps it."""
    matrix: str | None = None
    """``positive definite``, ``symmetric``, ``orthogonal``, ``lower triangular`` or ``square``."""
    is_said_matrix: bool = False
    """A text says what kind of matrix it is, or a root of its eigenvalues shows it."""
    loops: bool = False
    """It is iterated over."""
    looped: int = 0
    """The number of values that each of its items is unpacked to; 1 for the item itself."""
    calls_items: bool = False
    """Its items are called."""
    supplies: bool = False
    """It is called without arguments."""
    attributes: set[str] = msgspec.field(default_factory=set)
    methods: set[str] = msgspec.field(default_factory=set)
    """Those attributes that are called."""
    fills: bool = False
    """One of them is called with several arguments for what it does to them."""
    numbers: set[str] = msgspec.field(default_factory=set)
    """Those attributes that arithmetic or a clamp takes."""
    absent: set[str] = msgspec.field(default_factory=set)
    """Those attributes that are compared with None."""
    is_sorted: bool = False
    """It is searched, so it ascends."""
    is_factor: bool = False
    """A matrix is multiplied by it, which is a matrix too."""
    keys: dict[str, None] = msgspec.field(default_factory=dict)
    """Strings that index it, in the order in which they do."""


def read_uses(node: ast.AST, names: tuple[str, ...], text: str) -> dict[str, Use]:
    """Read the uses of the parameters `names` in forward; `text` has its messages."""
    uses = {name: Use() for name in names}
    node = _by_their_names(node, names)
    counted = dict.fromkeys(names, 0)
    for found in walked(node):
        if isinstance(found, ast.Name) and found.id in counted:
            counted[found.id] += 1
        _seen(uses, found)
        match found:
            case ast.Call(func=ast.Attribute(attr="mm"), args=[*_, ast.Name(id=factor)]):
                if factor in uses:
                    uses[factor].is_factor = True
    _computed_matrices(uses, node)
    for name in _of_sparse_places(uses, node):
        uses[name].is_index = True
    factored = {name for name, use in uses.items() if use.matrix}
    for name, use in uses.items():
        said = _said(text, name, len(names)) if name in (factored or names) else None
        use.is_said_matrix = said is not None
        use.matrix = said or use.matrix
        kept = _kept(node, name)
        use.is_unused = counted[name] <= kept
    for name in _with_identity_added(uses, node):
        uses[name].matrix, uses[name].is_said_matrix = uses[name].matrix or "square", True
    for name in _with_rooted_eigenvalues(uses, node):
        uses[name].matrix, uses[name].is_said_matrix = "positive definite", True
    return uses


def _by_their_names(node: ast.AST, names: Collection[str]) -> ast.AST:
    """The body with ``ctx.mode == "a"`` as ``mode == "a"`` where forward keeps a parameter so."""
    kept = {
        ast.unparse(target): found.value.id
        for found in walked(node)
        if isinstance(found, ast.Assign)
        and isinstance(found.value, ast.Name)
        and found.value.id in names
        for target in found.targets
        if isinstance(target, ast.Attribute)
    }

    class Renamed(ast.NodeTransformer):
        def visit_Attribute(self, found: ast.Attribute) -> ast.expr:
            is_read = isinstance(found.ctx, ast.Load) and ast.unparse(found) in kept
            if is_read:
                return ast.copy_location(ast.Name(kept[ast.unparse(found)], found.ctx), found)
            self.generic_visit(found)
            return found

    return Renamed().visit(copy.deepcopy(node)) if kept else node


def merge_helpers(uses: dict[str, Use], node: ast.AST, helpers: Mapping[str, Helper]) -> None:
    """Add the uses in helpers, and as an index in those that these call, by their names."""
    for found in walked(node):
        if not isinstance(found, ast.Call):
            continue
        helper = helpers.get(ast.unparse(found.func))
        if helper is None:
            continue
        own = parameters_of(helper)
        inside = read_uses(helper.node, own, "")
        # What is far from forward may be a check of types, for any argument.
        further = {name: Use() for name in own}
        merge_helpers(further, helper.node, helper.inner)
        for name, use in further.items():
            inside[name].is_index |= use.is_index
            inside[name].is_whole |= use.is_whole
            inside[name].gathers |= use.gathers
        for name, argument in passed_to(helper, found):
            if isinstance(argument, ast.Name) and argument.id in uses and name in inside:
                _merge(uses[argument.id], inside[name])


def merge_kept(uses: dict[str, Use], bodies: Iterable[ast.FunctionDef]) -> None:
    """Add what backward shows of the parameters that it takes from the context by their names."""
    for body in bodies:
        kept = tuple(
            each.id
            for node in walked(body)
            if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("ctx.")
            for target in node.targets
            for each in ast.walk(target)
            if isinstance(each, ast.Name) and each.id in uses
        )
        for name, use in read_uses(body, kept, "").items():
            uses[name].is_index |= use.is_index
            uses[name].gathers |= use.gathers


def merge_uses(uses: dict[str, Use], others: Mapping[str, Use]) -> None:
    """Add the uses of the same names elsewhere."""
    for name, other in others.items():
        _merge(uses[name], other)
        uses[name].attributes |= other.attributes
        uses[name].methods |= other.methods
        uses[name].numbers |= other.numbers
        uses[name].absent |= other.absent


def _merge(use: Use, other: Use) -> None:
    use.values += other.values
    use.is_index |= other.is_index
    use.gathers |= other.gathers
    use.places |= other.places
    use.is_dtype |= other.is_dtype
    use.is_whole |= other.is_whole
    use.is_scalar |= other.is_scalar
    use.is_sorted |= other.is_sorted
    use.is_called |= other.is_called
    use.is_count |= other.is_count
    use.keys |= other.keys
    use.looped = use.looped or other.looped
    use.matrix = use.matrix or other.matrix
    use.is_said_matrix |= other.is_said_matrix
    use.calls_items |= other.calls_items
    use.supplies |= other.supplies


def _kept(node: ast.AST, name: str) -> int:
    """Count the assignments that only keep a parameter on the context."""
    return sum(
        isinstance(found, ast.Assign)
        and isinstance(found.value, ast.Name)
        and found.value.id == name
        and all(isinstance(target, ast.Attribute) for target in found.targets)
        for found in walked(node)
    )


_KINDS = {
    "positive definite": "positive definite",
    "spd": "positive definite",
    "orthogonal": "orthogonal",
    "lower triangular": "lower triangular",
    "symmetric": "symmetric",
}
"""Kinds of matrices, by what texts call them."""


def _said(text: str, name: str, count: int) -> str | None:
    """The kind of matrix that a message asks for."""
    lowered = text.lower()
    for word, kind in _KINDS.items():
        for found in re.finditer(rf"\b{word}\b", lowered):
            near = text[max(0, found.start() - 60) : found.start() + 60]
            if count == 1 or re.search(rf"\b{re.escape(name)}[ .:]", near):
                return kind
    return "square" if count == 1 and SAYS_SQUARE.search(text) else None


def _seen(uses: dict[str, Use], node: ast.AST) -> None:
    _attributes(uses, node)
    match node:
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            _values(uses, left, ops, comparators)
        case ast.Call():
            _called(uses, node)
            match node.func:
                case ast.Attribute(value=ast.Name(id=name), attr=method) if name in uses:
                    uses[name].methods.add(method)
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[_, _, *_])
        ) if name in uses:
            uses[name].fills = True
        case ast.If(test=test) | ast.IfExp(test=test):
            _tested(uses, test)
        case ast.Assign(targets=[ast.Tuple(elts=elts)], value=ast.Name(id=name)) if name in uses:
            uses[name].length = len(elts)
        case ast.For(iter=over) | ast.comprehension(iter=over):
            for name in _looped(over):
                _mark(uses, name, "loops")
            _items(uses, node)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))) if (
            name in uses
        ):
            uses[name].keys[key] = None
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            pass  # ``x.shape[dim]`` takes the number of an axis.
        case ast.Subscript(slice=ast.Name(id=name), ctx=ast.Store()) if name in uses:
            uses[name].is_index = uses[name].places = True
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            _indexed(uses, name, index)
        case ast.Subscript(slice=index):
            _indexed(uses, None, index)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in uses:
            uses[name].attributes.add(attribute)


_BOUNDED = {"clamp", "clamp_", "clip", "clamp_min", "clamp_max"}


def _attributes(uses: dict[str, Use], node: ast.AST) -> None:
    """Read ``x / space.scale``, ``clamp(y, space.low, space.high)`` and ``space.bias is None``."""
    match node:
        case ast.BinOp(left=left, right=right):
            sides = [left, right]
        case ast.Call(func=ast.Attribute(attr=method), args=args) if method in _BOUNDED:
            sides = args
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()]):
            for name, attribute in _of_parameter(uses, [left]):
                uses[name].absent.add(attribute)
            return
        case _:
            return
    for name, attribute in _of_parameter(uses, sides):
        uses[name].numbers.add(attribute)


def _of_parameter(uses: dict[str, Use], nodes: Iterable[ast.expr]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in uses:
                yield name, attribute


def _items(uses: dict[str, Use], node: ast.For | ast.comprehension) -> None:
    """Read ``for f, g in blocks`` and ``for i, block in enumerate(blocks): block(x)``."""
    target: ast.expr = node.target
    match node.iter:
        case ast.Name(id=name) | ast.Call(func=ast.Name(id="reversed"), args=[ast.Name(id=name)]):
            pass
        case ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name(id=name), *_]) if isinstance(
            target, ast.Tuple
        ):
            target = target.elts[-1]
        case _:
            return
    if name in uses:
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        own = {each.id for each in parts if isinstance(each, ast.Name)}
        body = node.body if isinstance(node, ast.For) else []
        called = {call.func.id for call in _calls_of_names(body)}
        uses[name].looped = len(parts)
        uses[name].calls_items |= bool(own & called)


def _calls_of_names(body: Iterable[ast.stmt]) -> Iterator[Any]:
    for statement in body:
        for found in ast.walk(statement):
            if isinstance(found, ast.Call) and isinstance(found.func, ast.Name):
                yield found


def _mark(uses: dict[str, Use], name: str, flag: str) -> None:
    if name in uses:
        setattr(uses[name], flag, True)


def _mark_index(uses: dict[str, Use], index: ast.expr, method: str) -> None:
    """Mark the first parameter in the index that a method takes."""
    name = next((each for each in _names(index) if each in uses), None)
    if name is not None:
        uses[name].is_index = True
        uses[name].gathers |= method.startswith(_ALONG_ONE)


def _names(node: ast.AST) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _indexed(uses: dict[str, Use], indexed: str | None, index: ast.expr) -> None:
    """Read ``x[index]``, ``x[rows, index]`` and ``x[mask]``."""
    for part in index.elts if isinstance(index, ast.Tuple) else [index]:
        match part:
            case ast.Name(id=name) if name in uses and name != indexed:
                uses[name].is_index = True
            case ast.Subscript(value=ast.Name(id=name)) if name in uses:
                uses[name].is_index = True
            case ast.BinOp(left=ast.Name(id=name)) if name in uses:
                uses[name].is_index = True


def _values(
    uses: dict[str, Use], left: ast.expr, ops: Iterable[ast.cmpop], others: Iterable[ast.expr]
) -> None:
    """Read ``mode == "periodic"`` and ``mode in ("sum", "mean")``."""
    sides = [left, *others]
    for operator, one, other in zip(ops, sides, sides[1:], strict=False):
        if isinstance(one, ast.Name) and isinstance(other, ast.Constant) and other.value is None:
            _mark(uses, one.id, "may_be_none")
        for name, value in ((one, other), (other, one)):
            if isinstance(name, ast.Name) and name.id in uses:
                uses[name.id].values += _listed(
                    value, is_container=isinstance(operator, ast.In | ast.NotIn)
                )


def _listed(node: ast.expr, *, is_container: bool) -> list[Any]:
    parts = (
        node.elts if is_container and isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    )
    found: list[Any] = []
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str | int):
            found.append(part.value)
        elif isinstance(part, ast.Attribute):
            found.append(part)  # A member of an enum, which the caller evaluates.
    return found


def _tested(uses: dict[str, Use], test: ast.expr) -> None:
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    for part in parts:
        inner = part.operand if isinstance(part, ast.UnaryOp) else part
        if isinstance(inner, ast.Name):
            _mark(uses, inner.id, "is_tested")


def _called(uses: dict[str, Use], node: ast.Call) -> None:
    match node.func:
        case ast.Name(id=name) if name in uses:
            uses[name].is_called = True
            uses[name].supplies |= not node.args and not node.keywords
        case ast.Name(id="range"):
            for argument in node.args:
                if isinstance(argument, ast.Name):
                    _mark(uses, argument.id, "is_count")
        case ast.Name(id="int") if len(node.args) == 1:
            for name in _names(node.args[0]):
                if _is_entry(node.args[0]) and not _is_float(node.args[0]):
                    _mark(uses, name, "is_index")
                break
        case ast.Attribute(value=owner, attr=method):
            _method(uses, node, owner, method)
            is_to_whole = method in _TO_WHOLE or (method == "to" and _gives_whole(node))
            if is_to_whole and (whole := name_behind(owner, _REARRANGE)):
                _mark(uses, whole, "is_whole")
    for keyword in node.keywords:
        if keyword.arg == "index" and isinstance(node.func, ast.Attribute):
            _mark_index(uses, keyword.value, node.func.attr)
        elif isinstance(keyword.value, ast.Name) and keyword.value.id in uses:
            if keyword.arg == "dtype":
                uses[keyword.value.id].is_dtype = True
            elif keyword.arg == "generator":
                uses[keyword.value.id].is_generator = True


def _is_entry(node: ast.expr) -> bool:
    """Return True for ``x[0]``, but not for the extent ``x.shape[0]``."""
    match node:
        case ast.Subscript(value=ast.Attribute(attr="shape" | "strides")):
            return False
    return isinstance(node, ast.Subscript)


def _is_float(node: ast.expr) -> bool:
    return "float" in ast.unparse(node)


def _method(uses: dict[str, Use], node: ast.Call, owner: ast.expr, method: str) -> None:
    arguments = [each for each in node.args if not isinstance(each, ast.Starred)]
    is_module = isinstance(owner, ast.Name) and owner.id not in uses
    if method in _INDEXING and arguments:
        at = _INDEXING[method] + (is_module and method not in {"embedding"} and _is_library(owner))
        if at < len(arguments):
            _mark_index(uses, arguments[at], method)
    if method in {"searchsorted", "bucketize"} and arguments:
        searched = arguments[0 if method == "searchsorted" else -1]
        if isinstance(searched, ast.Name):
            _mark(uses, searched.id, "is_sorted")
    if method in {"masked_fill", "masked_fill_", "masked_select"} and arguments:
        for name in _names(arguments[0]):
            _mark(uses, name, "is_mask")
    if method == "where" and arguments and isinstance(arguments[0], ast.Name | ast.Subscript):
        for name in _names(arguments[0]):
            _mark(uses, name, "is_mask")
    if isinstance(owner, ast.Name) and owner.id in uses:
        _of_own(uses[owner.id], method, arguments, uses)
    if method in _TAKES_COUNTS:
        for each in arguments:
            if isinstance(each, ast.Name):
                _mark(uses, each.id, "is_count")
    kind = _kind_of_matrix(method)
    if kind is not None:
        for each in (owner, *arguments[:1]):
            if isinstance(each, ast.Name) and each.id in uses:
                uses[each.id].matrix = uses[each.id].matrix or kind


def _computed_matrices(uses: dict[str, Use], node: ast.AST) -> None:
    """Read what kind of matrix is computed from a parameter: ``cholesky(0.5 * (k + k.mT))``."""
    sources = _sources(uses, node)
    for found in walked(node):
        match found:
            case ast.Call(func=called, args=[matrix, *_]):
                kind = _kind_of_matrix(_name_of(called))
                roots = {sources[each] for each in _names(matrix) if each in sources}
                whole = [each for each in roots if uses[each].attributes] or list(roots)
                if kind in {"positive definite", "symmetric"} and len(whole) == 1:
                    uses[whole[0]].matrix = uses[whole[0]].matrix or kind


def _name_of(called: ast.expr) -> str:
    """The name of what is called; of a wrapper such as ``_eigh`` that of what it wraps."""
    match called:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name.lstrip("_")
    return ""


def _with_identity_added(uses: Mapping[str, Use], node: ast.AST) -> Iterator[str]:
    """Yield the parameters ``a`` of ``torch.eye(a.shape[-1]) + a``, which are square."""
    identities: dict[str, ast.expr] = {}
    for found in walked(node):
        match found:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                identities[name] = value
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                for one, other in ((left, right), (right, left)):
                    made = identities.get(one.id) if isinstance(one, ast.Name) else one
                    if isinstance(other, ast.Name) and other.id in uses and made is not None:
                        size = re.escape(other.id) + r"\.(shape\[-1\]|size\(-1\))"
                        if re.match(rf"(\w+\.)?eye\({size}", ast.unparse(made)):
                            yield other.id


def _sources(uses: Mapping[str, Use], node: ast.AST) -> dict[str, str]:
    """The parameter from which each local name is computed, if from a single one."""
    sources = {name: name for name in uses}
    for found in walked(node):
        match found:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                roots = {sources[each] for each in _names(value) if each in sources}
                if len(roots) == 1 and name not in uses:
                    sources[name] = roots.pop()
    return sources


_SPARSE = {"sparse_coo_tensor", "sparse_csr_tensor", "sparse_csc_tensor"}
"""Functions that take the places of entries before the entries."""


def _of_sparse_places(uses: Mapping[str, Use], node: ast.AST) -> Iterator[str]:
    """Yield the parameters from which the places of the entries of a sparse tensor are computed."""
    sources = _sources(uses, node)
    values = {
        each.targets[0].id: each.value
        for each in walked(node)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }
    for found in walked(node):
        if isinstance(found, ast.Call) and _name_of(found.func) in _SPARSE:
            named = [each.value for each in found.keywords if str(each.arg).endswith("indices")]
            for places in named or found.args[:1]:
                whole = values.get(places.id, places) if isinstance(places, ast.Name) else places
                yield from (sources[name] for name in _names(whole) if name in sources)


_OF_POSITIVE = {"sqrt", "rsqrt", "log"}
"""Methods that need positive numbers."""


def _with_rooted_eigenvalues(uses: Mapping[str, Use], node: ast.AST) -> set[str]:
    """The parameters of whose eigenvalues a root or a logarithm is taken."""
    sources = _sources(uses, node)
    eigenvalues: dict[str, set[str]] = {}
    for found in walked(node):
        match found:
            case ast.Assign(
                targets=[ast.Tuple(elts=[ast.Name(id=values), _])],
                value=ast.Call(func=called, args=[matrix, *_]),
            ) if _name_of(called) in _SYMMETRIC:
                eigenvalues[values] = {sources[each] for each in _names(matrix) if each in sources}
    rooted = set[str]()
    for found in walked(node):
        match found:
            case ast.Call(func=ast.Attribute(attr=method)) if method in _OF_POSITIVE:
                for name in _names(found):
                    rooted |= eigenvalues.get(name, set())
    return rooted


def _looped(node: ast.expr) -> Iterator[str]:
    """The names ``a`` and ``b`` of ``a``, ``zip(a, b)`` and ``enumerate(a)`` in a loop."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Call(func=ast.Name(id="zip" | "enumerate" | "reversed"), args=args):
            yield from (arg.id for arg in args if isinstance(arg, ast.Name))


def name_behind(node: ast.expr, methods: Collection[str]) -> str | None:
    """The name ``x`` of ``x`` and of calls of such methods in turn, as in ``x.detach().cpu()``."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in methods:
            return name_behind(owner, methods)
    return None


_TO_WHOLE = {"int", "long"}
"""Methods that convert to integers."""

_WHOLE = {"int", "int32", "int64", "long"}
"""Dtypes of integers."""


def _gives_whole(call: ast.Call) -> bool:
    """Return True for ``x.to(torch.int64)``, also by name."""
    given = [*call.args, *(each.value for each in call.keywords if each.arg == "dtype")]
    return any(isinstance(each, ast.Attribute) and each.attr in _WHOLE for each in given)


def _is_library(owner: ast.expr) -> bool:
    return isinstance(owner, ast.Name) and owner.id in {"torch", "F"}


def _of_own(use: Use, method: str, arguments: list[ast.expr], uses: dict[str, Use]) -> None:
    if method == "to" and arguments:
        first = arguments[0]
        use.is_cast |= isinstance(first, ast.Attribute) and first.attr == "dtype"
        if isinstance(first, ast.Name) and first.id in uses:
            uses[first.id].is_dtype = True
    elif method in {"float", "double"} and not arguments:
        use.is_cast = True
    elif method == "item":
        use.is_scalar = True


def _kind_of_matrix(method: str) -> str | None:
    if method in _POSITIVE_DEFINITE:
        return "positive definite"
    if method in _SYMMETRIC:
        return "symmetric"
    return "square" if method in _SQUARE else None
