"""Arguments of a case, of which the tensors are recreated for every call.

The case and the next call then see nothing of what one call does to a tensor.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import Any

import msgspec
import numpy as np

from gradtool.adapters.library import library
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Argument, Array, MemoryLayout, Primals


class _Placement(msgspec.Struct, frozen=True):
    """Device and memory layout of the case's own tensor."""

    device: Any
    """None for the CPU."""
    template: Array | None
    """An array with its strides; None for row-major order."""

    @classmethod
    def of(cls, tensor: Any) -> _Placement:
        if tensor.is_cuda:
            return cls(tensor.device, None)
        return cls(None, None if tensor.is_contiguous() else library().array(tensor))

    def tensor(self, primal: Array) -> Any:
        """Return a new tensor of these values."""
        if self.template is None or self.template.shape != primal.shape:
            return self.plain(primal)
        array = np.empty_like(self.template, dtype=primal.dtype)
        array[...] = primal
        return library().tensor(array)

    def plain(self, primal: Array) -> Any:
        """Return a new tensor of these values, of any shape, in row-major order."""
        tensor = library().tensor(np.array(primal, order="C"))
        return tensor if self.device is None else tensor.to(self.device)


class Arguments:
    """The arguments of one case.

    Everything else is passed as it is, tensors inside lists, tuples and dicts too, but dicts are
    copied. Tensors named in `parameters` are a module's.
    """

    def __init__(
        self,
        names: Sequence[str],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        parameters: Collection[str] = (),
    ) -> None:
        self.names = (*names, *kwargs)
        """Names of all arguments, tensors or not, by position; keyword arguments come last."""
        self._values = (*args, *kwargs.values())
        self._keywords = tuple(kwargs)
        self.positions = tuple(at for at, value in enumerate(self._values) if _is_dense(value))
        tensors = [self._values[at] for at in self.positions]
        self._placements = tuple(_Placement.of(tensor) for tensor in tensors)
        # Copies: functions may change the case's own tensors in place.
        self.primals: tuple[Array, ...] = tuple(
            np.array(library().array(tensor), order="C") for tensor in tensors
        )
        self.tensors = tuple(
            _argument(self.names[at], at, tensor)
            for at, tensor in zip(self.positions, tensors, strict=True)
        )
        self._is_parameter = tuple(self.names[at] in parameters for at in self.positions)
        self.differentiable = tuple(argument.differentiable for argument in self.tensors)
        needed = {each.position for each in self.tensors if each.differentiable}
        self.needs_input_grad = tuple(at in needed for at in range(len(self._values)))
        """As on ctx: for each argument of ``forward``, tensor or not."""

    def others(self) -> list[tuple[int, str, Any]]:
        """Return positions, names and values of the arguments that are no tensors."""
        named = enumerate(zip(self.names, self._values, strict=True))
        return [(at, *pair) for at, pair in named if at not in self.positions]

    def with_value(self, position: int, value: Any) -> Arguments:
        """Return the same arguments with another one that is no tensor."""
        return self._with({position: value})

    def extended(self, defaults: Mapping[int, tuple[str, Any]]) -> Arguments | None:
        """Append the `defaults`, by position, that come after these; None if there are none."""
        count = len(self._values)
        added = [defaults[at] for at in sorted(defaults) if at >= count]
        tensors = any(isinstance(value, library().Tensor) for _, value in added)
        if not added or tensors or self._keywords:
            return None
        other = self._with({})
        other.names = (*self.names, *(name for name, _ in added))
        other._values = (*self._values, *(value for _, value in added))
        other.needs_input_grad = (*self.needs_input_grad, *(False for _ in added))
        return other

    def variants(self) -> list[Arguments]:
        """Return variants with other numbers: in all places of numbers, in each, in none."""
        changed = {at: _other_number(self._values[at]) for at, _ in enumerate(self._values)}
        numbers = [at for at, value in changed.items() if value is not None]
        each = [[at] for at in numbers] if len(numbers) > 1 else []
        return [
            self._with({at: changed[at] for at in places})
            for places in ([numbers] if numbers else []) + each + [[]]
        ]

    def _with(self, values: Mapping[int, Any]) -> Arguments:
        other = copy(self)
        other._values = tuple(values.get(at, value) for at, value in enumerate(self._values))
        return other

    def fresh(self, primals: Primals) -> list[Any]:
        """Return new leaves with the values `primals`; they require gradients as the case's do."""
        tensors = [
            placement.tensor(primal)
            for placement, primal in zip(self._placements, primals, strict=True)
        ]
        for tensor, primal, needed in zip(tensors, primals, self.differentiable, strict=True):
            if needed and is_continuous(primal.dtype):
                tensor.requires_grad = True
        return tensors

    def stacked(self, primals: Primals) -> list[Any]:
        """Return new tensors of the values of many examples, on the case's devices."""
        return [
            placement.plain(primal)
            for placement, primal in zip(self._placements, primals, strict=True)
        ]

    def tracked(
        self,
        primals: Primals,
        needs: Sequence[bool] | None = None,
        layout: MemoryLayout | None = None,
    ) -> tuple[list[Any], list[Any]]:
        """Return a leaf for each primal that needs a gradient, and the tensors for the function.

        Those are computed from the leaves: the function may change them in place, which a leaf
        that requires a gradient forbids.

        Args:
            primals: Values of the tensors.
            needs: True for those that need a gradient; None: as in the case.
            layout: Layout in memory. None, and always for parameters of a module: as in the case.
        """
        leaves: list[Any] = []
        tensors: list[Any] = []
        needs = self.differentiable if needs is None else needs
        places = zip(self._placements, primals, needs, self._is_parameter, strict=True)
        for placement, primal, needed, is_parameter in places:
            tensor = placement.tensor(primal)
            leaf = None
            if needed and is_continuous(primal.dtype):
                leaf = tensor
                leaf.requires_grad = True
                tensor = leaf.clone()
            leaves.append(leaf)
            tensors.append(tensor if layout is None or is_parameter else laid_out(tensor, layout))
        return leaves, tensors

    def placed(self, tensors: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return all positional and keyword arguments, with `tensors` in the tensors' places."""
        values = list(map(unshared, self._values))
        for position, tensor in zip(self.positions, tensors, strict=True):
            values[position] = tensor
        if not self._keywords:
            return values, {}
        # Keyword arguments were put last.
        count = len(values) - len(self._keywords)
        return values[:count], dict(zip(self._keywords, values[count:], strict=True))


def _is_dense(value: Any) -> bool:
    """Return True for a tensor of which each number can be varied.

    A sparse one without a gradient is passed as it is: an array of it would have lost the layout.
    """
    if not isinstance(value, library().Tensor):
        return False
    return bool(value.requires_grad or value.layout is library().torch.strided)


def unshared(value: Any) -> Any:
    """Copy a dict, and those in it: options, say, from which a call may take some out.

    All else stands for itself, tensors included.
    """
    if type(value) is dict:
        return {key: unshared(each) for key, each in value.items()}
    return value


def _other_number(value: Any) -> Any:
    """Return another number of the type of `value`; None if that is no number."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    # Zero times anything would be the same number again.
    return 1.5 * value + (value == 0) if isinstance(value, float | complex) else None


def _argument(name: str, position: int, tensor: Any) -> Argument:
    dtype = library().dtype(tensor)
    return Argument(
        name=name,
        position=position,
        shape=tuple(tensor.shape),
        dtype=dtype,
        differentiable=tensor.requires_grad and is_continuous(dtype),
    )


def laid_out(tensor: Any, layout: MemoryLayout) -> Any:
    """Change the memory layout of `tensor`, which nothing else may hold, and return it."""
    with library().torch.no_grad():
        # Through `data`, which keeps the tensor's place in the graph.
        tensor.data = _LAID_OUT[layout](tensor.detach())
    return tensor


def _contiguous(tensor: Any) -> Any:
    return tensor.contiguous()


def _transposed(tensor: Any) -> Any:
    backwards = tuple(reversed(range(tensor.dim())))
    return tensor.permute(backwards).contiguous().permute(backwards)


def _gapped(tensor: Any) -> Any:
    """Leave gaps of NaN, if the dtype has it: reading one does not go unnoticed."""
    gap = math.nan if tensor.is_floating_point() or tensor.is_complex() else 0
    buffer = tensor.new_full([2 * extent for extent in tensor.shape], gap)
    view = buffer[(slice(None, None, 2),) * tensor.dim()]
    view.copy_(tensor)
    return view


def _expanded(tensor: Any) -> Any:
    """Use stride 0 along each dimension along which all entries are equal."""
    values = library().array(tensor)
    kept = tensor
    for axis, extent in enumerate(values.shape):
        if extent > 1 and (values == values.take([0], axis)).all():
            kept = kept.narrow(axis, 0, 1)
    return kept.clone().contiguous().expand(tensor.shape)


_LAID_OUT = {
    "contiguous": _contiguous,
    "transposed": _transposed,
    "gapped": _gapped,
    "expanded": _expanded,
}
