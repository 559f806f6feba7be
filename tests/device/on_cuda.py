"""The engine with everything that makes tensors making them on CUDA."""

from __future__ import annotations

import functools
from typing import Any

import gradtool.engine as engine

FACTORIES = (
    "arange", "empty", "eye", "full", "linspace", "logspace", "ones", "rand", "randn",
    "scalar_tensor", "tensor", "tril_indices", "triu_indices", "zeros",
)  # fmt: skip


class OnCuda:
    """Stands for the module in an `OpCase`."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(engine, name)
        return functools.partial(self._made, found) if name in FACTORIES else found

    @staticmethod
    def _made(make: Any, *args: Any, **options: Any) -> Any:
        return make(*args, **({"device": "cuda"} | options))
