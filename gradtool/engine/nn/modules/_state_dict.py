"""A Module's state as a dictionary, and back."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad
from gradtool.engine.nn.modules._tree import joined

if TYPE_CHECKING:
    from gradtool.engine.nn.modules.module import Module


class IncompatibleKeys(NamedTuple):
    """What `load` did not find, and what it did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        missing, unexpected = self
        return f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"


def state_of(module: Module, prefix: str, keep_vars: bool) -> OrderedDict[str, Any]:
    """The parameters and persistent buffers by their dotted names, detached unless `keep_vars`."""
    held = _entries(module, prefix)
    return OrderedDict((name, value if keep_vars else value.detach()) for name, value in held)


def _entries(module: Module, prefix: str) -> Iterator[tuple[str, Tensor]]:
    for path, owner in module.named_modules(remove_duplicate=False):
        for name, value in {**owner._parameters, **owner._buffers}.items():
            if value is not None and name not in owner._transient_buffers:
                yield prefix + joined(path, name), value


def load(
    module: Module, state: Mapping[str, Any], strict: bool, assign: bool = False
) -> IncompatibleKeys:
    """Copy the values of `state` over those of the module.

    Raises:
        RuntimeError: A shape does not fit; or, if `strict`, a key is missing or unexpected.
    """
    held = state_of(module, "", keep_vars=True)
    keys = IncompatibleKeys(
        [name for name in held if name not in state], [name for name in state if name not in held]
    )
    problems = list(_problems(held, state, keys if strict else IncompatibleKeys([], [])))
    if problems:
        listed = "\n\t".join(problems)
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{listed}"
        )
    with no_grad():
        for name in held.keys() & state.keys():
            if assign:
                held[name].data = state[name].detach()
            else:
                held[name].copy_(state[name])
    return keys


def _problems(
    held: Mapping[str, Tensor], state: Mapping[str, Any], keys: IncompatibleKeys
) -> Iterator[str]:
    for kind, names in (("Missing", keys.missing_keys), ("Unexpected", keys.unexpected_keys)):
        if names:
            quoted = ", ".join(f'"{name}"' for name in names)
            yield f"{kind} key(s) in state_dict: {quoted}. "
    for name, value in held.items():
        if name in state and state[name].shape != value.shape:
            yield (
                f"size mismatch for {name}: copying a param with shape {state[name].shape} from "
                f"checkpoint, the shape in current model is {value.shape}."
            )
