"""State of a Module by name: traversal, saving and loading."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from gradtool.engine.nn.parameter import Parameter

REGISTRIES = ("_parameters", "_buffers", "_modules")


class ModuleTree:
    """Read access to a Module's parameters, buffers and children."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _transient_buffers: set[str]

    def named_modules(
        self,
        memo: set[Any] | None = None,
        prefix: str = "",
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """Yield the Module and every Module below it, with dotted names."""
        seen: set[Any] = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(seen, joined(prefix, name), remove_duplicate)

    def modules(self) -> Iterator[Any]:
        """Yield the Module and every Module below it."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yield the direct children with their names."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Any]:
        """Yield the direct children."""
        return (child for _, child in self.named_children())

    def named_parameters(
        self,
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield parameters with dotted names; without `recurse`, only its own."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield the parameters."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self,
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield buffers with dotted names; without `recurse`, only its own."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield the buffers."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Any:
        """Return the Module of a qualified name such as ``encoder.0``; itself for an empty one.

        Raises:
            AttributeError: there is none.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            module = getattr(module, name, None)
            if not isinstance(module, ModuleTree):
                raise AttributeError(f"{type(self).__name__} has no submodule `{target}`")
        return module

    def set_submodule(self, target: str, module: ModuleTree) -> None:
        """Replace the Module of a qualified name."""
        owner, _, name = target.rpartition(".")
        setattr(self.get_submodule(owner), name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter of a qualified name.

        Raises:
            AttributeError: there is none.
        """
        found: Parameter = self._get(target, "_parameters", "an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer of a qualified name.

        Raises:
            AttributeError: there is none.
        """
        found: Tensor = self._get(target, "_buffers", "a buffer")
        return found

    def _get(self, target: str, registry: str, kind: str) -> Any:
        owner, _, name = target.rpartition(".")
        module = self.get_submodule(owner)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in vars(module)[registry]:
            raise AttributeError(f"`{name}` is not {kind}")
        return vars(module)[registry][name]

    def _named(
        self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        owners: Iterable[tuple[str, Any]] = [(prefix, self)]
        if recurse:
            owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        seen: set[int] = set()
        for path, owner in owners:
            for name, value in vars(owner)[registry].items():
                if value is not None and not (remove_duplicate and id(value) in seen):
                    seen.add(id(value))
                    yield joined(path, name), value


def joined(prefix: str, name: str) -> str:
    """Join two parts of a dotted name; the first may be empty."""
    return f"{prefix}.{name}" if prefix else name


class IncompatibleKeys(NamedTuple):
    """Keys that `load` did not find, and keys that it did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        missing, unexpected = self
        return f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"


def state_of(module: ModuleTree, prefix: str, keep_vars: bool) -> OrderedDict[str, Any]:
    """Return parameters and persistent buffers by dotted name, detached unless `keep_vars`."""
    held = _entries(module, prefix)
    return OrderedDict((name, value if keep_vars else value.detach()) for name, value in held)


def _entries(module: ModuleTree, prefix: str) -> Iterator[tuple[str, Tensor]]:
    for path, owner in module.named_modules(remove_duplicate=False):
        for name, value in {**owner._parameters, **owner._buffers}.items():
            if value is not None and name not in owner._transient_buffers:
                yield prefix + joined(path, name), value


def load(
    module: ModuleTree, state: Mapping[str, Any], strict: bool, assign: bool = False
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
