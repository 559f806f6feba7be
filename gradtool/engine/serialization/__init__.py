"""``torch.save`` and ``torch.load``: tensors and containers of them in files.

The engine writes a format of its own: a mark, then a pickle. It also reads PyTorch's archives.
"""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from gradtool.engine import _dtypes
from gradtool.engine._device import device as device_type
from gradtool.engine._narrow import LIMITS
from gradtool.engine._ops.creation.literals import from_numpy
from gradtool.engine._size import Size
from gradtool.engine._tensor import Tensor, to_numpy
from gradtool.engine.nn.parameter import Parameter
from gradtool.engine.serialization._archive import STORAGES, Archive, strided

_MARK = b"gradtool tensors 1\n"


def save(
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write an object to a path or a binary file."""
    # Pickled in full first: an object that cannot be pickled leaves no partial file.
    held = io.BytesIO()
    _Pickler(held, protocol=pickle.HIGHEST_PROTOCOL).dump(obj)
    if hasattr(f, "write"):
        f.write(_MARK + held.getvalue())
        return
    path = Path(f)
    # Renamed when complete, so that readers and other writers never meet a part of it.
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(_MARK + held.getvalue())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read an object from a file that `save` wrote, or PyTorch.

    With `weights_only`, the default, it may contain tensors, numbers, strings and containers only.

    Raises:
        UnpicklingError: the file is another library's, or holds what `weights_only` forbids.
    """
    # `weights_only=None` means torch's default, which has been True since 2.6.
    if hasattr(f, "read"):
        return _read(f, map_location, weights_only is not False)
    with Path(f).open("rb") as file:
        return _read(file, map_location, weights_only is not False)


def _read(file: BinaryIO, map_location: Any, weights_only: bool) -> Any:
    start = file.tell()
    if file.read(len(_MARK)) == _MARK:
        return _Unpickler(file, map_location, weights_only).load()
    file.seek(start)
    try:
        archive = Archive(file)
        return _OfArchive(archive, map_location, weights_only).load()
    except (zipfile.BadZipFile, KeyError):
        raise pickle.UnpicklingError(
            "gradtool's engine only reads files that torch.save wrote as an archive or in the "
            "engine's own format; this is not one"
        ) from None


class _Pickler(pickle.Pickler):
    """Pickler that writes tensors as arrays with their properties."""

    def reducer_override(self, obj: Any) -> Any:
        """Reduce tensors to arrays, and dtypes and devices to their names."""
        if isinstance(obj, Tensor):
            kind = "parameter" if isinstance(obj, Parameter) else "tensor"
            array = to_numpy(obj._array).copy()
            return _tensor, (kind, array, str(obj.device), obj.requires_grad and obj.is_leaf)
        if isinstance(obj, _dtypes.dtype):
            # Not by its `__reduce__`, whose function `weights_only` does not admit.
            return _dtype, (str(obj).removeprefix("torch."),)
        return NotImplemented


def _tensor(kind: str, array: Any, place: str, requires_grad: bool) -> Tensor:
    made: Tensor = from_numpy(array).to(place)
    if kind == "parameter":
        return Parameter(made, requires_grad)
    made.requires_grad = requires_grad
    return made


def _dtype(name: str) -> Any:
    return _dtypes.ALIASES[name]


_ALLOWED: dict[tuple[str, str], Any] = {
    (each.__module__, each.__qualname__): each
    for each in (OrderedDict, Size, device_type, set, frozenset, complex, bytearray, slice, range)
} | {(__name__, each.__name__): each for each in (_tensor, _dtype)}
_ALLOWED |= {("torch", each.__name__): each for each in (Size, device_type)}
"""Find classes by torch's names, which they have in the process of a script."""

# NumPy 2 renamed `numpy.core` to `numpy._core`.
_OF_ARRAYS = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray", "numpy._core.numeric")
_ARRAY_PARTS = ("_reconstruct", "ndarray", "dtype", "scalar", "_frombuffer")


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BinaryIO, map_location: Any, weights_only: bool) -> None:
        super().__init__(file)
        self._place, self._weights_only = map_location, weights_only

    def find_class(self, module: str, name: str) -> Any:
        """Find a global; with `weights_only`, parts of tensors only."""
        if (module, name) == (__name__, "_tensor"):
            return self._placed
        allowed = (
            (module, name) in _ALLOWED
            or (module in _OF_ARRAYS and name in _ARRAY_PARTS)
            or (module == "ml_dtypes" and name in LIMITS)
        )
        if self._weights_only and not allowed:
            raise pickle.UnpicklingError(
                "Weights only load failed. In PyTorch 2.6, we changed the default value of the "
                "`weights_only` argument in `torch.load` from `False` to `True`. Re-running "
                "`torch.load` with `weights_only` set to `False` will likely succeed, but it can "
                "result in arbitrary code execution. Do it only if you got the file from a "
                f"trusted source. Unsupported global: GLOBAL {module}.{name}"
            )
        return super().find_class(module, name)

    def _placed(self, kind: str, array: Any, place: str, requires_grad: bool) -> Tensor:
        """Move the tensor as `map_location` says."""
        where: Any = self._place
        if isinstance(where, dict):
            place = where.get(place, place)
        elif where is not None and not isinstance(where, Callable):  # type: ignore[arg-type] # abc
            place = str(where)
        return _tensor(kind, array, place, requires_grad)


class _OfArchive(_Unpickler):
    """Unpickler of PyTorch's archives, in which a tensor is a view of a storage."""

    def __init__(self, archive: Archive, map_location: Any, weights_only: bool) -> None:
        super().__init__(archive.pickle(), map_location, weights_only)
        self._archive = archive

    def find_class(self, module: str, name: str) -> Any:
        """Find a global by the name that it has in PyTorch."""
        if module == "torch" and name in STORAGES:
            return _dtypes.ALIASES[STORAGES[name]]
        if module == "torch" and name in _dtypes.ALIASES:
            return _dtypes.ALIASES[name]
        made = {"_rebuild_tensor_v2": self._tensor, "_rebuild_parameter": self._parameter}
        if module == "torch._utils" and name in made:
            return made[name]
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> tuple[Any, str]:
        """The entries of a storage, and the device that it was on."""
        _, dtype, key, place, _ = pid
        return self._archive.storage(key, dtype.numpy), place

    def _tensor(
        self, storage: tuple[Any, str], offset: int, size: Any, stride: Any, grad: bool, *_: Any
    ) -> Tensor:
        entries, place = storage
        return self._placed("tensor", strided(entries, offset, size, stride), place, grad)

    def _parameter(self, data: Tensor, requires_grad: bool, *_: Any) -> Tensor:
        return Parameter(data, requires_grad)


__all__ = ["load", "save"]
