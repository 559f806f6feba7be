"""Calls to a function ``sample_inputs``, which may ask for the device of the check."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

_DEVICE = "device"


def is_callable(samples: Callable[..., Any]) -> bool:
    """Return True if a call has to give nothing, or only the device."""
    return {*_required(samples)} <= {_DEVICE}


def call_samples(samples: Callable[..., Any], device: str) -> Any:
    """Return what the function returns; `device` is given if a call has to give it."""
    asked = _required(samples).get(_DEVICE)
    if asked is None:
        return samples()
    return samples(device) if asked.kind is asked.POSITIONAL_ONLY else samples(device=device)


def _required(samples: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters that a call has to give, by name; none where Python cannot tell them."""
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    try:
        parameters = inspect.signature(samples).parameters
    except (TypeError, ValueError):
        return {}
    return {
        name: each
        for name, each in parameters.items()
        if each.default is each.empty and each.kind not in starred
    }
