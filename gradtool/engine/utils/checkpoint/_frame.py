"""Tensors that a checkpointed call would have saved, computed again when backward needs them.

Forward puts a `_Place` into the graph for each tensor that it would save. The first place that a
backward walk opens computes all of them again, for that walk alone; opening one takes its tensor
out. Checkpoints may be nested: the arguments of an inner one are saved through the outer one, and
so are computed again first.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._apply import Kept
from gradtool.engine.autograd._new_nodes import packer
from gradtool.engine.autograd.grad_mode import enable_grad, no_grad
from gradtool.engine.autograd.graph import saved_tensors_hooks

_DEBUG_TIP = (
    "\nTip: To see a more detailed error message, either pass `debug=True` to\n"
    "`torch.utils.checkpoint.checkpoint(...)` or wrap the code block\n"
    "with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\n"
    "enable checkpoint-debug mode globally.\n"
)


class CheckpointError(RuntimeError):
    """The second call does not save what the first one did, or that was taken out already."""


class _StopRecomputationError(Exception):
    """The second call has computed all that is needed."""


class _Settings(threading.local):
    early_stop: bool | None = None
    group: GraphExecGroup | None = None


_settings = _Settings()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Decide for the forwards in the block if their second call ends early."""
    before, _settings.early_stop = _settings.early_stop, enable
    try:
        yield
    finally:
        _settings.early_stop = before


def stops_early(early_stop: bool) -> bool:
    """Return True if a second call ends early, as the block around it or else the caller says."""
    return early_stop if _settings.early_stop is None else _settings.early_stop


class GraphExecGroup:
    """Block whose backward walks share what is computed again.

    The walks may not need the same saved tensor.

    Raises:
        RuntimeError: on entering within another group.
    """

    def __enter__(self) -> GraphExecGroup:
        if _settings.group is not None:
            raise RuntimeError(
                f"GraphExecGroup contexts cannot be nested. Already inside group {_settings.group}"
            )
        _settings.group = self
        return self

    def __exit__(self, *exc_info: object) -> None:
        _settings.group = None

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return _settings.group


class _Place:
    """Stands in the graph for a saved tensor."""

    __slots__ = ("__weakref__", "tensors")

    def __init__(self) -> None:
        self.tensors: dict[Hashable, Tensor | None] = {}
        """Walk -> the tensor computed for it; None once it was taken out."""


class Frame:
    """One checkpointed call."""

    def __init__(
        self,
        recompute: Callable[..., Any],
        args: Sequence[Any],
        *,
        early_stop: bool,
        describe: Callable[[Tensor], Any],
        explain: Callable[[], str] | None = None,
    ) -> None:
        """Keep the arguments.

        `describe` gives what has to be the same in both calls, and `explain` the text of the error
        if it is not.
        """
        self._recompute = recompute
        self._arguments = [_Argument(each) if isinstance(each, Tensor) else each for each in args]
        self._early_stop = early_stop
        self._describe = describe
        self._explain = explain
        # Weak, so that a walk which frees the graph frees what was computed for it.
        self._places: list[weakref.ref[_Place]] = []
        self._descriptions: list[Any] = []
        self._counts: dict[Hashable, int] = {}
        """Walk -> number of tensors that were saved in computing again for it."""
        self._goes_beyond = False
        self.complete = False
        """The first call has returned."""

    def saving(self) -> saved_tensors_hooks:
        """Return the hooks of the first call."""
        return saved_tensors_hooks(self._pack, self._unpack)

    def _pack(self, tensor: Tensor) -> _Place:
        place = _Place()
        self._places.append(weakref.ref(place))
        with no_grad():
            self._descriptions.append(self._describe(tensor))
        return place

    def _unpack(self, place: _Place) -> Tensor:
        try:
            return self._take(place)
        except CheckpointError as error:
            if self._explain is None:
                raise
            raise CheckpointError(self._explain()) from error

    def _take(self, place: _Place) -> Tensor:
        """Take the tensor out of a place, once it was computed for the walk under way."""
        walk = _walk_under_way()
        if walk not in self._counts:
            self._compute_again(walk)
        tensor = place.tensors[walk]
        if tensor is None:
            raise CheckpointError(_taken_before())
        place.tensors[walk] = None
        return tensor

    def _compute_again(self, walk: Hashable) -> None:
        args = [each.unpack() if isinstance(each, _Argument) else each for each in self._arguments]
        self._counts[walk] = 0
        hooks = saved_tensors_hooks(lambda tensor: self._pack_again(tensor, walk), _same)
        try:
            with hooks, enable_grad(), contextlib.suppress(_StopRecomputationError):
                self._recompute(*args)
        except BaseException:
            del self._counts[walk]
            raise
        if not self._goes_beyond:
            self._check_number(walk)
            self._check_descriptions(walk)

    def _pack_again(self, tensor: Tensor, walk: Hashable) -> Tensor:
        tensor = tensor.detach() if tensor.requires_grad else tensor
        number = self._counts[walk]
        self._counts[walk] += 1
        if number >= len(self._places):
            if self.complete:
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation "
                    f"than during the original forward pass.\n{_DEBUG_TIP}"
                )
            # Backward inside of the function, before all of it has run for the first time.
            self._goes_beyond = True
            return tensor
        place = self._places[number]()
        if place is not None:  # a walk has freed it otherwise
            place.tensors[walk] = tensor
        if self._early_stop and self._counts[walk] == len(self._places):
            raise _StopRecomputationError
        return tensor

    def _check_number(self, walk: Hashable) -> None:
        if len(self._places) != self._counts[walk]:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self._places)}\n"
                f"Number of tensors saved during recomputation: {self._counts[walk]}.\n"
                f"{_DEBUG_TIP}"
            )

    def _check_descriptions(self, walk: Hashable) -> None:
        unlike = ""
        for number, (reference, before) in enumerate(zip(self._places, self._descriptions)):
            place = reference()
            found = None if place is None else place.tensors[walk]
            now = before if found is None else self._describe(found)
            if before != now:
                unlike += (
                    f"tensor at position {number}:\nsaved metadata: {before}\n"
                    f"recomputed metadata: {now}\n"
                )
        if unlike:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                f"different metadata than during the forward pass.\n{unlike}.\n{_DEBUG_TIP}"
            )


class _Argument:
    """A tensor saved as nodes save theirs: through the hooks in force, with its version."""

    def __init__(self, tensor: Tensor) -> None:
        self._kept = Kept(tensor, None)
        if modes.saved_tensor_hooks:
            self._kept.pack(packer(), None)

    def unpack(self) -> Tensor:
        """Return the tensor.

        Raises:
            RuntimeError: it was changed in place since.
        """
        return self._kept.unpack(None)


def _walk_under_way() -> Hashable:
    """Return what tells the walk under way from others; outside of one, something new."""
    if _settings.group is not None:
        return _settings.group
    return object() if modes.walk is None else modes.walk.number


def _taken_before() -> str:
    overlap = (
        "Performing two backward calls that overlap (i.e. require the same saved activation in "
        "order to compute gradients) is not allowed while under the "
        "torch.utils.checkpoint.GraphExecGroup context. "
    )
    return (
        "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked "
        f"once. {'' if _settings.group is None else overlap}If you are calling ctx.saved_tensors "
        "in backward, make sure to do so only once. Otherwise please open an issue with details on "
        "your use case."
    )


def _same(tensor: Tensor) -> Tensor:
    return tensor
