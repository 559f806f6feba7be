"""Construction of an ``nn.Module`` from its class, as the configuration says.

Its parameters are drawn from the seed of the Function, so that runs are repeatable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradtool.adapters.common.module_call import ModuleCall, is_module, is_module_class
from gradtool.adapters.common.random_state import global_generators, stable_seed
from gradtool.adapters.library import library
from gradtool.cases.arguments import make_value, shown_value
from gradtool.collect.subject import Subject
from gradtool.config.schema import ModuleConfig
from gradtool.config.settings import Settings
from gradtool.findings.terminations import NoCase
from gradtool.sandbox.user_errors import describe


def construct(
    subject: Subject, config: ModuleConfig | None, settings: Settings, *, as_given: bool = False
) -> Subject:
    """Replace a module's class by an instance of it; leave anything else as it is.

    The floating parameters get the dtype of the run. A module that a test suite constructed
    keeps its dtype if it is to be checked `as_given`.

    Raises:
        NoCase: The constructor raises, or the configuration has `module` for something else.
    """
    dtype = getattr(library().torch, settings.forced_dtype or settings.dtype)
    if is_module(subject.target):
        kept = as_given and not settings.forced_dtype
        call = ModuleCall(subject.target, None if kept else dtype, settings.device)
        return replace(subject, target=call)
    if not is_module_class(subject.target):
        if config is not None:
            raise NoCase(
                f"`module` configures an nn.Module, and {subject.name} is not one",
                hint="remove `module` from its entry in gradtool.yaml",
            )
        return subject
    config = config or ModuleConfig()
    seed = stable_seed(f"{subject.file.name}::{subject.name}", settings.seed)
    args = [make_value(v, settings, seed, f"module.{i}") for i, v in enumerate(config.args)]
    kwargs = {k: make_value(v, settings, seed, f"module.{k}") for k, v in config.kwargs.items()}
    with global_generators(seed):
        module = _instantiate(subject, args, kwargs).train(config.mode == "train")
    made = f"module: {subject.name}({_call_arguments(args, kwargs)}) in {_MODES[config.mode]}"
    return replace(subject, target=ModuleCall(module, dtype, settings.device), made=made)


_MODES = {"train": "training mode", "eval": "evaluation mode"}


def _instantiate(subject: Subject, args: list[Any], kwargs: dict[str, Any]) -> Any:
    try:
        return subject.target(*args, **kwargs)
    except MemoryError:
        raise
    except Exception as error:
        raised = describe(error, subject.folder)
        entry = f"functions: {{{subject.name}: {{module: {{args: [...]}}}}}}"
        hint = f"give its constructor's arguments in gradtool.yaml: {entry}"
        raise NoCase(
            f"{subject.name}({_call_arguments(args, kwargs)}) raised {raised.summary}",
            hint=hint if isinstance(error, TypeError) else None,
            detail=raised.detail,
            location=raised.location,
        ) from None


def _call_arguments(args: list[Any], kwargs: dict[str, Any]) -> str:
    named = [f"{name}={shown_value(value)}" for name, value in kwargs.items()]
    return ", ".join([*map(shown_value, args), *named])
