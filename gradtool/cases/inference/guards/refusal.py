"""`Refusal`: where the user's code raised, with the variables of each call on the way there."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

import msgspec

import gradtool


class Scene(msgspec.Struct, frozen=True, eq=False):
    """One call on the way to an exception."""

    line: int
    """The line that it was at."""
    variables: Mapping[str, Any]
    """Its local variables."""
    namespace: Mapping[str, Any]
    """The globals that it sees."""
    code: CodeType | None = None
    """What it runs."""


class Refusal(msgspec.Struct, frozen=True, eq=False):
    """The calls of functions of the user's file that led to an exception, outermost first."""

    scenes: Sequence[Scene]
    everywhere: Sequence[Scene] = ()
    """The calls of functions of any file but gradtool's own."""

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
    frames = list(traceback.walk_tb(error.__traceback__))
    every = [
        (frame.f_code.co_filename, Scene(line, dict(frame.f_locals), frame.f_globals, frame.f_code))
        for frame, line in frames
        if not frame.f_code.co_filename.startswith(_OWN_FOLDER)
    ]
    scenes = [scene for name, scene in every if name == str(file)]
    return Refusal(scenes, [scene for _, scene in every]) if scenes else None


_OWN_FOLDER = str(Path(gradtool.__file__).parent)
