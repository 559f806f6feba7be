"""The library that checked code computes with in this process: the bundled engine or PyTorch.

Both have one API, PyTorch's, and all files beside this one are written once, against that. What
the API leaves open, such as how to batch a Function that does not say how, each library
answers in a file of its own.

As ``import torch`` means one thing in a process, so does `library()`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from gradtool.verify.protocol.differentiable import Array, Cotangents, FailureKind, Primals

if TYPE_CHECKING:
    from gradtool.adapters.common.bound import BoundFunction

Arrays = tuple[Array | None, ...]


class Library(Protocol):
    """What the adapters ask beyond PyTorch's API."""

    name: str
    """As ``--engine`` calls it."""
    torch: Any
    """The module that has the API."""
    Tensor: type[Any]
    Function: type[Any]
    packages: tuple[str, ...]
    """Whose classes are the library's own, not a user's."""

    @property
    def version(self) -> str:
        """Its name and version, for reports."""

    def tensor(self, array: Array) -> Any:
        """A tensor over an array that nothing else holds, with the array's strides."""

    def array(self, tensor: Any) -> Array:
        """The elements in host memory, which may be the tensor's own."""

    def dtype(self, tensor: Any) -> Any:
        """The NumPy dtype of what `array` returns."""

    def shares_memory(self, tensor: Any, other: Any) -> bool:
        """Whether a tensor, which fills its memory, overlaps with another tensor or array."""

    def shares_version(self, tensor: Any, other: Any) -> bool:
        """Whether a change in place of one tensor is counted as one of the other."""

    def is_once_differentiable(self, method: Callable[..., Any]) -> bool:
        """Whether a method carries the mark of ``once_differentiable``."""

    def contract(self, error: Exception) -> FailureKind:
        """Which contract the library says is broken; ``raised`` where the user's code raised."""

    def evaluate_at_once(
        self, bound: BoundFunction, primals: Primals, stacked: Sequence[bool]
    ) -> Arrays:
        """The outputs at many points, by one call of the user's forward.

        Raises whatever says that the code cannot be batched.
        """

    def vjps_at_once(self, bound: BoundFunction, primals: Primals, rows: Cotangents) -> Arrays:
        """The gradients for many cotangents, by one run of the user's backward.

        Raises whatever says that the code cannot be batched.
        """


class _Chosen:
    """What `use` said last."""

    library: Library | None = None


def library() -> Library:
    """The library of this process: the bundled engine, unless another was chosen."""
    if _Chosen.library is None:
        from gradtool.adapters.bundled.library import bundled

        _Chosen.library = bundled()
    return _Chosen.library


@contextmanager
def using(chosen: Library) -> Iterator[None]:
    """Compute with `chosen` in the block."""
    before, _Chosen.library = _Chosen.library, chosen
    try:
        yield
    finally:
        _Chosen.library = before
