"""What options say of the configuration, for every command that takes one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def configured(given: Sequence[str] | None, isolated: bool) -> dict[str, Any]:
    """The fields of `CheckOptions` that say which configuration holds.

    Args:
        given: What ``--config`` was given: a file, and ``KEY=VALUE`` pairs.
        isolated: ``--isolated`` was given.

    Raises:
        UsageError: Two files were given.
    """
    from gradtool.gate.overrides import split_config

    file, pairs = split_config(given or ())
    return {"config": file, "overrides": pairs, "no_config": isolated}
