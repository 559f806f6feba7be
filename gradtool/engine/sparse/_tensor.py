"""Sparse tensors: the places of the entries that are stored, and their values.

Every operation on one is composed of operations on its values, which autograd records: a sparse
tensor has no node of its own, and takes part in a graph through its values alone. It is no input or
output of a Function that is differentiated. What is not in the table of operations raises, as does
anything that reads the elements of a dense tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from gradtool.engine import _overrides
from gradtool.engine._modes import modes, overriding
from gradtool.engine._ops.core import methods
from gradtool.engine._ops.core.op import ATTRIBUTES, METHODS
from gradtool.engine._placeholder import EngineLacksError
from gradtool.engine._settings import layout, sparse_coo, sparse_csr
from gradtool.engine._size import Size
from gradtool.engine._tensor import Tensor

_new = object.__new__

_OTHER_METHODS = (
    "__getitem__", "__iter__", "__len__", "__setitem__", "backward", "numpy", "stride",
)  # fmt: skip
_ANSWERED = ("is_cpu", "is_meta", "is_mkldnn", "is_mps", "is_quantized", "is_xpu", "name", "names")
"""Attributes that every tensor has."""


class Entries(NamedTuple):
    """The entries that are stored."""

    places: Tensor
    """The index of each along every sparse dimension, one column an entry."""
    values: Tensor
    size: Size
    layout: layout
    is_coalesced: bool
    """Each place is there once, and they are in order."""


class SparseTensor(Tensor):
    """A tensor that stores some entries, and whose others are zero."""

    __slots__ = ("_sparse",)

    _sparse: Entries

    @property
    def _array(self) -> NoReturn:
        """The elements of a dense tensor, which there are none of.

        Raises:
            EngineLacksError: always.
        """
        raise EngineLacksError("such operation on sparse tensors")

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run a public function on sparse tensors."""
        operation = OPERATIONS.get(func.__name__) or _refused(func.__name__)
        return operation(*args, **(kwargs or {}))

    @property
    def shape(self) -> Size:
        """Extent of each dimension."""
        return self._sparse.size

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._sparse.size)

    @property
    def dtype(self) -> Any:
        """Element type."""
        return self._sparse.values.dtype

    @property
    def device(self) -> Any:
        """Device of the memory."""
        return self._sparse.values.device

    @property
    def is_cuda(self) -> bool:
        """True if it lies on a CUDA device."""
        return self._sparse.values.is_cuda

    @property
    def layout(self) -> layout:
        """The way in which the entries are stored."""
        return self._sparse.layout

    @property
    def is_sparse(self) -> bool:
        """True if places are stored for each dimension."""
        return self._sparse.layout is sparse_coo

    @property
    def is_sparse_csr(self) -> bool:
        """True if places are compressed by row."""
        return self._sparse.layout is sparse_csr

    @property  # type: ignore[misc]
    def requires_grad(self) -> bool:
        """True if operations on its values are recorded."""
        return self._sparse.values.requires_grad

    @property
    def grad_fn(self) -> Any:
        """The node that computed its values."""
        return self._sparse.values.grad_fn

    @property
    def is_leaf(self) -> bool:
        """True if no recorded operation computed its values."""
        return self._sparse.values.is_leaf

    @property  # type: ignore[misc]
    def data(self) -> Tensor:
        """The same entries outside of the graph."""
        return with_values(self, self._sparse.values.detach())

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the extent of one dimension."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """Number of dimensions."""
        return self.ndim

    def numel(self) -> int:
        """Number of elements, those that are not stored included."""
        return self.shape.numel()

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Keep `requires_grad` False.

        Raises:
            EngineLacksError: It shall be True: only the values in it can have a gradient.
        """
        if requires_grad and not self.requires_grad:
            raise EngineLacksError("gradients of sparse tensors, but only of the values in them")
        return self

    def is_floating_point(self) -> bool:
        """True if the dtype is a real floating one."""
        return self._sparse.values.is_floating_point()

    def is_complex(self) -> bool:
        """True if the dtype is a complex one."""
        return self._sparse.values.is_complex()

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        """False: the elements do not lie one after the other."""
        return False

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        held = self._sparse
        return (
            f"tensor(indices={held.places!r},\n       values={held.values!r},\n"
            f"       size={tuple(held.size)}, nnz={held.places.shape[1]}, layout={held.layout!r})"
        )


OPERATIONS: dict[str, Callable[..., Any]] = {}
"""The operations on sparse tensors, by the names of methods and functions."""


def made(entries: Entries) -> SparseTensor:
    """Return the tensor that stores some entries."""
    _prepare()
    tensor: SparseTensor = _new(SparseTensor)
    if not modes.grad and entries.values.requires_grad:
        entries = entries._replace(values=entries.values.detach())
    tensor._sparse = entries
    tensor._requires_grad = entries.values.requires_grad
    tensor._grad = tensor._node = tensor._storage = tensor._view = tensor._leaf_node = None
    return tensor


def with_values(x: Any, values: Tensor) -> SparseTensor:
    """Return a sparse tensor with other values at the same places."""
    return made(x._sparse._replace(values=values))


def _prepare() -> None:
    """Give the class its operations, and let public functions look for it."""
    if SparseTensor in overriding:
        return
    operators = (*methods.OPERATORS, *methods.REFLECTED, *methods.COMPARISONS, *methods.AUGMENTED)
    own = vars(SparseTensor)
    for name in {*METHODS, *operators, *OPERATIONS, *_OTHER_METHODS} - {*own, *ATTRIBUTES}:
        setattr(SparseTensor, name, OPERATIONS.get(name) or _refused(name))
    for name in {*ATTRIBUTES} - {*own, *_ANSWERED}:
        setattr(SparseTensor, name, property(OPERATIONS.get(name) or _refused(name)))
    _overrides.follow(SparseTensor)


def _refused(name: str) -> Callable[..., NoReturn]:
    """The operation of a name that there is none of for sparse tensors."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise EngineLacksError(f"torch.Tensor.{name} of sparse tensors")

    return refuse
