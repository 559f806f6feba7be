"""Custom Functions: a user's forward and backward as one node of the graph.

The rules are those of torch's "Extending torch.autograd". Where a user's Function breaks one,
the error is a `ContractError`, which is torch's RuntimeError and also names the rule.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NoReturn

from gradtool.engine import _pytree
from gradtool.engine._errors import ContractError, MissingMethodError
from gradtool.engine._levels import Level, alive, highest
from gradtool.engine._modes import modes, overrides, overriding
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd import _apply, _gradient_checks
from gradtool.engine.autograd._new_nodes import Packer
from gradtool.engine.autograd._node import (
    FREED,
    FREED_MESSAGE,
    Gradients,
    Node,
    OutputEdge,
    OutputInfo,
    next_order,
)
from gradtool.engine.autograd._once_differentiable import once_differentiable
from gradtool.engine.autograd._saved import SavedTensor, raw_saved

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
    "traceable",
]

_new = object.__new__

_ACCESSED = (None,)
"""Stands in the place of saved tensors that were taken and may be taken but once."""


class FunctionCtx:
    """Carries values from ``forward`` to ``backward``. Other attributes may be set freely."""

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs of ``forward`` for `saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``jvp``, which finds them in `saved_tensors`."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save "
                    "non-tensors as attributes on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Name the inputs that ``forward`` changed in place; each must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Name the outputs that have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether undefined cotangents reach ``backward`` as zeros (the default) or None."""
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but "
                "expected (bool)"
            )
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Do nothing: shared memory is tracked automatically."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically "
            "tracked. Note that calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    # Defaults on the class: a ctx is made without `__init__` and stores only what is set.
    to_save: tuple[Tensor | None, ...] = ()
    saved_for_forward: tuple[Tensor | None, ...] = ()
    dirty_tensors: tuple[Tensor, ...] = ()
    non_differentiable: tuple[Tensor, ...] = ()
    materialize_grads: bool = True
    _materialize_non_diff_grads: bool = True
    needs_input_grad: tuple[bool, ...] = ()


class BackwardCFunction(FunctionCtx, Node):
    """The node of one call of a Function, and the ``ctx`` that its methods receive."""

    _forward_cls: ClassVar[type[Function]]

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self)]

    _edges: tuple[Node, ...] = ()
    _hooks = None
    _outputs = 1
    _input_edges: tuple[Node | None, ...] = ()
    """For each argument of ``forward`` the node its gradient goes to; None if it has none."""
    _input_infos: tuple[_gradient_checks.TensorInfo | None, ...] = ()
    _output_infos: tuple[_gradient_checks.TensorInfo | None, ...] = ()
    _saved: tuple[_apply.Kept | None, ...] | None = ()
    _saved_for_jvp: tuple[Tensor | None, ...] | None = None
    """Value of `saved_tensors` while ``jvp`` runs."""

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self._name()} object at {id(self):#x}>"

    def __init__(self) -> None:
        self._order = next_order()

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The saved tensors, none of which was changed in place.

        Raises:
            RuntimeError: a saved tensor was changed in place, or the graph was freed.
        """
        if self._saved_for_jvp is not None:
            return self._saved_for_jvp
        if self._saved is None:
            raise RuntimeError(FREED_MESSAGE)
        if self._saved is _ACCESSED:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True "
                "is set on the autograd.Function. Either access saved_tensors only once, or set "
                "clear_saved_tensors_on_access=False."
            )
        tensors = tuple(
            [
                None
                if saved is None
                # The usual one: an input that was never changed.
                else saved.tensor
                if saved.number is None and saved.packed is None and saved.tensor._storage is None
                else saved.unpack(self)
                for saved in self._saved
            ]
        )
        if self._forward_cls.clear_saved_tensors_on_access:
            self._saved = _ACCESSED
        return tensors

    def maybe_clear_saved_tensors(self) -> None:
        """Free the saved tensors before ``backward`` ends, unless the walk keeps the graph."""
        walk = modes.walk
        if walk is not None and not walk.keep_graph:
            self._saved = None

    def _output_edge(self, number: int) -> Node:
        """Return the node, or edge, that an output's tensor refers to."""
        return self if self._outputs == 1 else OutputEdge(self, number)

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    def _shown_edges(self) -> Sequence[Node | None]:
        """The edge of each tensor argument's gradient; None for one that needs none."""
        return [
            edge for edge, info in zip(self._input_edges, self._input_infos) if info is not None
        ]

    @property
    def _input_metadata(self) -> tuple[OutputInfo, ...]:
        return tuple(info.shown() for info in self._output_infos if info is not None)

    def __call__(self, *grads: Any, **unknown: Any) -> NoReturn:
        """Refused, as in torch: see `apply`."""
        raise TypeError(f"{type(self).__name__!r} object is not callable")

    def apply(self, *grads: Tensor | None) -> Any:
        """Gradients that the user's backward returns for these cotangents."""
        return self._run_backward(*grads)

    def _vjp(self, grad: Any, wanted: set[int] | None) -> Gradients:
        """Run the user's backward and check what it returns."""
        walk = modes.walk if overriding else None
        if walk is None:
            return _gradient_checks.gradients(self, self._returned(grad))
        with overrides(walk.overrides):  # The walk leaves them out of its own steps alone.
            returned = self._returned(grad)
        return _gradient_checks.gradients(self, returned)

    def _returned(self, grad: Any) -> Any:
        # The usual call, which has nothing to materialize.
        cls = self._forward_cls
        if self._outputs == 1 and grad is not None and not cls.boxed_grads_call:
            return backward_method(cls)(self, grad)
        grads = grad if self._outputs > 1 else [grad]
        return self._run_backward(*self._materialize(grads))

    def _run_backward(self, *cotangents: Tensor | None) -> Any:
        """The user's ``backward`` or ``vjp``."""
        method = backward_method(self._forward_cls)
        if self._forward_cls.boxed_grads_call:
            return method(self, list(cotangents))
        return method(self, *cotangents)

    def _materialize(self, grads: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
        if not self.materialize_grads:
            return grads
        return [
            info.zeros() if grad is None and info is not None else grad
            for grad, info in zip(grads, self._output_infos)
        ]

    def _pack_saved(self, pack: Packer) -> None:
        """Replace each saved tensor by the result of `pack`."""
        for saved in self._saved or ():
            if saved is not None:
                saved.pack(pack, self)

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        if self._saved is None:
            raise RuntimeError(FREED_MESSAGE)
        return raw_saved(self, len(self._saved))

    def _saved_at(self, slot: int) -> Any:
        """The saved tensor, what a hook made of it, None, or `FREED`."""
        if self._saved is None:
            return FREED
        kept = self._saved[slot]
        return kept and (kept.tensor if kept.packed is None else kept.packed)

    def _pack_at(self, slot: int, pack: Packer) -> None:
        """Replace one saved tensor by the result of `pack`."""
        kept = None if self._saved is None else self._saved[slot]
        if kept is not None:
            kept.pack(pack, self)

    def _release(self) -> None:
        """Drop saved tensors: the graph will not be walked again."""
        # A node that saved nothing has nothing to free, and may run again.
        if self._saved and self._saved is not _ACCESSED:
            self._saved = None


def backward_method(cls: type[Function]) -> Callable[..., Any]:
    """The method that computes gradients, under either of its two names.

    Raises:
        ContractError: the Function overrides both.
    """
    has_backward = cls.backward is not Function.backward
    has_vjp = cls.vjp is not Function.vjp
    if has_backward and has_vjp:
        raise ContractError(
            "both-backward-and-vjp",
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
            "should only implement one of them.",
        )
    return cls.vjp if has_vjp else cls.backward


def _refuse_transforms() -> None:
    """Refuse a Function whose forward takes ctx inside a transform, which cannot call it.

    Raises:
        RuntimeError: a transform of `func` is under way.
    """
    if any(level.by_func for level in modes.levels):
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
            "jacrev, ...), it must override the setup_context staticmethod. For more details, "
            "please see https://pytorch.org/docs/main/notes/extending.func.html"
        )


def _at_level(args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Level | None]:
    """The arguments, and the highest level among the tensors in them."""
    leaves, spec = _pytree.tree_flatten(args)
    leaves = alive(leaves)
    return _pytree.tree_unflatten(leaves, spec), highest(leaves)


class FunctionMeta(type):
    """Gives each Function the class of its graph node, named after it."""

    _backward_cls: type[BackwardCFunction]

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        super().__init__(name, bases, attrs)
        space = {"_forward_cls": cls, "__module__": BackwardCFunction.__module__}
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), space)


class Function(metaclass=FunctionMeta):
    """Base class of custom Functions. Override the static methods, then call ``apply``."""

    generate_vmap_rule = False
    """The methods consist of tensor operations only, so that batching can be derived."""
    is_traceable = False
    clear_saved_tensors_on_access = False
    """The saved tensors may be taken but once, and are dropped then."""
    boxed_grads_call = False
    """``backward`` takes the cotangents in one list, from which it may remove them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: Functions are called through ``apply``."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. "
            "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the output: ``forward(ctx, ...)``, or without ctx if there is `setup_context`."""
        raise MissingMethodError(
            "no-backward", "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what ``backward`` needs, after a ``forward`` that takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradient of each argument of ``forward``, given the cotangent of each output."""
        raise MissingMethodError(
            "no-backward",
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD.",
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangent of each output, given the tangent of each argument of ``forward``."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """The batched output and the positions of its batch dimensions."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod "
            "or set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward`` and record it.

        Keyword arguments are bound to their positions, so that each gradient has a fixed position.
        For a Function with `setup_context`, defaults are filled in, too. Only ``torch.vmap``
        takes arguments without a position.
        """
        separate = cls.setup_context is not Function.setup_context
        if separate:
            args, kwargs = _bound(cls.forward, args, kwargs)
        state = modes.__dict__
        if kwargs and not _takes_keywords(state["levels"]):
            args, kwargs = _positioned(cls.forward, args, kwargs, first=not separate), {}
        if state["recording"] is not None:
            return cls._run_forward(args, kwargs)[1]
        if state["levels"]:
            if not separate:
                _refuse_transforms()
            for level in modes.levels:
                level.check_function(cls, kwargs)
            args, level = _at_level(args)
            if level is not None:
                return level.apply_function(cls, args, kwargs)
        else:
            for arg in args:
                # A tensor of a transform that has ended stands for the one that it holds.
                if arg.__class__ is not Tensor and isinstance(arg, Tensor):
                    args = tuple(alive(args))
                    break
        if state["grad"]:
            for arg in args:
                if isinstance(arg, Tensor) and arg._view is not None:
                    arg._current_node()  # refused before `forward` runs, if it is
        ctx, output = cls._run_forward(args, kwargs)
        # As in torch, inference mode does not keep a Function from being recorded, if asked for.
        records = state["grad"] or (state["inference"] and state["grad_in_inference"])
        return _apply.finish(ctx, args, output, records and True in ctx.needs_input_grad)

    @classmethod
    def _run_forward(
        cls, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[BackwardCFunction, Any]:
        """The user's forward, unrecorded, with the ctx it filled."""
        # Past `__init__`, a Python call on the hot path; the next line does its work.
        ctx: BackwardCFunction = _new(cls._backward_cls)
        ctx._order = next_order()
        ctx.needs_input_grad = tuple(
            [isinstance(arg, Tensor) and arg._requires_grad for arg in args]
        )
        state = modes.__dict__
        recording, forward = state["grad"], state["forward"]
        asked = state["grad_in_inference"]
        # The user's backward and jvp are the derivatives, not those of the steps of `forward`.
        if state["recording"] is None:
            state["grad"] = state["forward"] = state["grad_in_inference"] = False
        try:
            if cls.setup_context is Function.setup_context:
                output = cls.forward(ctx, *args, **kwargs)
            else:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, output)
        finally:
            state["grad"], state["forward"] = recording, forward
            state["grad_in_inference"] = asked
        return ctx, output


def _takes_keywords(levels: tuple[Any, ...]) -> bool:
    """Return True where ``torch.vmap`` is the innermost of `func`'s transforms."""
    innermost = next((each for each in reversed(levels) if each.by_func), None)
    return innermost is not None and innermost.takes_keywords


def _positioned(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], first: int
) -> tuple[Any, ...]:
    """All arguments of a call by position, past the `first` parameters of ``forward``.

    Raises:
        TypeError: a keyword argument has no position, or two arguments have the same.
    """
    parameters = inspect.signature(forward).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [each.name for each in parameters if each.kind in kinds][first:]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    values = list(args)
    last = max(map(names.index, kwargs))
    for position in range(len(args), last + 1):
        name = names[position]
        if name not in kwargs:
            raise TypeError(f"forward() missing required argument: '{name}' (position {position})")
        values.append(kwargs[name])
    return tuple(values)


def _bound(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword-only arguments of a call of ``forward``, with its defaults."""
    signature, plain = _signature(forward)
    if not kwargs and len(args) == plain:
        return args, kwargs
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


@lru_cache(maxsize=64)
def _signature(forward: Callable[..., Any]) -> tuple[inspect.Signature, int]:
    """The signature, and the number of its parameters if all of them have positions, else -1."""
    signature = inspect.signature(forward)
    kinds = [each.kind for each in signature.parameters.values()]
    is_plain = all(
        kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for kind in kinds
    )
    return signature, len(kinds) if is_plain else -1


def traceable(fn_cls: type[Function]) -> type[Function]:
    """Mark a Function as traceable. Nothing reads the mark."""
    fn_cls.is_traceable = True
    return fn_cls


class InplaceFunction(Function):
    """An old name of `Function`, kept for modules that still derive from it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


from gradtool.engine.autograd._nested import NestedIOFunction  # noqa: E402 - built on the above
