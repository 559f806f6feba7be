"""Modules that call a function of ``nn.functional`` with their settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.modules.module import Module


class FunctionalModule(Module):
    """Calls `function` with its inputs and, by name, its settings."""

    function: Callable[..., Any]
    defaults: dict[str, Any]
    """Settings in the order of the constructor's parameters; `...` marks required ones."""
    hidden: tuple[str, ...] = ("size_average", "reduce", "reduction", "weight", "pos_weight")
    """Settings that `repr` leaves out."""
    text: str | Callable[[Any], str] | None = None
    """Text that `repr` shows instead: a format of the settings, or a function of the Module."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        settings = self._bound(args, kwargs)
        if settings.get("stride", ...) is None:
            settings["stride"] = settings["kernel_size"]
        for name, value in settings.items():
            if isinstance(value, Tensor):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        kind = type(self).__name__
        if len(args) > len(self.defaults):
            raise TypeError(
                f"{kind}() takes at most {len(self.defaults)} arguments, but got {len(args)}"
            )
        given = dict(zip(self.defaults, args))
        for name, value in kwargs.items():
            if name not in self.defaults or name in given:
                raise TypeError(f"{kind}() got an unexpected or repeated argument '{name}'")
            given[name] = value
        missing = [name for name, value in (self.defaults | given).items() if value is ...]
        if missing:
            raise TypeError(f"{kind}() missing the argument '{missing[0]}'")
        return self.defaults | given

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Call the function with the inputs and the settings."""
        settings = {name: getattr(self, name) for name in self.defaults}
        return type(self).function(*inputs, **named, **settings)

    def extra_repr(self) -> str:
        """Show the settings."""
        if isinstance(self.text, str):
            return self.text.format_map(vars(self))
        if self.text is not None:
            return type(self).text(self)  # type: ignore[misc, operator] # a function, not a method
        shown = [
            f"{name}={getattr(self, name)!r}"
            for name, default in self.defaults.items()
            if name not in self.hidden and (name != "inplace" or getattr(self, name))
        ]
        return ", ".join(shown)


class _InTraining(FunctionalModule):
    """A Module whose function takes `training` as well."""

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Call the function with the inputs, the settings and `training`."""
        settings = {name: getattr(self, name) for name in self.defaults}
        return type(self).function(*inputs, **named, **settings, training=self.training)


def module_of(
    name: str,
    function: Callable[..., Any],
    module: str,
    *,
    in_training: bool = False,
    text: str | Callable[[Any], str] | None = None,
    **defaults: Any,
) -> Any:
    """Make a Module class of that name for a function, with these settings."""
    base = _InTraining if in_training else FunctionalModule
    summary = (function.__doc__ or "").split("\n", 1)[0]
    members = {
        "__doc__": f"`nn.functional.{function.__name__}` as a Module: {summary}",
        "__module__": module,
        "function": staticmethod(function),
        "defaults": defaults,
        "text": text,
    }
    return type(name, (base,), members)
