"""torch.device, and which device an array lies on."""

from __future__ import annotations

from typing import Any, ClassVar


class device:
    """A place for tensors: ``cpu``, ``cuda`` or ``cuda:1``.

    Others of PyTorch's can be named, but hold no tensors here.
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: str | device, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        name, _, number = type.partition(":")
        if name not in _TYPES:
            raise RuntimeError(
                f"Expected one of {', '.join(_TYPES)} device type at start of device string: {type}"
            )
        if number and not number.isdigit():
            raise RuntimeError(f"Invalid device string: '{type}'")
        self.type = name
        self.index = int(number) if number else index

    def __enter__(self) -> device:
        _Default.entered.append(_Default.place)
        _Default.place = self
        return self

    def __exit__(self, *_: object) -> None:
        _Default.place = _Default.entered.pop()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"


_TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga",
    "maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip

CPU = device("cpu")


class _Default:
    """The device of tensors that are made without naming one."""

    place = CPU
    entered: ClassVar[list[device]] = []
    """What it was before each ``with torch.device(…)`` that is open."""


def get_default_device() -> device:
    """Return the device of tensors that are made without naming one."""
    return _Default.place


def set_default_device(device: Any) -> None:
    """Make tensors on this device by default; None is the CPU."""
    _Default.place = CPU if device is None else _device(device)


# For `set_default_device`, whose parameter hides the class.
_device = device


def device_of(array: Any) -> device:
    """The device that an array, or what stands for one, lies on. NumPy's says ``cpu``."""
    found = array.device
    return CPU if found == "cpu" else device("cuda", int(found.id))
