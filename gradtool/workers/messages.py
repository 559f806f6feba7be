"""Messages between the pool, the fork server and the workers."""

from __future__ import annotations

import traceback

import msgspec

from gradtool.checking.unit import Discovery, DiscoveryResult, Unit, UnitResult
from gradtool.results.profile import CaseProfile, FunctionProfile
from gradtool.results.report import CaseResult, CheckResult, Coverage, OwnFault


class WorkerFault(Exception):  # noqa: N818 - named as its message is
    """Gradtool itself failed in another process."""

    @classmethod
    def of(cls, fault: OwnFault) -> WorkerFault:
        """The exception for a fault that a report names."""
        return cls(f"{fault.summary}\n\nAt {fault.node}, in a worker:\n{fault.traceback}")


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Base of all messages: frozen, and tagged with the name of its class."""


class AskDiscovery(Message, frozen=True, kw_only=True):
    """To a worker: list the Functions of a module."""

    discovery: Discovery


class AskUnit(Message, frozen=True, kw_only=True):
    """To a worker: check a Function."""

    unit: Unit
    finished: tuple[str, ...] = ()
    """Names of cases that another worker finished before it died."""
    left: float | None = None
    """Seconds left of the Function's time; None for all of it."""
    only_list: bool = False


class AskProfile(Message, frozen=True, kw_only=True):
    """To a worker: profile a Function."""

    unit: Unit
    budget: float
    """Seconds for which each case is sampled at most."""


class AskDevice(Message, frozen=True, kw_only=True):
    """To a worker: make sure that a device can be used."""

    device: str


class DiscoveryDone(Message, frozen=True, kw_only=True):
    """From a worker: the Functions of a module."""

    answer: DiscoveryResult


class DeviceThere(Message, frozen=True, kw_only=True):
    """From a worker: the device can be used."""


class Loaded(Message, frozen=True, kw_only=True):
    """From a worker: the module of a unit is imported."""


class Opened(Message, frozen=True, kw_only=True):
    """From a worker: the cases of a Function are found."""

    listed: UnitResult


class CaseStarted(Message, frozen=True, kw_only=True):
    """From a worker: a case is about to be checked."""

    name: str


class CaseFinished(Message, frozen=True, kw_only=True):
    """From a worker: a case has been checked."""

    case: CaseResult


class Exploring(Message, frozen=True, kw_only=True):
    """From a worker: the Function is explored, and something is tried."""

    what: str


class Explored(Message, frozen=True, kw_only=True):
    """From a worker: the Function has been explored."""

    coverage: Coverage | None
    seconds: float


class UnitDone(Message, frozen=True, kw_only=True):
    """From a worker: the Function is checked; `checks` are about it as a whole."""

    checks: tuple[CheckResult, ...] = ()


class Untrusted(Message, frozen=True, kw_only=True):
    """From a worker: nothing counts that it said of the Function or module, or would say.

    The other end makes the finding, since even a severity may mean something else in this process.
    """

    reason: str


class CaseProfiled(Message, frozen=True, kw_only=True):
    """From a worker: a case has been profiled."""

    case: CaseProfile


class UnitProfiled(Message, frozen=True, kw_only=True):
    """From a worker: all cases of a Function have been profiled."""

    function: FunctionProfile


class Refused(Message, frozen=True, kw_only=True):
    """From a worker: the request names something that is not there. The run ends with this line."""

    message: str


class Fault(Message, frozen=True, kw_only=True):
    """From a worker: gradtool itself failed. The run ends with this traceback."""

    summary: str
    traceback: str

    @classmethod
    def of(cls, error: BaseException, subject: str = "") -> Fault:
        """The fault for `error`, raised by gradtool during the work on `subject`."""
        summary = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
        text = "".join(traceback.format_exception(error))
        return cls(summary=summary, traceback=f"{subject}\n{text}" if subject else text)

    def log(self, where: str) -> str:
        """The text for a crash log; `where` begins its second paragraph, as ``In a worker``."""
        return f"{self.summary}\n\n{where}:\n{self.traceback}"


class Idle(Message, frozen=True, kw_only=True):
    """From a worker: the request is answered in full."""

    spoiled: bool = False
    """Something was left behind, such as a thread: the worker must not be used again."""


Request = AskDiscovery | AskUnit | AskProfile | AskDevice
Reply = (
    DiscoveryDone | DeviceThere | Loaded | Opened | CaseStarted | CaseFinished | Exploring
    | Explored | UnitDone | Untrusted | Refused | CaseProfiled | UnitProfiled | Fault | Idle
)  # fmt: skip


class Fork(Message, frozen=True, kw_only=True):
    """To the fork server, along with a worker's file descriptors: start a worker."""

    number: int
    key: bytes
    """That of the worker's answers, which tells them from what the checked code writes."""


class Kill(Message, frozen=True, kw_only=True):
    """To the fork server: kill a worker and all its children."""

    number: int


class Ready(Message, frozen=True, kw_only=True):
    """From the fork server: everything is loaded."""

    numpy: str


class Exited(Message, frozen=True, kw_only=True):
    """From the fork server: a worker has ended, and so have all its children."""

    number: int
    status: int
    """As `os.waitpid` gives it."""
    peak: int = 0
    """Its highest memory use in bytes."""
    oom_killed: bool = False
    """The system's out-of-memory killer struck while the worker ran."""


Order = Fork | Kill
Report = Ready | Exited | Fault
