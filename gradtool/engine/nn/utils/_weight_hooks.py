"""Finding the hook that computes a weight of a Module before each call."""

from __future__ import annotations

from typing import Any

from gradtool.engine.nn.modules.module import Module


def refuse_second(module: Module, kind: type[Any], name: str) -> None:
    if any(type(hook) is kind and hook.name == name for hook, _ in _hooks(module).values()):
        raise RuntimeError(
            f"Cannot register two {kind.__name__} hooks on the same parameter {name}"
        )


def taken_out(module: Module, kind: type[Any], name: str) -> Any:
    for key, (hook, _) in _hooks(module).items():
        if type(hook) is kind and hook.name == name:
            del _hooks(module)[key]
            return hook
    raise ValueError(f"{kind.__name__} of '{name}' not found in {module}")


def _hooks(module: Module) -> dict[int, Any]:
    return module._forward_pre_hooks


__all__ = ["refuse_second", "taken_out"]
