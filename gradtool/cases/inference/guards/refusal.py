"""`Refusal`: where the user's code raised, with the variables of each call on the way there."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, eq=False)
class Scene:
    """One call on the way to an exception."""

    line: int
    """The line that it was at."""
    variables: Mapping[str, Any]
    """Its local variables."""
    namespace: Mapping[str, Any]
    """The globals that it sees."""


@dataclass(frozen=True, eq=False)
class Refusal:
    """The calls of functions of the user's file that led to an exception, outermost first."""

    scenes: Sequence[Scene]

    def argument_of(self, name: str, scene: Scene, arguments: Sequence[str]) -> str | None:
        """The argument of the outermost call that a variable of one of the calls holds."""
        first = self.scenes[0]
        if scene is first and name in arguments:
            return name
        value = scene.variables.get(name)
        held = (each for each in arguments if first.variables.get(each) is value)
        return None if value is None else next(held, None)


def refusal_of(error: BaseException, file: Path) -> Refusal | None:
    """The refusal that an exception is; None if it passed through no function of the file."""
    frames = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == str(file)
    ]
    scenes = [Scene(line, dict(frame.f_locals), frame.f_globals) for frame, line in frames]
    return Refusal(scenes) if scenes else None
