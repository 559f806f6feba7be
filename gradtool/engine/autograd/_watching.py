"""What happens to a new node while saved-tensor hooks or anomaly mode are in force."""

from __future__ import annotations

import traceback
import weakref
from typing import TYPE_CHECKING

from gradtool.engine._modes import modes
from gradtool.engine.autograd._packing import packer

if TYPE_CHECKING:
    from gradtool.engine.autograd._node import Node

made_at: weakref.WeakKeyDictionary[Node, str] = weakref.WeakKeyDictionary()
"""Where each node was made, as a traceback, for those made in anomaly mode."""


def update() -> None:
    """Watch new nodes if anything in force asks for it."""
    modes.watch = _watch if modes.saved_tensor_hooks or modes.anomaly else None


def _watch(node: Node) -> None:
    if modes.saved_tensor_hooks:
        node._pack_saved(packer())
    if modes.anomaly:
        made_at[node] = "".join(traceback.format_stack()[:-2])
