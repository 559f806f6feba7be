"""What pool, nursery and workers say to each other."""

from __future__ import annotations

import msgspec

from gradtool.checking.unit import Done, Survey, Surveyed, Unit
from gradtool.results.profile import CaseProfile, FunctionProfile
from gradtool.results.report import CaseResult, CheckResult


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What all have in common: frozen, and marked with their names."""


class AskSurvey(Message, frozen=True, kw_only=True):
    """To a worker: which Functions does a module have?"""

    survey: Survey


class AskUnit(Message, frozen=True, kw_only=True):
    """To a worker: check a Function."""

    unit: Unit
    finished: tuple[str, ...] = ()
    """Names of cases that another worker finished before it died."""
    left: float | None = None
    """Seconds that are left of the Function's time; None: all of it."""
    only_list: bool = False


class AskProfile(Message, frozen=True, kw_only=True):
    """To a worker: what does a Function cost?"""

    unit: Unit
    budget: float
    """Seconds for which each case is sampled at most."""


class AskDevice(Message, frozen=True, kw_only=True):
    """To a worker: is this device there?"""

    device: str


class SurveyDone(Message, frozen=True, kw_only=True):
    """From a worker: the Functions of a module."""

    answer: Surveyed


class DeviceThere(Message, frozen=True, kw_only=True):
    """From a worker: the device is there."""


class Loaded(Message, frozen=True, kw_only=True):
    """From a worker: the module of a unit is imported."""


class Opened(Message, frozen=True, kw_only=True):
    """From a worker: the cases of a Function are found."""

    listed: Done


class CaseStarted(Message, frozen=True, kw_only=True):
    """From a worker: a case is about to be checked."""

    name: str


class CaseFinished(Message, frozen=True, kw_only=True):
    """From a worker: a case has been checked."""

    case: CaseResult


class UnitDone(Message, frozen=True, kw_only=True):
    """From a worker: the Function is checked; `checks` are about it as a whole."""

    checks: tuple[CheckResult, ...] = ()


class CaseProfiled(Message, frozen=True, kw_only=True):
    """From a worker: a case has been profiled."""

    case: CaseProfile


class UnitProfiled(Message, frozen=True, kw_only=True):
    """From a worker: all cases of a Function have been profiled."""

    function: FunctionProfile


class Refused(Message, frozen=True, kw_only=True):
    """From a worker: what was asked for is not there. The run ends with this line."""

    message: str


class Fault(Message, frozen=True, kw_only=True):
    """From a worker: gradtool itself failed. The run ends with this traceback."""

    summary: str
    traceback: str

    def told(self, where: str) -> str:
        """What a crash log says of it: ``where`` is of whom, as in ``In a worker``."""
        return f"{self.summary}\n\n{where}:\n{self.traceback}"


class Idle(Message, frozen=True, kw_only=True):
    """From a worker, after its last word to a request."""

    spoiled: bool = False
    """Something was left behind, such as a thread: it should not be asked again."""


Request = AskSurvey | AskUnit | AskProfile | AskDevice
Reply = (
    SurveyDone | DeviceThere | Loaded | Opened | CaseStarted | CaseFinished | UnitDone | Refused
    | CaseProfiled | UnitProfiled | Fault | Idle
)  # fmt: skip


class Fork(Message, frozen=True, kw_only=True):
    """To the nursery, along with a worker's file descriptors: bring up a worker."""

    number: int


class Kill(Message, frozen=True, kw_only=True):
    """To the nursery: end a worker and all its children."""

    number: int


class Ready(Message, frozen=True, kw_only=True):
    """From the nursery: everything is loaded."""

    numpy: str


class Exited(Message, frozen=True, kw_only=True):
    """From the nursery: a worker is gone, and nothing of it is left."""

    number: int
    status: int
    """As `os.waitpid` gives it."""
    peak: int = 0
    """Most memory it ever used, in bytes."""
    oom_killed: bool = False
    """The system's killer was at work meanwhile."""


Order = Fork | Kill
Report = Ready | Exited | Fault
