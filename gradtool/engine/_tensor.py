"""Tensor: an array, its storage, and its place in the autograd graph.

Methods that compute are the functions of `gradtool.engine._ops`, which attaches them to the class,
so that ``x.exp()`` is the function ``exp`` itself, with no call in between. `_print` attaches
``__repr__``.
"""

from __future__ import annotations

import inspect
import warnings
import weakref
from collections.abc import Callable, Iterator
from copy import deepcopy
from sys import getrefcount
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._device import device, device_of
from gradtool.engine._modes import marking, modes, unshared
from gradtool.engine._size import Size, as_size
from gradtool.engine._tensor_methods import TensorMethods
from gradtool.engine._views import (
    DetachedInferenceStorage,
    InferenceStorage,
    Storage,
    TransformStorage,
    View,
    new_storage,
    not_followed,
)
from gradtool.engine.autograd._node import (
    AccumulateGrad,
    Node,
    Nowhere,
    OutputEdge,
    RemovableHandle,
    hooked_leaves,
    hooks_of,
    next_leaf_order,
    node_and_number,
    registered,
)

ndarray = np.ndarray
_new = object.__new__


def _own_storage() -> Storage | None:
    """The storage of a new tensor, where it is to tell how the tensor was made."""
    if modes.inference:
        return InferenceStorage(modes.levels)
    return TransformStorage(modes.levels) if modes.levels else None


_HOW_NOT_TO_REQUIRE = (
    " If you want to use a computed variable in a subgraph that doesn't require differentiation "
    "use var_no_grad = var.detach()."
)
CHANNELS_LAST = {
    "torch.channels_last": (0, 2, 3, 1),
    "torch.channels_last_3d": (0, 2, 3, 4, 1),
}
"""Dimensions in the order of memory, by memory format."""

_NO_GRAD_KEPT = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
    "github.com/pytorch/pytorch/pull/30531 for more information."
)


class Tensor(TensorMethods):
    """An n-dimensional array that can take part in automatic differentiation."""

    __slots__ = (
        "__dict__", "__weakref__", "_array", "_grad", "_leaf_node", "_node", "_requires_grad",
        "_storage", "_view",
    )  # fmt: skip

    _array: Any
    """A NumPy array, or a CuPy one on a CUDA device; never a NumPy scalar."""
    _requires_grad: bool
    _node: Node | None
    """The node that computed it, or None for a leaf."""
    _grad: Tensor | None
    _storage: Storage | None
    """None until the memory is shared or changed in place: no check is needed before."""
    _view: View | None
    """For a view: its base, and the steps to make it again."""
    _leaf_node: weakref.ref[AccumulateGrad] | None

    _level: Any = None
    """The `Level` of the transform that it belongs to; None for a plain tensor."""
    _lazy: Any = None
    """For a conjugate or negative as a view: what is left to do, as `_lazy` has it."""
    _sparse: Any = None
    """For a sparse tensor: the entries that it stores, which are no dense array."""

    def __init__(self, *given: Any, device: Any = None, **others: Any) -> None:
        """A tensor of the default dtype: of data, which is copied, or of a size, zeros.

        `torch.tensor` infers the dtype. What the ``__new__`` of a subclass has made stays as it is.
        """
        if hasattr(self, "_requires_grad"):
            return
        if others:
            raise TypeError(f"Tensor() got an unexpected keyword argument '{next(iter(others))}'")
        kind = _dtypes.get_default_dtype().numpy
        if not given or (len(given) == 1 and not isinstance(given[0], int | Size)):
            _fill(self, np.array(given[0] if given else (), dtype=kind))
        else:
            size = given[0] if isinstance(given[0], Size) else given
            _fill(self, np.zeros(size, dtype=kind))

    # ---- what it is -------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """Extent of each dimension."""
        return as_size(Size, self._array.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        ndim: int = self._array.ndim
        return ndim

    @property
    def dtype(self) -> _dtypes.dtype:
        """Element type."""
        given = self._array.dtype
        # The lookup of `from_numpy_dtype` without the call: most checks of arguments ask for it.
        return _dtypes.BY_NUMPY.get(given) or _dtypes.from_numpy_dtype(given)

    @property
    def device(self) -> device:
        """Device of the memory."""
        return device_of(self._array)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return int(self._array.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return int(self._array.nbytes)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the extent of one dimension."""
        return self.shape if dim is None else self._array.shape[dim]

    def dim(self) -> int:
        """Number of dimensions."""
        ndim: int = self._array.ndim
        return ndim

    def numel(self) -> int:
        """Number of elements."""
        return int(self._array.size)

    def element_size(self) -> int:
        """Bytes of one element."""
        return int(self._array.itemsize)

    def stride(self, dim: int | None = None) -> Any:
        """Steps between neighbours in each dimension, in elements."""
        array = self._array
        if array.size or any(array.strides) or _shows_none_of_some(array):
            strides = tuple([step // array.itemsize for step in array.strides])
        else:
            strides = _packed_strides(array.shape)
        return strides if dim is None else strides[dim]

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        """True if the elements lie without gaps in row-major order, or that of `memory_format`."""
        array = self._array
        axes = None if memory_format is None else CHANNELS_LAST.get(str(memory_format))
        if axes is not None:
            return array.ndim == len(axes) and _is_packed(array, axes)
        return bool(array.flags.c_contiguous)

    def is_floating_point(self) -> bool:
        """True if the dtype is a real floating one."""
        return self._array.dtype.kind in "fV"

    def is_complex(self) -> bool:
        """True if the dtype is a complex one."""
        return bool(self._array.dtype.kind == "c")

    def is_signed(self) -> bool:
        """True if the dtype holds negative values."""
        return self.dtype.is_signed

    @property
    def is_cuda(self) -> bool:
        """True if it lies on a CUDA device."""
        return self._array.__class__ is not ndarray and self.device.type == "cuda"

    def data_ptr(self) -> int:
        """Address of the first element."""
        return data_pointer(self._array)

    # ---- autograd ---------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """True if operations on it are recorded."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if self._had_node():
            hint = "" if value else _HOW_NOT_TO_REQUIRE
            raise RuntimeError(f"you can only change requires_grad flags of leaf variables.{hint}")
        if value and isinstance(self._storage, InferenceStorage) and not modes.inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed."
            )
        if value and self._array.dtype.kind not in "fcV":
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients"
            )
        self._requires_grad = value
        if self._view is not None:
            self._view.owns_flag = value
            self._requires_grad |= self._view.base._requires_grad
        elif self._storage is not None:
            self._storage.pass_on_requires_grad(self)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` in place.

        Raises:
            RuntimeError: the dtype is not floating or complex, it is not a leaf, or a transform
                is under way.
        """
        if modes.levels:
            hint = " (or perhaps using torch.autograd.functional.* APIs)"
            _refuse_in_transforms("requires_grad_", hint)
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        if requires_grad and self._array.dtype.kind not in "fcV":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if not (requires_grad and self._had_node()):
            # A subclass may have an attribute of its own by that name.
            vars(Tensor)["requires_grad"].__set__(self, requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        """True if no recorded operation computed it."""
        return self._current_node() is None

    @property
    def grad_fn(self) -> Node | None:
        """The node that computed it; None for a leaf."""
        node = self._current_node()
        return None if node is None else node.shown(self)

    @property
    def output_nr(self) -> int:
        """Number of the output of `grad_fn` that it is."""
        return self._node.number if isinstance(self._node, OutputEdge) else 0

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated by `backward`, or None."""
        if self._grad is None and self._current_node() is not None and not self.retains_grad:
            warnings.warn(_NO_GRAD_KEPT, UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            from gradtool.engine.autograd._grad_dtype import check_grad

            check_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def _current_node(self) -> Node | None:
        """The node that computed it; for a view, from what its base is now.

        Raises:
            RuntimeError: the base was changed, and autograd cannot follow that to this view.
        """
        view = self._view
        if (
            view is not None
            and self._node is None
            and (view.base._requires_grad or view.outdated is not None)
            and view.version != self._shared_storage().version
        ):
            if view.made is not None:
                raise not_followed(self, directly=False)
            primitive, _ = view.steps[-1]
            primitive.renew_view(self, view)
        return self._node

    def _accumulator(self) -> Node:
        """Return the graph's end for this leaf, the same as long as anything refers to it.

        A view that is outdated has a node, and one made outside of the graph has no end.
        """
        view = self._view
        if view is not None:
            current = self._current_node()
            if current is not None:
                return current
            if view.base._requires_grad and not view.owns_flag:
                return Nowhere()
        reference = self._leaf_node
        node = None if reference is None else reference()
        if node is None:
            # `AccumulateGrad(self)` written out: each leaf of each operation comes here.
            node = _new(AccumulateGrad)
            node.variable = self
            node.accumulated = {}
            node._edges = ()
            node._order = next_leaf_order()
            node._hooks = None
            # The node refers to its tensor: a strong reference back would be a cycle.
            self._leaf_node = weakref.ref(node)
        return node

    def _accumulate(self, grad: Tensor) -> None:
        """Add a gradient to `grad`; the graph of it is kept when it is being recorded."""
        held = self._grad
        if held is None:
            if modes.grad:
                self._grad = _copied_with_graph(grad, self._array)
            elif getrefcount(grad) <= unshared.count and _may_take(grad, self._array):
                self._grad = grad
            elif grad._lazy is not None and getrefcount(grad) <= unshared.count:
                self._grad = _copied_lazily(grad, self._array)
            else:
                # Other leaves, hooks or the caller may hold the same gradient.
                self._grad = wrap(_copied_like(grad._array, self._array))
        elif modes.grad:
            self._grad = held + grad
        else:
            # In place, as torch does: references to ``.grad`` see the sum.
            if held._array.shape != grad._array.shape:  # the tensor got other data
                held + grad  # raises
            held._put(..., held._array + grad._array)
            held._bump()

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(grad)`` whenever the gradient of this tensor is computed.

        What it returns, unless None, replaces the gradient.

        Raises:
            RuntimeError: the tensor does not require a gradient.
        """
        if not self._requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node, number = node_and_number(self)
        if self._node is None and isinstance(node, AccumulateGrad):
            # The tensor refers to it weakly otherwise, and the hook would be lost with it.
            self.__dict__["_hooked_accumulator"] = node
        return registered(hooks_of(node).of_tensor(number), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(tensor)`` whenever its gradient was added to ``grad``.

        Raises:
            RuntimeError: it does not require a gradient, or is no leaf.
        """
        if not self._requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._current_node() is not None:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        node: Any = node_and_number(self)[0]
        hooked_leaves.add(node)
        self.__dict__["_hooked_accumulator"] = node
        return registered(node.accumulated, hook)

    def retain_grad(self) -> None:
        """Keep the gradient in ``grad`` although this is not a leaf.

        Raises:
            RuntimeError: the tensor does not require a gradient.
        """
        if not self._requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if modes.levels:
            _refuse_in_transforms("retain_grad")
        if self._had_node() and not self.retains_grad:
            node, number = node_and_number(self)
            # The tensor refers to its node: a strong reference back would be a cycle.
            hooks_of(node).retain[number] = weakref.ref(self)
            self.__dict__["_retains_grad"] = True

    def _had_node(self) -> bool:
        """True if it has a node, or had one before its base changed.

        As in torch, a view that never had one counts as a leaf until it is asked for its node.
        """
        view = self._view
        return self._node is not None or (view is not None and view.outdated is not None)

    @property
    def retains_grad(self) -> bool:
        """True if `retain_grad` was called on it when it was no leaf."""
        return "_retains_grad" in self.__dict__

    # ---- memory -----------------------------------------------------------------------

    @property
    def _version(self) -> int:
        """Number of in-place changes of the memory."""
        if isinstance(self._storage, InferenceStorage):
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._storage is None else self._storage.version

    def _bump(self) -> None:
        """Count an in-place change."""
        self._shared_storage().bump()

    def _shared_storage(self) -> Storage:
        storage = self._storage
        if storage is None:
            storage = self._storage = new_storage()
        return storage

    @property
    def _base(self) -> Tensor | None:
        """The tensor that this one is a view of."""
        if self._view is None:
            return None
        base = self._view.base
        reference = base.__dict__.get("_holder")  # of a dual tensor's primal: the dual tensor
        holder = None if reference is None else reference()
        return base if holder is None else holder

    def _is_view(self) -> bool:
        return self._view is not None

    def _put(self, key: Any, values: Any) -> None:
        """Write an array or a number over the elements that `key` picks."""
        self._array[key] = values

    def _alias(self, storage: Storage | None) -> Tensor:
        """The same memory outside the graph, with this count of its versions."""
        if self._lazy is None:
            return alias(self._array, storage)
        from gradtool.engine._lazy import alias_of

        return alias_of(self, storage)

    def _bare(self) -> Tensor:
        """The same tensor without its place in the graph."""
        if self._lazy is not None:
            return self._alias(self._shared_storage())
        bare = wrap(self._array)
        bare._storage = self._shared_storage()
        return bare

    def is_inference(self) -> bool:
        """True if it was made in inference mode."""
        return isinstance(self._storage, InferenceStorage)

    def detach(self) -> Tensor:
        """The same memory outside the graph."""
        if modes.recording is not None:
            return modes.recording.keep(self)  # type: ignore[no-any-return]  # of this class
        storage = self._shared_storage()
        if isinstance(storage, InferenceStorage) and not modes.inference:
            storage = DetachedInferenceStorage(storage.levels)
        if self._lazy is not None:
            return self._alias(storage)
        return alias(self._array, storage)

    def detach_(self) -> Tensor:
        """Take this tensor out of the graph that computed it; nothing changes in inference mode."""
        if modes.inference:
            return self
        if self._view is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
                "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
                "these gradients. To fix this error, please refer to the Optimizer.zero_grad() "
                "function in torch/optim/optimizer.py as the solution."
            )
        storage = self._shared_storage()  # nodes that saved it look at what has one
        self._node = None
        self._requires_grad = False
        storage.pass_on_requires_grad(self)
        return self

    @property
    def data(self) -> Tensor:
        """The same memory outside the graph; in-place changes through it go uncounted."""
        if modes.recording is not None:
            return modes.recording.keep(self)  # type: ignore[no-any-return]  # of this class
        if self._level is not None:
            if self._level.refuses_data:
                raise RuntimeError("accessing `data` under vmap transform is not allowed")
            return self.detach()
        made = self._shared_storage()
        if isinstance(made, InferenceStorage):
            return self._alias(DetachedInferenceStorage(made.levels))
        inside = made.__class__ is TransformStorage
        return self._alias(TransformStorage(made.levels) if inside else Storage())  # type: ignore[attr-defined]  # by class

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self._requires_grad and value._array.dtype.kind not in "fcV":
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex "
                "dtype"
            )
        if value._array.dtype != self._array.dtype:
            # As in torch: gradients of what was computed before are of the other dtype.
            self._leaf_node = None
        from gradtool.engine._lazy import share

        if value.shape != self.shape or value.dtype is not self.dtype:
            self._change_form(value)
        share(self, value)
        if isinstance(value._storage, InferenceStorage):
            self._storage = value._storage
        elif isinstance(self._storage, InferenceStorage):
            self._storage = Storage()

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def numpy(self, *, force: bool = False) -> Any:
        """The elements as a NumPy array that shares memory.

        Raises:
            RuntimeError: the tensor requires a gradient while operations are recorded, or belongs
                to a transform.
            TypeError: it lies on another device, unless `force`.
        """
        if modes.recording is not None:
            modes.recording.leave(self, "numpy()")
            force = True
        if force:
            return to_numpy(self._array)
        if self._requires_grad and modes.grad:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        if self._level is not None and self._level.alive and self._level.by_func:
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        if self.is_cuda:
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to "
                "copy the tensor to host memory first."
            )
        if self._array.dtype.kind == "V":
            raise TypeError(f"Got unsupported ScalarType {_dtypes.TYPE_NAMES[self.dtype.name]}")
        return self._array

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False
    ) -> Tensor:
        """Wrap the result of a NumPy function."""
        return wrap(np.asarray(array))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        return np.array(array, dtype=dtype, copy=copy)

    def item(self) -> Any:
        """The only element as a Python number.

        Raises:
            RuntimeError: there is not exactly one element.
        """
        if self._array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._array.size} elements cannot be converted to Scalar"
            )
        if modes.recording is not None:
            modes.recording.leave(self, "item()")
        return self._array.item()

    def tolist(self) -> Any:
        """The elements as (nested lists of) Python numbers."""
        if modes.recording is not None:
            modes.recording.leave(self, "tolist()")
        return self._array.tolist()

    # ---- as a Python object -----------------------------------------------------------

    def __bool__(self) -> bool:
        if self._array.size == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        if self._array.size > 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self._array)

    def __float__(self) -> float:
        return float(self._number("double"))

    def __int__(self) -> int:
        return int(self._number("int64_t"))

    def __complex__(self) -> complex:
        return complex(self._number())

    def _number(self, real: str = "") -> Any:
        """The only element, for Python to convert; without its imaginary part, if it has none."""
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        number = self.item()
        if real and number.__class__ is complex:
            if number.imag:
                raise RuntimeError(f"value cannot be converted to type {real} without overflow")
            return number.real
        return number

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iub" or self._array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self) -> Any:
        """The same elements from last to first along each dimension."""
        return self.flip(tuple(range(self.ndim))) if self.ndim else self

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, Tensor | int | float | complex):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(element)}."
            )
        return bool((self == element)._array.any())

    def __dir__(self) -> list[str]:
        from gradtool.engine._placeholder import LackingMethod

        kind = type(self)
        found = object.__dir__(self)
        return [
            name
            for name in found
            if not isinstance(inspect.getattr_static(kind, name, None), LackingMethod)
        ]

    def __hash__(self) -> int:
        return id(self)

    def __format__(self, spec: str) -> str:
        if self._array.ndim == 0 and self.__class__ is Tensor:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self._current_node() is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
                "because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001"
            )
        copied = _fill(_new(type(self)), self._array.copy(order="K"))
        copied._requires_grad = self._requires_grad
        # Shared tensors stay shared in the copy.
        memo[id(self)] = copied
        vars(copied).update(deepcopy(self._attributes_of_user(), memo))
        if self._grad is not None:
            copied._grad = deepcopy(self._grad, memo)
        return copied

    def _attributes_of_user(self) -> dict[str, Any]:
        """Return what the user has attached to it."""
        return {name: value for name, value in vars(self).items() if name not in _OWN_ATTRIBUTES}

    def __reduce__(self) -> tuple[Any, ...]:
        # The graph is not written: a computed tensor is read back as a leaf.
        from gradtool.engine.utils.hooks import warn_if_has_hooks

        warn_if_has_hooks(self)
        if self._lazy is None:
            return _rebuild, (self._array, self._requires_grad), self._attributes_of_user()
        from gradtool.engine._lazy import rebuild, written

        return rebuild, (*written(self), self._requires_grad), self._attributes_of_user()


def _may_take(grad: Tensor, leaf: Any) -> bool:
    """Return True if a gradient can be a leaf's ``grad`` itself: nothing else has its memory."""
    return (
        grad.__class__ is Tensor
        and not grad._requires_grad
        and _array_references(grad) == _OF_ONE_TENSOR
        and _owns_memory(grad._array)
        and grad._array.strides == leaf.strides
        and grad._array.dtype == leaf.dtype
    )


def _owns_memory(array: Any) -> bool:
    """Return True if no other array that is referred to has the memory of this one."""
    # A new array reshaped has one for its base that only it refers to.
    return array.base is None or (
        array.base.__class__ is array.__class__ and getrefcount(array.base) == _OF_ONE_TENSOR
    )


def _array_references(tensor: Tensor) -> int:
    return getrefcount(tensor._array)


def _copied_like(grad: Any, leaf: Any) -> Any:
    """A copy of a gradient with the strides of its leaf; without gaps where that has some."""
    copied = np.empty_like(leaf, order="K" if is_dense(leaf) else "C")
    if copied.dtype != grad.dtype or copied.shape != grad.shape:
        return grad.copy()
    copied[...] = grad
    return copied


def _copied_lazily(grad: Tensor, leaf: Any) -> Tensor:
    """A copy of what torch takes as it is, where its memory is laid out as that of its leaf."""
    from gradtool.engine._lazy import copy_of, memory

    held = memory(grad)
    fits = held.strides == leaf.strides if is_dense(leaf) else held.flags.c_contiguous
    return copy_of(grad) if fits else wrap(_copied_like(grad._array, leaf))


def _is_packed(array: Any, axes: tuple[int, ...]) -> bool:
    """Return True if the elements lie without gaps, with the dimensions in this order."""
    step = array.itemsize
    for axis in reversed(axes):
        if array.shape[axis] != 1 and array.strides[axis] != step:
            return bool(array.size == 0)
        step *= array.shape[axis]
    return True


def is_dense(array: Any) -> bool:
    """Return True if the elements lie in some order without gaps, each once."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return True
    expected = array.itemsize
    for step, extent in sorted(zip(array.strides, array.shape)):
        if extent != 1:
            if step != expected:
                return False
            expected *= extent
    return True


def _copied_with_graph(grad: Tensor, leaf: Any) -> Tensor:
    copied: Tensor = grad.clone()
    if copied.__class__ is Tensor and copied._array.strides != leaf.strides:
        copied._array = _copied_like(copied._array, leaf)
    if copied._node is not None and copied._node is not grad._node and is_dense(leaf):
        # torch copies into memory laid out as the leaf is.
        copied._node.title = "CopyBackwards"  # type: ignore[attr-defined]  # that of `clone`
    return copied


def _refuse_in_transforms(name: str, hint: str = "") -> None:
    """Refuse a method that would set up a graph beside that of a transform.

    Raises:
        RuntimeError: a transform of `func` is under way.
    """
    if any(level.by_func for level in modes.levels):
        raise RuntimeError(
            f"You are attempting to call Tensor.{name}(){hint} inside of a function being "
            "transformed by a functorch transform. This is unsupported, please attempt to use the "
            "functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call "
            f"{name}() outside of a function being transformed instead."
        )


def _fill(tensor: Tensor, array: Any) -> Tensor:
    """Give a bare Tensor object its fields."""
    tensor._array = array
    tensor._requires_grad = False
    tensor._node = None
    tensor._grad = None
    tensor._storage = _own_storage() if marking.threads else None
    tensor._view = None
    tensor._leaf_node = None
    return tensor


def _shows_none_of_some(array: Any) -> bool:
    """Return True for a view without elements of an array that has some."""
    base = array.base if array.__class__ is ndarray else None
    return base is not None and getattr(base, "size", 1) > 0


def _packed_strides(shape: Any) -> tuple[int, ...]:
    """Strides of PyTorch's for a tensor without elements, where NumPy's are all zero."""
    steps = [1]
    for extent in reversed(shape[1:]):
        steps.append(steps[-1] * (extent or 1))
    return tuple(reversed(steps[: len(shape)]))


def wrap(array: Any) -> Tensor:
    """Return a new tensor over an array that nothing else holds; on the hot path of all ops."""
    # `_fill` written out: one Python call less for each operation.
    tensor = _new(Tensor)
    tensor._array = array if array.__class__ is ndarray else as_array(array)
    tensor._requires_grad = False
    tensor._node = None
    tensor._grad = None
    # The count is tested first, as reading a thread-local takes longer.
    tensor._storage = _own_storage() if marking.threads else None
    tensor._view = None
    tensor._leaf_node = None
    return tensor


def alias(array: Any, storage: Storage | None = None) -> Tensor:
    """Return a new tensor outside the graph, over memory whose version `storage` counts."""
    tensor = wrap(array)
    tensor._storage = storage
    return tensor


_SCALARS = (np.generic, bool, int, float)


def as_array(value: Any) -> Any:
    """Return the result of an array function as an array: for a 0-d one NumPy returns a scalar."""
    return np.asarray(value) if isinstance(value, _SCALARS) else value


def data_pointer(array: Any) -> int:
    """Address of the first element of an array."""
    if array.__class__ is ndarray:
        return int(array.__array_interface__["data"][0])
    return int(array.data.ptr)


def to_numpy(array: Any) -> Any:
    """Return the elements of any backend's array in host memory."""
    return array if array.__class__ is ndarray else array.get()


def _rebuild(array: Any, requires_grad: bool) -> Tensor:
    tensor = wrap(array)
    tensor._requires_grad = requires_grad
    return tensor


_OWN_ATTRIBUTES = frozenset(
    ("_grad_dtype", "_hooked_accumulator", "_retains_grad", "_unused_backward_hooks")
)
"""Attributes in the dictionary of a tensor that belong to the engine."""

_OF_ONE_TENSOR = _array_references(wrap(np.zeros(1)))
"""References to an array that only its tensor holds, as Python counts them: versions differ."""
