"""The kinds of primitive that most of the table is made of, each declared by its calculus alone."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._levels import alive, highest
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.batching import BatchRule, unchanged
from gradtool.engine._ops.core.dtype_support import COMPLEX, EVERY, REAL, Dtypes, not_implemented
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.narrow import in_single, rounded
from gradtool.engine._ops.core.parameters import positional_names
from gradtool.engine._ops.core.primitive import Primitive, Vjp, passed_on, vjp_of
from gradtool.engine._ops.core.promotion import (
    ApartError,
    cast,
    check_operands,
    refuse_apart,
    require_tensor,
    result_type,
    to_common_device,
    unlike_shapes,
)
from gradtool.engine._tensor import Tensor, wrap

# ---- applying an elementwise primitive -------------------------------------------------------


def promoted(
    primitive: Primitive,
    operands: Sequence[Any],
    *,
    keep_integers: bool = True,
    conditions: int = 0,
    **params: Any,
) -> Tensor:
    """Apply a primitive to tensors and numbers, brought to the dtype that they have in common.

    The first so many operands, `conditions`, are left as they are and have no part in it.

    Raises:
        TypeError: an operand is neither a tensor nor a number.
        RuntimeError: the shapes do not broadcast.
        NotImplementedError: there is no such function of elements of this dtype.
    """
    if not conditions and _are_floats_alike(operands):
        arrays = [each._array for each in operands]
        try:
            out = computed(primitive, arrays, params)
        except ApartError:
            pass
        else:
            if modes.grad:
                primitive.record_needed(operands, params, out)
            return out
    check_operands(primitive.name, *operands)
    operands = alive(operands)
    common = result_type(*operands[conditions:])
    if not keep_integers and common.category < _dtypes.FLOATING:
        common = _dtypes.get_default_dtype()
    level = highest(operands)
    if level is not None:
        lower = [_cast_at_level(each, common) for each in operands[conditions:]]
        at_level: Tensor = level.apply(primitive, [*operands[:conditions], *lower], params)
        return at_level
    kind = common.numpy
    if common is _dtypes.bfloat16 and primitive.name in ("mul", "div"):
        kind = np.dtype(np.float32)  # here torch does not round a number beforehand
    arrays = [cast(each, kind) for each in operands[conditions:]]
    arrays = [*[each._array for each in operands[:conditions]], *arrays]
    try:
        out = computed(primitive, arrays, params)
        if common is _dtypes.bfloat16:
            out = wrap(rounded(out._array, common.numpy))
    # Looked at only after a failure: operands on one device pay nothing for it.
    except ApartError:
        together = to_common_device(operands)
        return promoted(
            primitive, together, keep_integers=keep_integers, conditions=conditions, **params
        )
    if modes.grad:
        primitive.record_needed(operands, params, out)
    return out


def _are_floats_alike(operands: Sequence[Any]) -> bool:
    """Return True for plain tensors of one dtype, of which nothing is to be promoted."""
    first = operands[0]
    if first.__class__ is not Tensor:
        return False
    dtype = first._array.dtype
    if dtype.kind != "f":
        return False
    for each in operands:
        if each.__class__ is not Tensor or each._array.dtype is not dtype:
            return False
    return True


def are_alike(x: Any, *others: Any) -> bool:
    """Return True for plain tensors of one shape and one floating dtype, on one device."""
    if x.__class__ is not Tensor:
        return False
    array = x._array
    kind, dtype, shape = array.__class__, array.dtype, array.shape
    if dtype.kind != "f":
        return False
    for each in others:
        if each.__class__ is not Tensor:
            return False
        other = each._array
        if other.dtype is not dtype or other.shape != shape or other.__class__ is not kind:
            return False
    return True


def computed(
    primitive: Primitive, arrays: Sequence[Any], params: dict[str, Any] | None = None
) -> Tensor:
    """Compute in silence, and say what is wrong with the operands if something is.

    Raises:
        RuntimeError: the shapes do not broadcast.
        ApartError: the arrays lie on different devices.
        NotImplementedError: there is no such function of elements of this dtype.
    """
    try:
        return wrap(primitive.compute(*arrays, **(params or {})))
    except ValueError:
        raise unlike_shapes(*[np.shape(array) for array in arrays]) from None
    except TypeError:
        refuse_apart(arrays)
        raise not_implemented(primitive.name, arrays[0].dtype) from None


def _cast_at_level(operand: Any, common: _dtypes.dtype) -> Any:
    if isinstance(operand, Tensor) and operand._array.dtype != common.numpy:
        return operand.to(common)
    return operand


# ---- elementwise, by derivative --------------------------------------------------------------
#
# An elementwise entry states its derivative; vjp and jvp follow. A linear entry states its
# transpose. Promotion, broadcasting and casting gradients back are done here once.
#
# Gradients follow torch's convention for complex numbers: the vjp of a holomorphic function
# multiplies by the conjugate of its derivative.


Operation = Callable[..., Tensor]


class Product(NamedTuple):
    """A derivative stated as its product with ``g``: a function of g and any of the arguments.

    For what is cheaper, or right at more points, as a product: ``g / y`` for ``g * (1 / y)``.
    """

    of: Callable[..., Any]
    forward: Callable[..., Any] | None = None
    """The product with a tangent, where it is another."""
    of_arrays: Callable[..., Any] | None = None
    """The product of real arrays, in memory of its own."""


class Rate(NamedTuple):
    """A derivative as a function of one argument or ``out``, with its form for arrays.

    That returns memory of its own, over which its product with ``g`` is written.
    """

    of: Callable[..., Any]
    of_arrays: Callable[..., Any]


def by_operators(of: Callable[..., Any]) -> Rate:
    """A derivative made of operators alone, so that it holds for arrays as for tensors."""
    return Rate(of, of)


def product_by_operators(of: Callable[..., Any]) -> Product:
    """The same of a derivative stated as its product with ``g``."""
    return Product(of, of_arrays=of)


Derivative = Callable[..., Any] | Product | Rate | float | str
"""A function of any of the arguments and ``out``; a constant; or the name of one of them."""

OPERANDS = (Tensor, int, float, complex, np.generic)
"""What operators take."""

REAL_NUMBERS = (float, int)
"""Types of numbers that take on the dtype of a floating or complex operand."""


# ---- elementwise -----------------------------------------------------------------------------


def unary(
    name: str,
    compute: Callable[..., Any],
    derivative: Derivative,
    *,
    of_integers: str = "float",
    dtypes: Dtypes = EVERY,
    keeps: tuple[str, ...] = (),
) -> Operation:
    """An elementwise function of one tensor, given its derivative as a function of x and out.

    `of_integers` says what becomes of integer input: ``float`` (torch's default dtype) or
    ``keep``. `keeps` names what is saved besides what the derivative needs.
    """
    if of_integers == "float":
        compute = of_floats(compute)
    primitive = elementwise(name, compute, derivative, arguments=("x",), dtypes=dtypes)
    primitive.keeps = keeps

    def operation(x: Tensor) -> Tensor:
        if x.__class__ is not Tensor:
            require_tensor(name, x)
            return primitive(x)
        try:
            out = wrap(compute(x._array))
        except TypeError:
            raise not_implemented(name, x._array.dtype) from None
        if x._requires_grad and modes.grad:
            primitive.record((0,), (x,), {}, out)
        return out

    return _named(operation, name)


def without_derivative(
    name: str, compute: Callable[..., Any], *, dtypes: Dtypes = EVERY
) -> Operation:
    """An elementwise function of one tensor, through which no gradient goes."""
    primitive = elementwise(name, compute, arguments=("x",), dtypes=dtypes)

    def operation(x: Tensor) -> Tensor:
        require_tensor(name, x)
        return primitive(x)

    return _named(operation, name)


def binary(
    name: str,
    compute: Callable[..., Any],
    derivatives: tuple[Derivative, Derivative],
    *,
    of_integers: str = "keep",
    refuse: Callable[[Any, Any], None] | None = None,
    dtypes: Dtypes = EVERY,
    keeps: tuple[str, ...] = (),
) -> Operation:
    """An elementwise function of two tensors or numbers, broadcast and promoted as torch does.

    Each derivative is a function of any of x, y and out. `refuse` may raise for some operands.
    `keeps` is what torch saves besides what the derivatives need.
    """
    primitive = elementwise(
        name, ignore_fp_warnings(compute), *derivatives, arguments=("x", "y"), dtypes=dtypes
    ).keeping(*keeps)
    keep = of_integers == "keep"
    direct = "fc" if not keep else "fciu" if refuse else "fciub"

    def made(*, is_operator: bool) -> Operation:
        return _binary_operation(
            primitive, compute, direct=direct, keep=keep, refuse=refuse, is_operator=is_operator
        )

    operation = _named(made(is_operator=False), name)
    operation.operator = _named(made(is_operator=True), name)  # type: ignore[attr-defined] # for dunders
    primitive.operation = operation
    return operation


def _binary_operation(
    primitive: Primitive,
    compute: Callable[..., Any],
    *,
    direct: str,
    keep: bool,
    refuse: Callable[[Any, Any], None] | None,
    is_operator: bool,
) -> Operation:
    """The function, or the operator, which leaves to the other operand what is no number."""

    def operation(x: Any, other: Any) -> Any:
        if x.__class__ is Tensor:
            a = x._array
            if other.__class__ is Tensor:
                b = other._array
                dtype = a.dtype
                if dtype is b.dtype and dtype.kind in direct:
                    try:
                        out = wrap(compute(a, b))
                    except (ValueError, TypeError, RuntimeWarning):
                        if a.__class__ is not b.__class__:
                            return operation(*to_common_device((x, other)))
                        out = computed(primitive, (a, b))
                    if (x._requires_grad or other._requires_grad) and modes.grad:
                        if a.shape == b.shape:
                            primitive.record_pair(x, other, out)
                        else:
                            primitive.record_needed((x, other), {}, out)
                    return out
            elif other.__class__ in REAL_NUMBERS and a.dtype.kind in "fc":
                out = _with_number(primitive, compute, (a, other))
                if x._requires_grad and modes.grad:
                    primitive.record((0,), (x, other), {}, out)
                return out
        elif (
            x.__class__ in REAL_NUMBERS
            and other.__class__ is Tensor
            and other._array.dtype.kind in "fc"
        ):
            b = other._array
            out = _with_number(primitive, compute, (b.dtype.type(x), b))
            if other._requires_grad and modes.grad:
                primitive.record((1,), (x, other), {}, out)
            return out
        if is_operator and not (isinstance(x, OPERANDS) and isinstance(other, OPERANDS)):
            return NotImplemented  # Python then asks the other
        if refuse is not None:
            refuse(x, other)
        return promoted(primitive, (x, other), keep_integers=keep)

    return operation


def _with_number(
    primitive: Primitive, compute: Callable[..., Any], arrays: tuple[Any, Any]
) -> Tensor:
    """Compute where one operand is a number that takes on the other's dtype."""
    try:
        return wrap(compute(*arrays))
    except (TypeError, RuntimeWarning):
        return computed(primitive, arrays)


def of_floats(compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute`, with integers made floats of the default dtype first, as torch does."""

    def floating(x: Any) -> Any:
        if x.dtype.kind in "iubV":
            if x.dtype.kind == "V":
                return in_single(compute, x)
            x = x.astype(_dtypes.get_default_dtype().numpy)
        return compute(x)

    return floating


def elementwise(
    name: str,
    compute: Callable[..., Any],
    *derivatives: Derivative,
    arguments: tuple[str, ...] | None = None,
    dtypes: Dtypes = EVERY,
) -> Primitive:
    """A function of tensors that broadcast, given its derivative with respect to each."""
    vjps = [_vjp_from(each) for each in derivatives]
    return Primitive(name, compute, vjps, arguments=arguments, kind="elementwise", dtypes=dtypes)


def _vjp_from(derivative: Derivative) -> Vjp:
    """Multiply g by the conjugate of the derivative, as cheaply as the derivative allows."""
    if isinstance(derivative, Product):
        of = derivative.of
        return vjp_of(of)._replace(
            of_complex=lambda g, *values: conjugate(of(conjugate(g), *values)),
            forward=derivative.forward,
            of_arrays=derivative.of_arrays,
        )
    if isinstance(derivative, str):
        return Vjp(
            lambda g, value: g * value,
            (derivative,),
            lambda g, value: g * conjugate(value),
            of_arrays=operator.mul,
        )
    if isinstance(derivative, Rate):
        rate = derivative.of_arrays

        def of_arrays(g: Any, value: Any) -> Any:
            found = rate(value)
            found *= g
            return found

        return _vjp_from(derivative.of)._replace(of_arrays=of_arrays)
    if callable(derivative):
        return Vjp(
            lambda g, *values: g * derivative(*values),
            positional_names(derivative),
            lambda g, *values: g * conjugate(derivative(*values)),
        )
    return _vjp_from_constant(derivative)


def _vjp_from_constant(derivative: float) -> Vjp:
    if derivative == 1:
        return Vjp(passed_on, ())
    if derivative == -1:
        return Vjp(lambda g: -g, (), of_arrays=operator.neg)
    if derivative == 0:
        return Vjp(zeros_like, ())
    return Vjp(lambda g: g * derivative, (), of_arrays=lambda g: g * derivative)


zeros_like = Primitive("zeros_like", np.zeros_like, dtypes=REAL, batch=unchanged)
"""Zeros, where zero times an infinite cotangent would not be."""


def conjugate(value: Any) -> Any:
    """The complex conjugate; a real tensor or number is returned as it is."""
    if isinstance(value, Tensor):
        return value if value._array.dtype.kind != "c" else _conjugates(value)
    return value.conjugate() if isinstance(value, complex) else value


def _named(operation: Operation, name: str) -> Operation:
    operation.__name__ = operation.__qualname__ = name
    return operation


# ---- the other kinds ------------------------------------------------------------------------


class Declared(TypedDict, total=False):
    """Statements about a primitive that all kinds take by keyword."""

    dtypes: Dtypes
    batch: BatchRule


def linear(
    name: str,
    compute: Callable[..., Any],
    vjp: Callable[..., Any],
    *,
    of_arrays: Callable[..., Any] | None = None,
    is_view: bool = False,
    **declared: Unpack[Declared],
) -> Primitive:
    """A function that is linear in its one tensor, given the transpose of it as its vjp.

    `of_arrays` is the vjp computed of real arrays at once.
    """
    vjps = (vjp_of(vjp, of_arrays),)
    return Primitive(name, compute, vjps, kind="linear", is_view=is_view, **declared)


def multilinear(
    name: str,
    compute: Callable[..., Any],
    *vjps: Callable[..., Any] | Vjp,
    **declared: Unpack[Declared],
) -> Primitive:
    """A function that is linear in each of its tensors while the others are held."""
    made = [_as_vjp(vjp) for vjp in vjps]
    return Primitive(name, compute, made, kind="multilinear", **declared)


def _as_vjp(vjp: Callable[..., Any] | Vjp) -> Vjp:
    return vjp if isinstance(vjp, Vjp) else vjp_of(vjp)


def general(
    name: str,
    compute: Callable[..., Any],
    *vjps: Callable[..., Any] | Vjp,
    jvp: Callable[..., Any] | None = None,
    **declared: Unpack[Declared],
) -> Primitive:
    """A function that states a vjp for each of its tensors.

    A `jvp` is a function of the list of tangents, None for a constant argument, and of what it
    names after them as a vjp does. It need not be stated where it is the transpose of the vjps.
    """
    stated = None if jvp is None else vjp_of(jvp)
    return Primitive(name, compute, [_as_vjp(vjp) for vjp in vjps], jvp=stated, **declared)


def constant(name: str, compute: Callable[..., Any], **declared: Unpack[Declared]) -> Primitive:
    """A function without a derivative: of integers, or piecewise constant by nature."""
    return Primitive(name, compute, **declared)


_conjugates = linear("conj", np.conjugate, conjugate, dtypes=COMPLEX, batch=unchanged)
"""The conjugates that derivatives are multiplied by, at once and not as a view."""
