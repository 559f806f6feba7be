"""Optimizer: the base class of what changes parameters by their gradients."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import RemovableHandle
from gradtool.engine.autograd.grad_mode import enable_grad, no_grad


class _Required:
    """What stands for an option that every group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: Any = _Required()


class Optimizer:
    """Groups of parameters with options, and the state that is kept of each parameter.

    A subclass updates one group in `_update`, or overrides `step`.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {params.type()}"
            )
        self.defaults = defaults
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._step_pre_hooks: dict[int, Callable[..., Any]] = {}
        self._step_post_hooks: dict[int, Callable[..., Any]] = {}
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in vars(cls):
            cls.step = _between_hooks(cls.step)  # type: ignore[method-assign] # wrapped once

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own.

        Raises:
            TypeError: what is to be changed is no tensor.
            ValueError: it is no leaf, belongs to another group, or an option is missing.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        params = [given] if isinstance(given, Tensor) else list(given)
        param_group["params"] = self._named(param_group, params)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            param_group.setdefault(name, default)
        held = {id(each) for group in self.param_groups for each in group["params"]}
        if any(id(each) in held for each in param_group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _named(self, group: dict[str, Any], params: list[Any]) -> list[Tensor]:
        """The tensors, of which a group may hold (name, tensor) pairs instead."""
        if params and all(isinstance(each, tuple) for each in params):
            group["param_names"] = [name for name, _ in params]
            params = [each for _, each in params]
        for each in params:
            if not isinstance(each, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {_type(each)}"
                )
            if not self.defaults.get("differentiable") and not (each.is_leaf or each.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        return params

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of its parameters, or set them to zero."""
        for group in self.param_groups:
            for each in group["params"]:
                if set_to_none or each.grad is None:
                    each.grad = None
                else:
                    each.grad = each.grad.detach() * 0

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient; what `closure`, run first, returns."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                self._update(group)
        return loss

    def _update(self, group: dict[str, Any]) -> None:
        raise NotImplementedError

    def _with_grads(self, group: dict[str, Any]) -> Iterable[tuple[Tensor, Tensor, dict[str, Any]]]:
        """Each parameter that has a gradient, the direction to descend against, and its state."""
        for each in group["params"]:
            if each.grad is not None:
                grad = -each.grad if group.get("maximize") else each.grad
                yield each, grad, self.state[each]

    # ---- hooks, saving and showing ----------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step."""
        return RemovableHandle(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return RemovableHandle(self._step_post_hooks, hook)

    def state_dict(self) -> dict[str, Any]:
        """The groups and the state, with parameters as their numbers."""
        every = [each for group in self.param_groups for each in group["params"]]
        number = {id(each): place for place, each in enumerate(every)}
        groups = [
            {**group, "params": [number[id(each)] for each in group["params"]]}
            for group in self.param_groups
        ]
        state = {number[id(each)]: held for each, held in self.state.items()}
        order = [{k: v for k, v in group.items() if k != "params"} for group in groups]
        for shown, group in zip(order, groups, strict=True):
            shown["params"] = group["params"]
        return {"state": state, "param_groups": order}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` returned, with the same tensors.

        Raises:
            ValueError: its groups are not as many, or not of as many parameters.
        """
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        lengths = [len(group["params"]) for group in saved]
        if lengths != [len(group["params"]) for group in self.param_groups]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        every = [each for group in self.param_groups for each in group["params"]]
        state: defaultdict[Tensor, Any] = defaultdict(dict)
        for key, held in state_dict["state"].items():
            state[every[key] if isinstance(key, int) else key] = dict(held)
        self.state = state
        for group, new in zip(self.param_groups, saved, strict=True):
            group.update({name: value for name, value in new.items() if name != "params"})

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            shown = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            text += f"\nParameter Group {number}\n" + "".join(shown)
        return text + ")"


def _type(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def _between_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A subclass's own `step`, between the hooks."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        for before in list(self._step_pre_hooks.values()):
            before(self, args, kwargs)
        out = step(self, *args, **kwargs)
        for after in list(self._step_post_hooks.values()):
            after(self, args, kwargs)
        return out

    return hooked


Optimizer.step = _between_hooks(Optimizer.step)  # type: ignore[method-assign] # wrapped once


def checked(name: str, allowed: bool, value: Any) -> None:
    """Refuse the value of an option.

    Raises:
        ValueError: it is not allowed.
    """
    if not allowed:
        raise ValueError(f"Invalid {name}: {value}")


__all__ = ["Optimizer", "required"]
