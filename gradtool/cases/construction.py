"""Makes an ``nn.Module`` of the class that is to be checked, as the configuration says.

Its parameters are drawn from the seed of the Function, so a run finds what the last one found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradtool.adapters.common.module_call import ModuleCall, is_module, is_module_class
from gradtool.adapters.common.seeding import global_generators, stable_seed
from gradtool.adapters.library import library
from gradtool.cases.arguments import make_value, shown_value
from gradtool.collect.subject import Subject
from gradtool.config.schema import ModuleConfig
from gradtool.config.settings import Settings
from gradtool.findings.terminations import NoCase
from gradtool.sandbox.user_errors import describe


def constructed(
    subject: Subject, said: ModuleConfig | None, settings: Settings, *, as_given: bool = False
) -> Subject:
    """The subject with a module in the place of its class; another subject as it is.

    The floating parameters get the dtype of the run. Those of a module that a test suite made
    keep theirs if it is to be checked `as_given`.

    Raises:
        NoCase: The constructor raises, or the configuration says how to make what is no module.
    """
    dtype = getattr(library().torch, settings.forced_dtype or settings.dtype)
    if is_module(subject.target):
        kept = as_given and not settings.forced_dtype
        call = ModuleCall(subject.target, None if kept else dtype, settings.device)
        return replace(subject, target=call)
    if not is_module_class(subject.target):
        if said is not None:
            raise NoCase(
                f"`module` says how an nn.Module is made, and {subject.name} is none",
                hint="remove `module` from its entry in gradtool.yaml",
            )
        return subject
    said = said or ModuleConfig()
    seed = stable_seed(f"{subject.file.name}::{subject.name}", settings.seed)
    args = [make_value(v, settings, seed, f"module.{i}") for i, v in enumerate(said.args)]
    kwargs = {k: make_value(v, settings, seed, f"module.{k}") for k, v in said.kwargs.items()}
    with global_generators(seed):
        module = _made(subject, args, kwargs).train(said.mode == "train")
    told = f"module: {subject.name}({_listed(args, kwargs)}) in {_MODES[said.mode]}"
    return replace(subject, target=ModuleCall(module, dtype, settings.device), made=told)


_MODES = {"train": "training mode", "eval": "evaluation mode"}


def _made(subject: Subject, args: list[Any], kwargs: dict[str, Any]) -> Any:
    try:
        return subject.target(*args, **kwargs)
    except MemoryError:
        raise
    except Exception as error:
        told = describe(error, subject.folder)
        entry = f"functions: {{{subject.name}: {{module: {{args: [...]}}}}}}"
        hint = f"give its constructor's arguments in gradtool.yaml: {entry}"
        raise NoCase(
            f"{subject.name}({_listed(args, kwargs)}) raised {told.summary}",
            hint=hint if isinstance(error, TypeError) else None,
            detail=told.detail,
            location=told.location,
        ) from None


def _listed(args: list[Any], kwargs: dict[str, Any]) -> str:
    named = [f"{name}={shown_value(value)}" for name, value in kwargs.items()]
    return ", ".join([*map(shown_value, args), *named])
