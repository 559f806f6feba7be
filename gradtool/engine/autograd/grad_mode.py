"""Switches for recording: as context managers, as decorators, or called as functions."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gradtool.engine._modes import marking, modes
from gradtool.engine._tensor import Tensor

_F = TypeVar("_F", bound=Callable[..., Any])


__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class _Switch:
    """A context manager, and a decorator that enters it at each call of a function."""

    def clone(self) -> Any:
        """A switch that sets the same."""
        return type(self)()

    def __call__(self, function: _F) -> _F:
        """`function` with each call under the mode; for a class, the making of its objects."""
        if inspect.isgeneratorfunction(function):
            stepping: _F = _wrap_generator(self, function)
            return stepping
        if inspect.isclass(function):
            warnings.warn(_CLASS_DECORATED, FutureWarning, stacklevel=2)
            making: _F = self._wrap(lambda *args, **kwargs: function(*args, **kwargs))
            return making
        wrapped: Any = functools.update_wrapper(self._wrap(function), function)
        return wrapped  # type: ignore[no-any-return]  # it keeps the signature

    def _wrap(self, function: Callable[..., Any]) -> Any:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            # A switch for each call: calls overlap in recursion and in threads.
            with self.clone():
                return function(*args, **kwargs)

        return wrapped


class _GradMode(_Switch):
    """Sets the recording of operations for a block, or for each call of a function."""

    mode = True

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        # As in torch, a switch entered again within its own block forgets what was before.
        self.prev = is_grad_enabled()
        _set_grad(self.mode)

    def __exit__(self, *exc_info: object) -> None:
        _set_grad(self.prev)


def _set_grad(mode: bool) -> None:
    # What a forward does is part of it in any mode, where forward itself is recorded.
    if modes.recording is None:
        modes.grad, modes.grad_in_inference = mode and not modes.inference, mode


_CLASS_DECORATED = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only "
    "decorate functions or methods. To preserve the current behavior of class decoration, you can "
    "directly decorate the `__init__` method and nothing else."
)


def _wrap_generator(mode: _Switch, function: Any) -> Any:
    """Each step of the generator runs under the mode; its caller's code between steps does not."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        step = functools.partial(generator.send, None)
        while True:
            try:
                with mode.clone():
                    value = step()
            except StopIteration as stop:
                return stop.value
            try:
                step = functools.partial(generator.send, (yield value))
            except GeneratorExit:
                with mode.clone():
                    generator.close()
                raise
            except BaseException as error:
                step = functools.partial(generator.throw, error)

    return wrapped


class no_grad(_GradMode):
    """Operations are not recorded. Also decorates, with or without parentheses."""

    mode = False

    def __new__(cls, function: Any = None) -> Any:
        """A switch; or, given a function, that function decorated with one."""
        return _switch_or_decorate(cls, function)


class enable_grad(_GradMode):
    """Operations on tensors that require a gradient are recorded. Also decorates."""

    mode = True

    def __new__(cls, function: Any = None) -> Any:
        """A switch; or, given a function, that function decorated with one."""
        return _switch_or_decorate(cls, function)


def _switch_or_decorate(cls: type[_GradMode], function: Any) -> Any:
    switch = object.__new__(cls)
    if function is None:
        return switch
    # Python skips `__init__` when `__new__` returns a function.
    _GradMode.__init__(switch)
    return switch(function)


class set_grad_enabled(_GradMode):
    """Record or not, from here on; as a context manager, until the block ends."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self.mode = mode
        self.prev = is_grad_enabled()
        _set_grad(mode)

    def __enter__(self) -> None:
        _set_grad(self.mode)

    def __call__(self, function: _F) -> _F:
        """`function` decorated; the mode outside it stays what it was."""
        # Undo the switch of `__init__`: a decorator acts during calls only.
        _set_grad(self.prev)
        return super().__call__(function)

    def clone(self) -> Any:
        """A switch that sets the same, from here on."""
        return set_grad_enabled(self.mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(_GradMode):
    """Nothing is recorded, and what is made can never be. Also decorates.

    ``inference_mode(False)`` leaves an outer one for its block.
    """

    def __new__(cls, mode: Any = True) -> Any:
        """A switch; or, given a function, that function decorated with one."""
        switch = object.__new__(cls)
        if isinstance(mode, bool):
            return switch
        switch.__init__()  # type: ignore[misc]  # it is not called for what is no instance
        return switch(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._outer: tuple[bool, bool, bool, bool] | None = None

    def __enter__(self) -> None:
        again, self._outer = (
            self._outer,
            (modes.inference, modes.forward, modes.grad, modes.grad_in_inference),
        )
        if modes.recording is None:
            self._switch(self.mode)
            modes.grad = modes.forward = modes.grad_in_inference = not self.mode
        if again is not None:  # As in torch, entered again it ends its first block.
            self._restore(*again)

    def __exit__(self, *exc_info: object) -> None:
        if self._outer is not None:
            self._restore(*self._outer)
            self._outer = None

    def _restore(self, inference: bool, forward: bool, grad: bool, asked: bool) -> None:
        modes.forward, modes.grad, modes.grad_in_inference = forward, grad, asked
        self._switch(inference)

    @staticmethod
    def _switch(inference: bool) -> None:
        # Blocks nest: only a change of this thread's mode counts.
        marking.threads += inference - modes.inference
        modes.inference = inference

    def clone(self) -> Any:
        """A switch that sets the same."""
        return inference_mode(self.mode)


def is_inference_mode_enabled() -> bool:
    """Return True if tensors made in this thread can never be recorded."""
    return modes.inference


def is_grad_enabled() -> bool:
    """Return True if operations are recorded in this thread, were it not for inference mode."""
    return modes.grad or (modes.inference and modes.grad_in_inference)


class _NoEffect(_Switch):
    """A switch without effect: a function, a decorator, or a context manager."""

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        pass

    def clone(self) -> Any:
        """A switch without effect."""
        return type(self)(self.mode)


class set_multithreading_enabled(_NoEffect):
    """Accepted: the backward walk runs in the thread that asks for it."""

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self.prev = modes.multithreading
        modes.multithreading = self.mode

    def __exit__(self, *exc_info: object) -> None:
        modes.multithreading = self.prev


def is_multithreading_enabled() -> bool:
    """Return True unless `set_multithreading_enabled` says otherwise."""
    return modes.multithreading


class enforce_grad_layout_policy(_NoEffect):
    """Accepted: gradients that leaves accumulate are copies of their own here."""


class _force_original_view_tracking(_NoEffect):
    """Show the steps of a view of a changed base; they are always derived by those steps."""

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self.prev = modes.view_replay
        modes.view_replay = self.mode

    def __exit__(self, *exc_info: object) -> None:
        modes.view_replay = self.prev


def is_view_replay_enabled() -> bool:
    """Return False unless `_force_original_view_tracking` says otherwise."""
    return modes.view_replay


def set_versions(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Set the numbers of changes counted.

    Raises:
        RuntimeError: one is negative or not counted, or there is not one for each tensor.
    """
    if len(tensors) != len(versions):
        raise RuntimeError(f"tensors_len={len(tensors)}, versions_len={len(versions)}")
    for tensor, version in zip(tensors, versions):
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
        if tensor.is_inference():
            raise RuntimeError(
                "Tried to call torch.autograd._unsafe_set_version() on a tensor that does not have "
                "a version counter. Was it created in inference mode?"
            )
        tensor._shared_storage().version = version


class _unsafe_preserve_version_counter(_Switch):
    """In-place changes of these tensors in the block go uncounted."""

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        self.prev_versions = [tensor._version for tensor in self.tensors]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        set_versions(self.tensors, self.prev_versions)

    def clone(self) -> Any:
        """A switch for the same tensors."""
        return type(self)(self.tensors)
