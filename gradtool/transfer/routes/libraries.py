"""Libraries whose ``Tensor.to`` is measured: the bundled engine, and PyTorch where it is installed.

Each is asked for tensors over host memory that is there, for tensors of the device, and for the
memory of what it returns. PyTorch is imported when a cell of its own is made, never before.
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
    """One of them."""

    def over(self, array: Buffer) -> Any:
        """A tensor over host memory."""

    def on_device(self, size: int, place: str) -> Any:
        """A new tensor of bytes on a device."""

    def memory(self, tensor: Any) -> Buffer:
        """The bytes that a tensor lies in."""

    def enter(self, workspace: Workspace) -> None:
        """Give its work to the workspace's stream from now on."""

    def leave(self) -> None:
        """Give it to the stream that it was given to before."""


class Engine:
    """The bundled engine, which follows CuPy's current stream."""

    def __init__(self) -> None:
        self._module: Any = importlib.import_module("gradtool.engine")

    def over(self, array: Buffer) -> Any:
        """By `from_numpy`."""
        return self._module.from_numpy(array)

    def on_device(self, size: int, place: str) -> Any:
        """By `empty`."""
        return self._module.empty(size, dtype=self._module.uint8, device=place)

    def memory(self, tensor: Any) -> Buffer:
        """The tensor's array."""
        return tensor._array

    def enter(self, workspace: Workspace) -> None:
        """Nothing: the workspace makes its stream CuPy's current one."""

    def leave(self) -> None:
        """Nothing."""


class Torch:
    """PyTorch, which has a current stream of its own."""

    def __init__(self, workspace: Workspace) -> None:
        """Import it.

        Raises:
            UnavailableError: it is not installed, or cannot use the device.
        """
        if importlib.util.find_spec("torch") is None:
            raise UnavailableError("PyTorch is not installed: with it, its own .to stands beside")
        self._module: Any = importlib.import_module("torch")
        if not workspace.machine.simulated and not self._module.cuda.is_available():
            raise UnavailableError("the PyTorch that is installed cannot use CUDA here")
        self._before: Any = None

    def over(self, array: Buffer) -> Any:
        """By `from_numpy`."""
        return self._module.from_numpy(array)

    def on_device(self, size: int, place: str) -> Any:
        """By `empty`."""
        return self._module.empty(size, dtype=self._module.uint8, device=place)

    def memory(self, tensor: Any) -> Buffer:
        """As NumPy's array, or as CuPy's over the same memory."""
        return array_module("cuda").asarray(tensor) if tensor.is_cuda else tensor.numpy()

    def enter(self, workspace: Workspace) -> None:
        """Make the workspace's stream PyTorch's current one."""
        if not workspace.machine.simulated and self._before is None:
            cuda, place = self._module.cuda, workspace.machine.place
            self._before = cuda.current_stream(place)
            cuda.set_stream(cuda.ExternalStream(workspace.stream.ptr, device=place))

    def leave(self) -> None:
        """Make the one from before the current one."""
        if self._before is not None:
            self._module.cuda.set_stream(self._before)
            self._before = None
