"""Views: the memory that they share, and what they are of.

A view computed from a base keeps its place in the graph until the memory changes in place. After
that its place is derived from what the base has become, when it is first asked for: some views,
by how they were made, have none then.
"""

from __future__ import annotations

import re
import weakref
from typing import TYPE_CHECKING, Any

from gradtool.engine._modes import modes

# `_tensor` imports this module.
if TYPE_CHECKING:
    from gradtool.engine._tensor import Tensor
    from gradtool.engine.autograd._node import Node


_NO_VERSION = -1

_NO_VIEWS: list[weakref.ref[Tensor]] = []
"""The views of all memory that has none; never added to."""
_FIRST_PRUNED_AT = 64


class Storage:
    """Memory that a tensor and its views share. It counts its in-place changes."""

    __slots__ = ("_prune_at", "_views", "version")

    _views: list[weakref.ref[Tensor]]

    def __init__(self, version: int = 0) -> None:
        self.version = version
        self._views = _NO_VIEWS
        self._prune_at = _FIRST_PRUNED_AT

    def add_view(self, view: Tensor) -> None:
        """Remember a view, as long as anything else refers to it."""
        views = self._views
        if views is _NO_VIEWS:
            self._views = [weakref.ref(view)]
            return
        views.append(weakref.ref(view))
        if len(views) > self._prune_at:
            self._views = [each for each in views if each() is not None]
            # A growing threshold keeps the cost for each view constant.
            self._prune_at = _FIRST_PRUNED_AT + 2 * len(self._views)

    def living_views(self) -> list[Tensor]:
        """The views that are still referred to, oldest first."""
        return [view for view in (each() for each in self._views) if view is not None]

    def saved_version(self) -> int:
        """The version at which a node of the graph saves a tensor of this memory."""
        return self.version

    def bump(self) -> None:
        """Count a change, after which no view is what it was computed as."""
        self.version += 1
        if self._views:
            self.outdate_views()

    def outdate_views(self) -> None:
        """Have each view of which gradients are asked find its place in the graph anew."""
        for tensor in self.living_views():
            view = tensor._view
            if view is not None and (view.base._requires_grad or tensor._node is not None):
                if tensor._node is not None:
                    view.outdated, tensor._node = tensor._node, None
                tensor._requires_grad = True
                view.version = _NO_VERSION

    def pass_on_requires_grad(self, base: Tensor) -> None:
        """Have the views of a leaf, which no node computed, require a gradient when it does."""
        for tensor in self.living_views():
            view = tensor._view
            if view is not None and view.base is base and not tensor._had_node():
                tensor._requires_grad = base._requires_grad or view.owns_flag


_new = object.__new__


def new_storage() -> Storage:
    """Return ``Storage()``, by one call less."""
    storage: Storage = _new(Storage)
    storage.version = 0
    storage._views = _NO_VIEWS
    storage._prune_at = _FIRST_PRUNED_AT
    return storage


class InferenceStorage(Storage):
    """Memory of a tensor made in inference mode, whose changes are not counted."""

    __slots__ = ("levels",)

    def __init__(self, levels: tuple[Any, ...] = ()) -> None:
        super().__init__()
        self.levels = levels
        """The transforms that were under way."""

    def saved_version(self) -> int:
        """Zero in inference mode, also inside of a transform that was called there.

        Raises:
            RuntimeError: outside of it.
        """
        if modes.inference or any(level.in_inference for level in modes.levels):
            return 0
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
            "inference mode in computation tracked by autograd. To work around this, you can make "
            "a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
            "instead of `torch.inference_mode()`."
        )

    def bump(self) -> None:
        """Count nothing.

        Raises:
            RuntimeError: outside of inference mode; as in torch, after the change.
        """
        if not modes.inference:
            raise RuntimeError(
                "Inplace update to inference tensor outside InferenceMode is not allowed.You can "
                "make a clone to get a normal tensor before doing inplace update.See "
                "https://github.com/pytorch/rfcs/pull/17 for more details."
            )


class DetachedInferenceStorage(InferenceStorage):
    """Memory of such a tensor after it was detached elsewhere, where it may be changed."""

    __slots__ = ()

    def bump(self) -> None:
        """Count nothing."""


class TransformStorage(Storage):
    """Memory of a tensor made inside transforms that may change no other tensor in place."""

    __slots__ = ("levels",)

    def __init__(self, levels: tuple[Any, ...]) -> None:
        super().__init__()
        self.levels = levels
        """The transforms that were under way."""


NO_GRAD, INFERENCE, SEVERAL, CUSTOM = "no_grad", "inference", "several", "custom"
"""How a view was made of which autograd cannot follow an in-place change: outside of the graph,
as one of several outputs, or by a custom Function."""


Steps = tuple[tuple[Any, dict[str, Any]], ...]
"""Primitives with their parameters."""


_OF_PARTS = frozenset((
    "conj", "imag", "neg_view", "real", "view_as_complex", "view_as_real",
))  # fmt: skip


class View:
    """The history of a view: applying `steps` to `base` gives it."""

    __slots__ = ("base", "made", "outdated", "owns_flag", "steps", "version")

    base: Tensor
    steps: Steps
    made: str | None
    """The kind of a view that may not be changed in place, None for most."""
    version: int
    """The version of the memory to which the view's place in the graph belongs."""
    outdated: Node | None
    """That place, once the version is another."""
    owns_flag: bool
    """Whether `requires_grad` was set on the view itself."""

    def is_of_parts(self) -> bool:
        """Return True for a view of the parts of complex numbers, or of numbers as parts.

        As in torch, such a view remembers how it was made, and not what became of it.
        """
        return not _OF_PARTS.isdisjoint(primitive.name for primitive, _ in self.steps)

    def replay(self, base: Tensor) -> Tensor:
        """Return the same view of another tensor of the base's shape."""
        return replay(self.steps, base)


def replay(steps: Steps, base: Tensor) -> Tensor:
    """Return the view that the steps lead to from a tensor."""
    for primitive, params in steps:
        base = primitive(base, **params)
    return base


_WHERE = " {} mode and {} modified inplace {}."
_BOTH = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the {0} block (if you don't "
    "want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
_WHY = {
    NO_GRAD: _BOTH.format("no_grad"),
    INFERENCE: _BOTH.format("inference_mode"),
    SEVERAL: (
        " This view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace. You should replace the inplace operation "
        "by an out-of-place one."
    ),
    CUSTOM: (
        " This view was created inside a custom Function (or because an input was returned as-is) "
        "and the autograd logic to handle view+inplace would override the custom backward "
        "associated with the custom Function, leading to incorrect gradients. This behavior is "
        "forbidden. You can fix this by cloning the output of the custom Function."
    ),
}


def not_followed(tensor: Tensor, *, directly: bool) -> RuntimeError:
    """The error for a change that autograd cannot follow of a view, or of what it is a view of."""
    view: Any = tensor._view
    node: Any = tensor._node or view.outdated
    object_ = "is being" if directly else "its base or another view of its base has been"
    name = "" if node is None else short_name(node.shown())
    output = f"Output {_number(node)} of {name} is a view" if name else ""
    if node is not None and view.made in (SEVERAL, CUSTOM):
        message = f"{output} and {object_} modified inplace."
    else:
        began = f"{output} of a view which" if output else "A view"
        inference = view.made == INFERENCE
        message = f"{began} was created in" + _WHERE.format(
            "inference" if inference else "no_grad",
            object_,
            "in normal mode" if inference else "with grad mode enabled",
        )
    return RuntimeError(message + _WHY[view.made])


def _number(node: Any) -> int:
    number: int = getattr(node, "number", 0)
    return number


OF_TORCH_ITSELF = ("CopyBackwards", "CopySlices", "Identity", "NotImplemented")
"""Nodes whose class torch does not generate."""


def short_name(node: Node) -> str:
    """The name of a node as messages have it: ``Mul``, ``Squeeze1``."""
    name = node._name()
    if name in OF_TORCH_ITSELF:
        return f"torch::autograd::{name}"
    return re.sub(r"Backward0?(?=\d*$)", "", name)


def version_of(tensor: Tensor) -> int:
    """Return the version at which a tensor is saved.

    Raises:
        RuntimeError: it was made in inference mode.
    """
    return 0 if tensor._storage is None else tensor._storage.saved_version()


def counted_version(tensor: Tensor) -> int:
    """Return the number of changes of a tensor's memory."""
    return 0 if tensor._storage is None else tensor._storage.version
