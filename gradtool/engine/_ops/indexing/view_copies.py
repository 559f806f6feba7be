"""The functions that return a view, returning a copy of it: ``torch.expand_copy`` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dtype_support import refuse_complex_gradient
from gradtool.engine._ops.core.node_names import Namer, give_name, numbered
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.elementwise.complex_parts import view_as_complex, view_as_real
from gradtool.engine._ops.indexing.strided import as_strided
from gradtool.engine._ops.indexing.views import select, sliced, unfold
from gradtool.engine._ops.shape.axes import permute, t, transpose
from gradtool.engine._ops.shape.diagonals import diagonal
from gradtool.engine._ops.shape.expansion import contiguous_copy, expand
from gradtool.engine._ops.shape.parts import split, split_with_sizes, unbind
from gradtool.engine._ops.shape.shape import squeeze, squeeze_overload, unsqueeze, view
from gradtool.engine._tensor import Tensor

View = Callable[..., Any]


def _copying(name: str, of: View, node: Namer | None = None) -> View:
    """Return `of`, a function that returns views, returning contiguous copies of them."""
    shown = node or name.title().replace("_", "") + "Backward0"

    def copied(x: Tensor, *args: Any, **named: Any) -> Any:
        views = of(x, *args, **named)
        if not isinstance(views, tuple):
            return titled(contiguous_copy(views), x, args, named)
        return tuple([titled(contiguous_copy(each), x, args, named) for each in views])

    def titled(out: Tensor, x: Tensor, args: Any, named: Any) -> Tensor:
        if modes.grad and out._node is not None:
            title = shown if isinstance(shown, str) else shown(x, *args, **named)
            give_name(out, f"{title}_copy")
        return out

    copied.__name__ = copied.__qualname__ = f"{name}_copy"
    copied.__doc__ = f"`{name}`, as a copy."
    return copied


def _complex_view(x: Tensor) -> Tensor:
    viewed = view_as_complex(x)
    refuse_complex_gradient("view_as_complex_copy", viewed)
    return viewed


def _sized_view(x: Tensor, *size: Any, dtype: _dtypes.dtype | None = None, **named: Any) -> Tensor:
    return view(x, *size, dtype=dtype, **named)


_VIEWS: dict[str, View] = {
    "alias": lambda x: x, "as_strided": as_strided, "diagonal": diagonal, "expand": expand,
    "permute": permute, "select": select, "slice": sliced, "split": split,
    "split_with_sizes": split_with_sizes, "t": t, "transpose": transpose, "unbind": unbind,
    "unfold": unfold, "unsqueeze": unsqueeze, "view": _sized_view,
    "view_as_complex": _complex_view, "view_as_real": view_as_real,
}  # fmt: skip
for _name, _view in _VIEWS.items():
    op(_copying(_name, _view))
op(_copying("squeeze", squeeze, numbered("Squeeze", squeeze_overload)))
op(_copying("detach", lambda x: x.detach()))

__all__: list[str] = []
