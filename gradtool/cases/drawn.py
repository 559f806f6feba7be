"""Arguments of a case whose tensors are drawn at random, from a seed of their own."""

from __future__ import annotations

from typing import Any

from gradtool.adapters.common.random_state import stable_seed
from gradtool.cases.arguments import make_value
from gradtool.collect.checkable import Checkable
from gradtool.config.schema import CaseConfig
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import NoCase


def case_seed(checkable: Checkable, settings: Settings, case: str) -> int:
    """Seed of a case.

    It depends on the file's name rather than its path, so that the folder a run is
    started in does not change the numbers.
    """
    return stable_seed(f"{checkable.file.name}::{checkable.name}[{case}]", settings.seed)


def draw(
    checkable: Checkable, settings: Settings, case: CaseConfig, name: str
) -> tuple[list[Any], dict[str, Any]]:
    """Make the arguments of a case, positional ones and those by keyword.

    Raises:
        NoCase: Its tensors are too large.
    """
    seed = case_seed(checkable, settings, name)
    try:
        args = [make_value(v, settings, seed, str(i)) for i, v in enumerate(case.args)]
        kwargs = {k: make_value(v, settings, seed, k) for k, v in case.kwargs.items()}
    except (MemoryError, ValueError) as error:
        raise NoCase(f"the tensors of case {name!r} cannot be created: {error}") from None
    return args, kwargs
