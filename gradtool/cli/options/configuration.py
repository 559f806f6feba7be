"""What options and the environment say of the configuration, for commands that take one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any


def configured(given: Sequence[str] | None, isolated: bool) -> dict[str, Any]:
    """The fields of `CheckOptions` that say which configuration holds.

    Args:
        given: What ``--config`` was given: a file, and ``KEY=VALUE`` pairs.
        isolated: ``--isolated`` was given.

    Raises:
        UsageError: Two files were given, or a variable is misspelt.
    """
    from gradtool.config.environment import of_environment
    from gradtool.config.overrides import split_config

    file, pairs = split_config(given or ())
    variables = of_environment(os.environ)
    return {"config": file, "overrides": pairs, "variables": variables, "no_config": isolated}
