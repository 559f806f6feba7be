"""Libraries whose ``Tensor.to`` is measured: the bundled engine, and PyTorch where it is installed.

Each makes tensors over existing host memory and tensors of the device, and gives the memory of its
results. PyTorch is imported only for a cell that measures it.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, Protocol

from gradtool.device import array_module
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.machines.machine import Buffer
from gradtool.transfer.measuring.operation import Workspace


class Library(Protocol):
    """A library."""

    def over(self, array: Buffer) -> Any:
        """Make a tensor over host memory."""

    def on_device(self, size: int, place: str) -> Any:
        """Make a new tensor of bytes on a device."""

    def memory(self, tensor: Any) -> Buffer:
        """The bytes that a tensor lies in."""

    def enter(self, workspace: Workspace) -> None:
        """Queue its work on the workspace's stream from now on."""

    def leave(self) -> None:
        """Return to the stream that was current before."""


class Engine:
    """The bundled engine, which follows CuPy's current stream."""

    def __init__(self) -> None:
        self._module: Any = importlib.import_module("gradtool.engine")

    def over(self, array: Buffer) -> Any:
        """Call `from_numpy`."""
        return self._module.from_numpy(array)

    def on_device(self, size: int, place: str) -> Any:
        """Call `empty`."""
        return self._module.empty(size, dtype=self._module.uint8, device=place)

    def memory(self, tensor: Any) -> Buffer:
        """The tensor's array."""
        return tensor._array

    def enter(self, workspace: Workspace) -> None:
        """Do nothing: the stream of the workspace is CuPy's current one."""

    def leave(self) -> None:
        """Do nothing."""


class Torch:
    """PyTorch, which has a current stream of its own."""

    def __init__(self, workspace: Workspace) -> None:
        """Import it.

        Raises:
            UnavailableError: It is not installed, or cannot use the device.
        """
        if importlib.util.find_spec("torch") is None:
            raise UnavailableError("PyTorch is not installed, so its .to is not measured")
        self._module: Any = importlib.import_module("torch")
        if not workspace.machine.on_host and not self._module.cuda.is_available():
            raise UnavailableError("the installed PyTorch cannot use CUDA here")
        self._before: Any = None

    def over(self, array: Buffer) -> Any:
        """Call `from_numpy`."""
        return self._module.from_numpy(array)

    def on_device(self, size: int, place: str) -> Any:
        """Call `empty`."""
        return self._module.empty(size, dtype=self._module.uint8, device=place)

    def memory(self, tensor: Any) -> Buffer:
        """As NumPy's array, or as CuPy's over the same memory."""
        return array_module("cuda").asarray(tensor) if tensor.is_cuda else tensor.numpy()

    def enter(self, workspace: Workspace) -> None:
        """Make the workspace's stream PyTorch's current one."""
        if not workspace.machine.on_host and self._before is None:
            cuda, place = self._module.cuda, workspace.machine.place
            self._before = cuda.current_stream(place)
            cuda.set_stream(cuda.ExternalStream(workspace.stream.ptr, device=place))

    def leave(self) -> None:
        """Restore PyTorch's current stream."""
        if self._before is not None:
            self._module.cuda.set_stream(self._before)
            self._before = None
