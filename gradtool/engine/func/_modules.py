"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gradtool.engine._levels import Wrapped
from gradtool.engine._tensor import Tensor


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in the place of its parameters and buffers.

    Args:
        module: what to call.
        parameter_and_buffer_dicts: tensors by qualified name, as ``named_parameters`` gives it.
        args: one argument, or a tuple of them.
        kwargs: keyword arguments.
        tie_weights: a tensor that the module has under several names is replaced under all.
        strict: every parameter and buffer is to be given, and nothing else.

    Raises:
        ValueError: a name is in several of the dicts.
        RuntimeError: with `strict`, names are missing or unknown.
    """
    given = _merged(parameter_and_buffer_dicts)
    if strict:
        _check_names(module, given)
    if tie_weights:
        given = _with_tied(module, given)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given):
        return module(*positional, **(kwargs or {}))


def _merged(dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    if isinstance(dicts, dict):
        return dicts
    merged: dict[str, Tensor] = {}
    for each in dicts:
        repeated = merged.keys() & each.keys()
        if repeated:
            raise ValueError(
                f"{sorted(repeated)} appear in multiple dictionaries; behavior of functional call "
                "is ambiguous"
            )
        merged.update(each)
    return merged


def _held(module: Any) -> dict[str, Any]:
    return {
        # A tied tensor counts under each of its names.
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _check_names(module: Any, given: dict[str, Tensor]) -> None:
    held = _held(module)
    missing, unknown = held.keys() - given.keys(), given.keys() - held.keys()
    if missing or unknown:
        raise RuntimeError(
            f"Error(s) in functional_call: missing {sorted(missing)}, unexpected {sorted(unknown)}"
        )


def _with_tied(module: Any, given: dict[str, Tensor]) -> dict[str, Tensor]:
    held = _held(module)
    by_tensor = {id(held[name]): tensor for name, tensor in given.items() if name in held}
    tied = {name: by_tensor[id(tensor)] for name, tensor in held.items() if id(tensor) in by_tensor}
    return {**given, **tied}


@contextmanager
def _replaced(module: Any, given: dict[str, Tensor]) -> Iterator[None]:
    """The module with these tensors in place, as plain attributes of its parts."""
    undo: list[Callable[[], None]] = []
    try:
        for name, tensor in given.items():
            *path, last = name.split(".")
            owner = module.get_submodule(".".join(path))
            # In the dictionaries themselves: assignment to a module accepts only a Parameter there.
            store = owner._parameters if last in owner._parameters else owner._buffers
            undo.append(_putting_back(store, last, store[last]))
            store[last] = tensor
        yield
    finally:
        for put_back in reversed(undo):
            put_back()


def _putting_back(store: dict[str, Any], name: str, value: Any) -> Callable[[], None]:
    return lambda: store.__setitem__(name, value)


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters and buffers of several modules of one kind, stacked along a new dimension.

    Raises:
        RuntimeError: there are none, they differ in kind, or not all are in one mode.
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return _stacked(parameters, leaves=True), _stacked(buffers, leaves=False)


def _stacked(dicts: list[dict[str, Tensor]], *, leaves: bool) -> dict[str, Any]:
    from gradtool.engine._ops.shape.joining import stack

    stacked = {}
    for name in dicts[0]:
        tensor = stack([each[name] for each in dicts])
        needs_grad = leaves and all(each[name].requires_grad for each in dicts)
        # Leaves, as torch returns them: optimizers accept nothing else.
        stacked[name] = tensor.detach().requires_grad_() if needs_grad else tensor
    return stacked


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """`func` itself: in-place changes need not be removed for this engine's transforms.

    Raises:
        RuntimeError: `remove` is not ``mutations`` or ``mutations_and_views``.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): Valid options for inputs for `remove` are "
            f"'mutations' and 'mutations_and_views'. Got {remove}."
        )
    return func


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """Return the tensor that a transformed one holds, for a look in a debugger.

    Raises:
        ValueError: it is a plain tensor.
    """
    if not isinstance(tensor, Wrapped):
        raise ValueError("torch.func.debug_unwrap: expected a tensor of a transform")
    held: Tensor = tensor._value
    return debug_unwrap(held) if recurse and isinstance(held, Wrapped) else held
