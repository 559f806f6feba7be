"""The user's PyTorch as a `Library`.

PyTorch batches a custom Function only by the rule that the Function declares. The checker also
batches Functions that declare nothing: it runs the user's ``forward`` itself under ``vmap``, with
a ctx that keeps nothing.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from gradtool.adapters.common.vjp import vjp
from gradtool.adapters.library import Arrays, BoundCall, Library, Outputs, Place, Snapshot
from gradtool.adapters.torch.recording import recording, values_of
from gradtool.verify.protocol.observation import Array, Cotangents, Cut, FailureKind, Primals

_CONTRACTS: tuple[tuple[str, FailureKind], ...] = (
    (r"returned an incorrect number of gradients", "gradient-count"),
    (r"invalid gradient at index \d+ - got .* but expected shape", "gradient-shape"),
    (r"invalid gradient at index \d+ - expected device", "gradient-device"),
    (r"invalid gradient at index \d+ - expected type", "gradient-type"),
    (r"expected Variable or None", "gradient-type"),
    (r"input_is_complex == grad_is_complex", "gradient-type"),
    (r"returned a gradient different than None at position", "gradient-type"),
    (r"marked as dirty during the forward method were not returned", "dirty-not-returned"),
    (r"mark_dirty only accepts input tensors", "dirty-not-returned"),
    (r"[Ii]mplementing both 'backward' and 'vjp'", "both-backward-and-vjp"),
    (r"must implement either the backward or vjp method", "no-backward"),
    (r"must implement the forward function", "no-backward"),
    (r"a function that was marked with @once_differentiable", "once-differentiable"),
    (r"does not require grad and does not have a grad_fn", "no-graph"),
    (r"One of the differentiated Tensors does not require grad", "no-graph"),
    (r"save_for_backward can only save variables", "saved-type"),
    (r"leaf Variable that requires grad is being used in an in-place", "undeclared-in-place"),
)  # fmt: skip
"""Patterns of PyTorch's messages, whose errors carry no kind -> the contract that is broken."""


_FRAME = re.compile(r'  File "(.*)", line (\d+)')


class _PyTorch:
    """The PyTorch of this process. See `gradtool.adapters.library.Library`."""

    name: str = "torch"
    packages: tuple[str, ...] = ("torch",)

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.Tensor: type[Any] = torch.Tensor
        self.Function: type[Any] = torch.autograd.Function
        self._floats = (torch.float16, torch.float32, torch.float64)
        # The decorator leaves no mark but its wrapper, of which all decorated methods share the
        # code.
        mark = torch.autograd.function.once_differentiable(lambda *_: None)
        self._once_differentiable = mark.__code__

    @property
    def version(self) -> str:
        return f"PyTorch {self.torch.__version__}"

    def tensor(self, array: Array) -> Any:
        over = self.torch.from_numpy(array)
        # A copy, since a Function may resize what it is given, and NumPy's memory stays as it is.
        return over.clone() if array.flags.c_contiguous else over

    def array(self, tensor: Any) -> Array:
        if tensor.layout is not self.torch.strided:
            # NumPy has no sparse arrays.
            tensor = tensor.to_dense()
        # NumPy has neither bfloat16 nor the floats of a byte, nor complex numbers of halves.
        if tensor.is_floating_point() and tensor.dtype not in self._floats:
            tensor = tensor.float()
        elif tensor.dtype is self.torch.complex32:
            tensor = tensor.to(self.torch.complex64)
        if tensor.is_contiguous():
            # PyTorch never resizes memory that NumPy has seen.
            tensor = tensor.detach().clone()
        found: Array = tensor.numpy(force=True)
        return found

    def dtype(self, tensor: Any) -> Any:
        return self.array(tensor.detach().new_empty(())).dtype

    def shares_memory(self, tensor: Any, other: Any) -> bool:
        if tensor.layout is not self.torch.strided:
            return False
        if not isinstance(other, self.Tensor):
            if tensor.device.type != "cpu":
                return False
            # Bounds are compared here and below: exact overlap is exponential to decide in the
            # worst case.
            return np.may_share_memory(self.array(tensor), other)
        if other.layout is not self.torch.strided or tensor.device != other.device:
            return False
        # An empty tensor may have any address.
        if not tensor.numel() or not other.numel():
            return False
        one, two = _extent(tensor), _extent(other)
        return one[0] < two[1] and two[0] < one[1]

    def shares_version(self, tensor: Any, other: Any) -> bool:
        before = other._version
        version = tensor._version
        # PyTorch does not say whether two tensors share a counter; raising one and watching the
        # other does.
        self.torch.autograd.graph.increment_version(tensor)
        shared = bool(other._version != before)
        # Put back, or saved tensors would be refused in backward as modified.
        self.torch._C._autograd._unsafe_set_version_counter((tensor,), (version,))
        return shared

    def snapshot(self, tensor: Any) -> Snapshot:
        return _TensorSnapshot(self, tensor)

    def places(self, node: Any) -> Iterator[Place]:
        for entry in reversed(node.metadata.get("traceback_", ())):
            if found := _FRAME.match(entry):
                yield found[1], int(found[2]), None

    def is_once_differentiable(self, method: Callable[..., Any]) -> bool:
        return getattr(method, "__code__", None) is self._once_differentiable

    def contract(self, error: Exception) -> FailureKind:
        message = str(error)
        for pattern, kind in _CONTRACTS:
            if re.search(pattern, message):
                return kind
        return "raised"

    def record(self, bound: BoundCall, tensors: Sequence[Any], cuts: list[Cut]) -> Outputs:
        with self.recording(cuts):
            return bound.through(values_of(bound), tensors)

    def recording(self, cuts: list[Cut]) -> AbstractContextManager[None]:
        return recording(self.torch, cuts)

    def evaluate_batch(self, bound: BoundCall, primals: Primals, stacked: Sequence[bool]) -> Arrays:
        dims = tuple([0 if flag else None for flag in stacked])
        forward = values_of(bound)
        places: list[bool] = []

        def found(*tensors: Any) -> tuple[Any, ...]:
            outputs = bound.through(forward, tensors)
            places[:] = [output is not None for output in outputs]
            return tuple([output for output in outputs if output is not None])

        with self._without_warnings(), self.torch.no_grad():
            stacks = self.torch.func.vmap(found, dims)(*bound.arguments.stacked(primals))
        return self._placed(stacks, places)

    def vjp_batch(self, bound: BoundCall, primals: Primals, rows: Cotangents) -> Arrays:
        with self._without_warnings(), self.torch.enable_grad():
            leaves, tensors = bound.arguments.tracked(primals)
            pairs = [
                (output, self.tensor(np.array(row)).to(output.device))
                for output, row in zip(bound(tensors), rows, strict=True)
                if row is not None and output is not None and output.requires_grad
            ]
            places: list[bool] = []

            def found(*cotangents: Any) -> tuple[Any, ...]:
                gradients = vjp(tuple(output for output, _ in pairs), cotangents, leaves)
                places[:] = [gradient is not None for gradient in gradients]
                return tuple([gradient for gradient in gradients if gradient is not None])

            stacks = self.torch.func.vmap(found)(*[cotangent for _, cotangent in pairs])
        return self._placed(stacks, places)

    @contextmanager
    def _without_warnings(self) -> Iterator[None]:
        """Suppress warnings about code that PyTorch cannot batch: users did not ask for batches."""
        # Private, so it may be missing in other versions.
        enable_warning = getattr(
            self.torch._C._functorch, "_set_vmap_fallback_warning_enabled", None
        )
        if enable_warning is not None:
            enable_warning(False)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                yield
        finally:
            if enable_warning is not None:
                enable_warning(True)

    def _placed(self, stacks: Sequence[Any], places: Sequence[bool]) -> Arrays:
        """Copies of the stacks, with None between them where there is none."""
        found = iter(stacks)
        return tuple([np.array(self.array(next(found))) if there else None for there in places])


class _TensorSnapshot:
    """A tensor with its values as they were."""

    def __init__(self, pytorch: _PyTorch, tensor: Any) -> None:
        self._pytorch = pytorch
        self._tensor = tensor
        self._values = tensor.detach().clone()

    def is_changed(self) -> bool:
        now, before = map(self._pytorch.array, (self._tensor, self._values))
        return now.tobytes() != before.tobytes()

    def restore(self) -> None:
        if self.is_changed():
            # Through `data`, so that restoring neither is recorded nor counts as a new version.
            self._tensor.data.copy_(self._values)


def _extent(tensor: Any) -> tuple[int, int]:
    """The addresses between which a tensor's elements lie."""
    last = sum(
        (extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride(), strict=True)
    )
    start: int = tensor.data_ptr()
    return start, start + (last + 1) * tensor.element_size()


@functools.cache
def load() -> Library:
    """Return the installed PyTorch.

    Raises:
        ImportError: There is none, or it does not load.
    """
    import torch

    return _PyTorch(torch)
