"""The library that checked code computes with in this process: the bundled engine or PyTorch.

Both have one API, PyTorch's, and `gradtool.adapters.common` is written once, against that. Each
library answers in a module of its own what the API leaves open, such as how to batch a Function
that does not say how.

As ``import torch`` means one thing in a process, so does `library()`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from gradtool.verify.protocol.observation import Array, Cotangents, Cut, FailureKind, Primals

Arrays = tuple[Array | None, ...]
Outputs = tuple[Any, ...]
"""A tensor for each output; None where it is not a tensor."""

Positions = tuple[int | None, int | None, int | None, int | None]
"""The first and last line, then the first and last column, of an expression."""
Place = tuple[str, int, Positions | None]
"""A file, a line and an expression there; None if the library does not note expressions."""

_ADAPTERS = {
    "bundled": "gradtool.adapters.bundled.library",
    "torch": "gradtool.adapters.torch.library",
}
"""The module of each library, by what ``--engine`` calls it. Its ``load`` returns a `Library`."""


class CaseTensors(Protocol):
    """The tensors among the arguments of a case, recreated for every call."""

    differentiable: tuple[bool, ...]
    """For each tensor."""
    needs_input_grad: tuple[bool, ...]
    """For each argument of ``forward``, tensor or not."""

    def stacked(self, primals: Primals) -> list[Any]:
        """New tensors of the values of many examples."""

    def tracked(self, primals: Primals) -> tuple[list[Any], list[Any]]:
        """New leaves, None for what needs no gradient, and the tensors computed from them."""


class BoundCall(Protocol):
    """A user's function with the arguments of a case, as a library needs it for batching."""

    cls: type[Any] | None
    """The custom Function; None for a plain callable."""
    callable: Callable[..., Any]

    @property
    def arguments(self) -> CaseTensors:
        """The tensors that it is called with."""

    def __call__(self, tensors: Sequence[Any]) -> Outputs:
        """Return the outputs for these tensors."""

    def through(self, function: Callable[..., Any], tensors: Sequence[Any]) -> Outputs:
        """Return the outputs of another function of the same arguments."""


class Snapshot(Protocol):
    """A buffer as it was when the snapshot was taken."""

    def is_changed(self) -> bool:
        """Return True if the buffer differs from the snapshot."""

    def restore(self) -> None:
        """Undo every change since."""


class Library(Protocol):
    """Everything that the adapters need beyond PyTorch's API."""

    name: str
    """As ``--engine`` calls it."""
    torch: Any
    """The module that has the API."""
    Tensor: type[Any]
    Function: type[Any]
    packages: tuple[str, ...]
    """Packages whose classes are the library's own, not a user's."""

    @property
    def version(self) -> str:
        """Its name and version, for reports."""

    def tensor(self, array: Array) -> Any:
        """Return a tensor over an array that nothing else holds, with the array's strides."""

    def array(self, tensor: Any) -> Array:
        """Return the elements in host memory, which may be the tensor's own."""

    def dtype(self, tensor: Any) -> Any:
        """Return the NumPy dtype of what `array` returns."""

    def shares_memory(self, tensor: Any, other: Any) -> bool:
        """Return True if a tensor, which fills its memory, overlaps another tensor or array."""

    def shares_version(self, tensor: Any, other: Any) -> bool:
        """Return True if an in-place change of one tensor counts as a change of the other."""

    def snapshot(self, tensor: Any) -> Snapshot:
        """Take a snapshot of a tensor that user code may change."""

    def places(self, node: Any) -> Iterator[Place]:
        """Yield where a node was made in anomaly mode, the innermost frame first."""

    def is_once_differentiable(self, method: Callable[..., Any]) -> bool:
        """Return True if a method carries the mark of ``once_differentiable``."""

    def contract(self, error: Exception) -> FailureKind:
        """Return the contract that the library reports broken; ``raised`` for user code."""

    def record(self, bound: BoundCall, tensors: Sequence[Any], cuts: list[Cut]) -> Outputs:
        """Return the outputs, differentiated by the steps of forward and never by a backward.

        Functions inside are treated alike, as in `recording`.
        """

    def recording(self, cuts: list[Cut]) -> AbstractContextManager[None]:
        """Differentiate Functions that are applied in the block by the steps of their forward.

        No step is hidden by `no_grad` or `detach`. Where tensors that are differentiated turn into
        plain numbers is added to `cuts`.
        """

    def evaluate_batch(self, bound: BoundCall, primals: Primals, stacked: Sequence[bool]) -> Arrays:
        """Compute the outputs at many points by one call to the user's forward.

        Raises an exception of any type where the code cannot be batched.
        """

    def vjp_batch(self, bound: BoundCall, primals: Primals, rows: Cotangents) -> Arrays:
        """Compute the gradients for many cotangents by one run of the user's backward.

        Raises an exception of any type where the code cannot be batched.
        """


class _Current:
    """The library that `using` set last."""

    library: Library | None = None


def load(engine: str) -> Library:
    """Return the library that ``--engine`` calls `engine`.

    Raises:
        ImportError: It is not installed, or does not load.
    """
    # By name, so that what is written against this protocol does not depend on any library.
    found: Library = importlib.import_module(_ADAPTERS[engine]).load()
    return found


def library() -> Library:
    """Return the library of this process: the bundled engine, unless another was chosen."""
    if _Current.library is None:
        _Current.library = load("bundled")
    return _Current.library


@contextmanager
def using(chosen: Library) -> Iterator[None]:
    """Compute with `chosen` in the block."""
    before, _Current.library = _Current.library, chosen
    try:
        yield
    finally:
        _Current.library = before
