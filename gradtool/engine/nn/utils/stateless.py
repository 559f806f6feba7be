"""``torch.nn.utils.stateless``: an older home of `torch.func.functional_call`."""

from __future__ import annotations

from typing import Any

from gradtool.engine.func import functional_call as _functional_call


def functional_call(
    module: Any,
    parameters_and_buffers: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`torch.func.functional_call`."""
    return _functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


__all__ = ["functional_call"]
