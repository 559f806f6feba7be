"""Construction of an ``nn.Module`` from its class, as the configuration says.

Its parameters are drawn from the seed of the Function, so that runs are repeatable.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from gradtool.adapters.common.module_call import ModuleCall, is_module, is_module_class
from gradtool.adapters.common.random_state import global_generators, stable_seed
from gradtool.adapters.library import library
from gradtool.cases.arguments import make_value, shown_value
from gradtool.collect.checkable import Checkable
from gradtool.config.schema import ModuleConfig
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import NoCase
from gradtool.sandbox.user_errors import describe


def construct(
    checkable: Checkable, config: ModuleConfig | None, settings: Settings, *, as_given: bool = False
) -> Checkable:
    """Replace a module's class by an instance of it; leave anything else as it is.

    The floating parameters get the dtype of the run. A module that a test suite constructed
    keeps its dtype if it is to be checked `as_given`.

    Raises:
        NoCase: The constructor raises, or the configuration has `module` for something else.
    """
    dtype = getattr(library().torch, settings.forced_dtype or settings.dtype)
    if is_module(checkable.obj):
        kept = as_given and not settings.forced_dtype
        call = ModuleCall(checkable.obj, None if kept else dtype, settings.device)
        return replace(checkable, obj=call)
    if not is_module_class(checkable.obj):
        if config is not None:
            raise NoCase(
                f"`module` is only for an nn.Module, and {checkable.name} is not one",
                hint="remove `module` from its entry in gradtool.yaml",
                part="module",
            )
        return checkable
    config = config or ModuleConfig()
    seed = stable_seed(f"{checkable.file.name}::{checkable.name}", settings.seed)
    args = [make_value(v, settings, seed, f"module.{i}") for i, v in enumerate(config.args)]
    kwargs = {k: make_value(v, settings, seed, f"module.{k}") for k, v in config.kwargs.items()}
    with global_generators(seed):
        module = _instantiate(checkable, args, kwargs).train(config.mode == "train")
    text = f"module: {checkable.name}({_call_arguments(args, kwargs)}) in {_MODES[config.mode]}"
    return replace(checkable, obj=ModuleCall(module, dtype, settings.device), constructed_as=text)


_MODES = {"train": "training mode", "eval": "evaluation mode"}


def _instantiate(checkable: Checkable, args: list[Any], kwargs: dict[str, Any]) -> Any:
    try:
        return checkable.obj(*args, **kwargs)
    except MemoryError:
        raise
    except Exception as error:
        raised = describe(error, checkable.folder)
        entry = f"{checkable.name}: {{module: {{args: [...]}}}}"
        hint = f"give its constructor's arguments in gradtool.yaml, under functions:\n{entry}"
        raise NoCase(
            f"{checkable.name}({_call_arguments(args, kwargs)}) raised {raised.summary}",
            hint=hint if isinstance(error, TypeError) else None,
            detail=raised.detail,
            location=raised.location,
        ) from None


def _call_arguments(args: list[Any], kwargs: dict[str, Any]) -> str:
    named = [f"{name}={shown_value(value)}" for name, value in kwargs.items()]
    return ", ".join([*map(shown_value, args), *named])
