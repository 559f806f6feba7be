"""Modules as functions of their parameters."""

from __future__ import annotations

from collections import Counter
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
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    if not all(isinstance(each, dict) for each in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    counts = Counter(name for each in dicts for name in each)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
            "ambiguous"
        )
    return {name: value for each in dicts for name, value in each.items()}


def _held(module: Any) -> dict[str, Any]:
    return {
        # A tied tensor counts under each of its names.
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _check_names(module: Any, given: dict[str, Tensor]) -> None:
    held = _held(module)
    wrong = {
        "Unexpected": [name for name in given if name not in held],
        "Missing": [name for name in held if name not in given],
    }
    messages = [
        f"{kind} key(s): {', '.join(map(repr, names))}." for kind, names in wrong.items() if names
    ]
    if messages:
        raise RuntimeError(
            "Error(s) in reparametrizing for {}:\n\t{}".format(
                type(module).__name__, "\n\t".join(messages)
            )
        )


def _with_tied(module: Any, given: dict[str, Tensor]) -> dict[str, Tensor]:
    names_of: dict[int, list[str]] = {}
    for name, tensor in _held(module).items():
        names_of.setdefault(id(tensor), []).append(name)
    result = dict(given)
    for names in names_of.values():
        values = {id(given[name]): given[name] for name in names if name in given}
        if len(values) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. "
                "Consider using tie_weights=False"
            )
        for value in values.values():
            result.update(dict.fromkeys(names, value))
    return result


@contextmanager
def _replaced(module: Any, given: dict[str, Tensor]) -> Iterator[None]:
    """The module with these tensors in place, as plain attributes of its parts."""
    undo: list[Callable[[], None]] = []
    try:
        for name, tensor in given.items():
            *path, last = name.split(".")
            owner = module.get_submodule(".".join(path))
            if not isinstance(tensor, Tensor):
                raise TypeError(f"{tensor} is not an instance of torch.Tensor")
            # In the dictionaries themselves: assignment to a module accepts only a Parameter there.
            stores = (owner._parameters, owner._buffers)
            store = next((each for each in stores if last in each), vars(owner))
            undo.append(_putting_back(store, last))
            store[last] = tensor
        yield
    finally:
        for put_back in reversed(undo):
            put_back()


def _putting_back(store: dict[str, Any], name: str) -> Callable[[], None]:
    if name not in store:
        return lambda: store.__delitem__(name)
    value = store[name]
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
    return _stacked(parameters), _stacked(buffers)


def _stacked(dicts: list[dict[str, Tensor]]) -> dict[str, Any]:
    from gradtool.engine._ops.shape.joining import stack

    stacked = {}
    for name in dicts[0]:
        tensor = stack([each[name] for each in dicts])
        flags = {each[name].requires_grad for each in dicts}
        if len(flags) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        # Leaves, as torch returns them: optimizers accept nothing else.
        stacked[name] = tensor.detach().requires_grad_() if True in flags else tensor
    return stacked


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """`func` itself: in-place changes need not be removed for this engine's transforms.

    Raises:
        RuntimeError: `remove` is not ``mutations`` or ``mutations_and_views``.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for "
            f"remove={remove}. Valid options are:\n     remove='mutations': all inplace and out= "
            "operators will be removed from the program, and replaced with their out-of-place "
            "equivalents.\n     remove='mutations_and_views': In addition to the above, all "
            "aliasing operators {view} will be replaced with their non-aliasing counterparts, "
            "{view}_copy.\n"
        )
    return func


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """Return the tensor that a transformed one holds, for a look in a debugger."""
    if not isinstance(tensor, Wrapped):
        return tensor
    held: Tensor = tensor._value
    return debug_unwrap(held) if recurse else held
