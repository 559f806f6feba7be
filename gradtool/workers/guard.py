"""`Guard`: keep a worker from answering once the checker in it cannot be relied on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from gradtool.adapters.engines import BOTH, BUNDLED, TORCH, computing_with
from gradtool.adapters.library import library, load
from gradtool.checking.canary import misjudgement
from gradtool.config.settings import Settings
from gradtool.errors import UsageError
from gradtool.sandbox.seal import Seal

_LONG = 0.5
"""Processor time of a Function after which a thorough canary costs next to nothing beside it."""


class Distrusted(Exception):  # noqa: N818 - the state of a worker
    """The answers of this worker do not count; the text says why."""


class Guard:
    """Compares the process with its seal, and has it judge Functions of gradtool's own.

    Args:
        seal: Taken before any of the checked code ran.
    """

    def __init__(self, seal: Seal) -> None:
        self._seal = seal
        self._has_compared = False
        self._has_engine = False

    def prepare(self, settings: Settings) -> None:
        """Load the engine that the code will run on, which may change the process by itself.

        PyTorch does. Called before any of the checked code runs, and again to no effect.
        """
        if settings.engine != BUNDLED and not self._has_engine:
            load(TORCH)
            self._seal = Seal()
        self._has_engine = True

    def require_sealed(self) -> None:
        """Refuse to go on when something was replaced that the checker stands on.

        Raises:
            Distrusted: Something was.
        """
        replaced = self._seal.difference()
        if replaced is not None:
            raise Distrusted(f"the checked code replaced {replaced}")
        self._has_compared = True

    @contextlib.contextmanager
    def of_faults(self) -> Iterator[None]:
        """Attribute a failure of gradtool's own in the block to what was replaced, if it was.

        Raises:
            Distrusted: Something was.
        """
        try:
            yield
        except Exception as error:
            if not isinstance(error, Distrusted | UsageError):
                self.require_sealed()
            raise

    def after_load(self) -> None:
        """Refuse to begin, after the module's import, when the checker is not what it was.

        Raises:
            Distrusted: Something was replaced.
        """
        if not self._has_compared:  # It was when the module's Functions were listed.
            self.require_sealed()

    def at_end(self, settings: Settings, seconds: float) -> None:
        """Refuse the answers about a Function, whose check took that much time.

        Raises:
            Distrusted: Something was replaced, or is misjudged.
        """
        self.require_sealed()
        self._require_right_judgement(settings, thoroughly=seconds > _LONG)

    def _require_right_judgement(self, settings: Settings, *, thoroughly: bool) -> None:
        engine = BUNDLED if settings.engine == BOTH else settings.engine
        try:
            with computing_with(engine), library().torch.enable_grad():
                wrong = misjudgement(settings.seed, thoroughly=thoroughly)
        except Exception as error:  # Whatever made the checker fail may raise anything.
            wrong = f"one of gradtool's own Functions raised {type(error).__name__}"
        if wrong is not None:
            raise Distrusted(f"after the checked code ran, {wrong}")
