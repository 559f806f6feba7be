"""Functions that do what no gate should survive by luck, one kind each.

Every entry says at which point the Function turns hostile, what it does, and what must be
said of it: the code of a rule, or None where it is a right Function that must pass all the
same.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent


@dataclass(frozen=True)
class Hostile:
    """One kind of hostility."""

    name: str
    does: str
    code: str | None
    where: str = "backward"


HOSTILE = [
    Hostile("Segfault", "ctypes.string_at(0)", "GT005"),
    Hostile("SegfaultInForward", "ctypes.string_at(0)", "GT005", "forward"),
    Hostile("Abort", "os.abort()", "GT005"),
    Hostile("KillsItself", "os.kill(os.getpid(), signal.SIGKILL)", "GT005"),
    Hostile("KillsItsGroup", "os.killpg(0, signal.SIGTERM)", "GT005"),
    Hostile("IllegalInstruction", "os.kill(os.getpid(), signal.SIGILL)", "GT005"),
    Hostile("OverflowsTheStack", "overflow_the_stack()", "GT005"),
    Hostile("ExitsAtOnce", "os._exit(0)", "GT008"),
    Hostile("ExitsWithAnError", "os._exit(3)", "GT008"),
    Hostile("ExitsFromAThread", "in_thread(lambda: os._exit(0))", "GT008"),
    Hostile("SysExit", "sys.exit()", "GT008"),
    Hostile("SysExitInForward", "sys.exit('no')", "GT008", "forward"),
    Hostile("Interrupts", "raise KeyboardInterrupt", "GT008"),
    Hostile("RaisesABaseException", "raise Stop('now')", "GT008"),
    Hostile("ClosesEverything", "os.closerange(0, 1000)", "GT008"),
    Hostile("WritesIntoOurPipe", "write_everywhere()", "GT008"),
    Hostile("ReplacesTheProgram", "os.execv('/bin/true', ['true'])", "GT008"),
    Hostile("Loops", "loop()", "GT006"),
    Hostile("LoopsInForward", "loop()", "GT006", "forward"),
    Hostile("LoopsAndSwallows", "loop_and_swallow()", "GT006"),
    Hostile("LoopsInC", "loop_in_c()", "GT006"),
    Hostile("Deadlocks", "deadlock()", "GT006"),
    Hostile("AwaitsAThread", "in_thread(lambda: time.sleep(1000))", "GT006"),
    Hostile("IgnoresAlarms", "signal.signal(signal.SIGALRM, signal.SIG_IGN); loop()", "GT006"),
    Hostile("StopsItself", "os.kill(os.getpid(), signal.SIGSTOP)", "GT006"),
    Hostile("EatsMemory", "eat_memory()", "GT007"),
    Hostile("EatsMemoryInForward", "eat_memory()", "GT007", "forward"),
    Hostile("AsksForTooMuch", "bytearray(1 << 44)", "GT007"),
    Hostile("LeavesAThread", "leave_a_thread()", None),
    Hostile("ClosesStdout", "sys.stdout.close(); os.closerange(1, 2)", None),
    Hostile("ReplacesStdout", "sys.stdout = sys.stderr = None", None),
    Hostile("WritesGarbage", "os.write(1, bytes(range(256)) * 20)", None),
    Hostile("PrintsALot", "print('x' * 200_000)", None),
    Hostile("ChangesTheFolder", "os.chdir('/')", None),
    Hostile("ClearsTheEnvironment", "os.environ.clear()", None),
    Hostile("CatchesSignals", "signal.signal(signal.SIGTERM, signal.SIG_IGN)", None),
    Hostile("LeavesAProcess", "leave_a_process()", None),
    Hostile("LeavesADaemon", "leave_a_daemon()", None),
    Hostile("ForksAndReturnsTwice", "fork_once()", None),
    Hostile("ReadsInput", "assert sys.stdin.read() == ''", None),
]

_HEAD = """
import ctypes, os, signal, subprocess, sys, threading, time
from gradtool import Function


class Stop(BaseException):
    pass


def overflow_the_stack():
    qsort = ctypes.CDLL(None).qsort
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def again(a, b):
        qsort(ctypes.create_string_buffer(2), 2, 1, compare(again))
        return 0

    sys.setrecursionlimit(10**8)
    again(0, 0)


def in_thread(run):
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def write_everywhere():
    for descriptor in range(150, 260):
        try:
            os.write(descriptor, b"no message, but quite some bytes of something else")
        except OSError:
            pass


def loop():
    while True:
        pass


def loop_in_c():
    ctypes.PyDLL(None).sleep(1000)  # PyDLL keeps the lock of the interpreter


def loop_and_swallow():
    while True:
        try:
            time.sleep(10)
        except BaseException:
            pass


def deadlock():
    lock = threading.Lock()
    with lock, lock:
        pass


def eat_memory():
    eaten = []
    while True:
        eaten.append(bytearray(16 << 20))


LEFT = []


def leave_a_thread():
    if not LEFT:
        LEFT.append(threading.Thread(target=time.sleep, args=(1000,)))
        LEFT[0].start()


def leave_a_process():
    if not LEFT:
        LEFT.append(subprocess.Popen(["sleep", "1000"]))


def leave_a_daemon():
    if not LEFT:
        LEFT.append(subprocess.Popen(["sleep", "1001"], start_new_session=True))


def fork_once():
    if not LEFT:
        LEFT.append(os.fork())
"""

_FUNCTION = """

class {name}(Function):
    @staticmethod
    def forward(ctx, x):
{forward}
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
{backward}
        return 2 * grad_output * x
"""


def source(*hostile: Hostile) -> str:
    """A module that defines these Functions."""
    return _HEAD + "".join(map(_function, hostile))


def _function(hostile: Hostile) -> str:
    does = {"forward": "pass", "backward": "pass", hostile.where: hostile.does}
    return _FUNCTION.format(
        name=hostile.name,
        forward=indent(does["forward"], " " * 8),
        backward=indent(does["backward"], " " * 8),
    )


GOOD = Hostile("Good", "pass", None)

HOSTILE_IMPORTS = {
    "import_segfaults.py": "import ctypes\nctypes.string_at(0)\n",
    "import_loops.py": "while True:\n    pass\n",
    "import_exits.py": "import os\nos._exit(0)\n",
    "import_sys_exits.py": "import sys\nsys.exit(0)\n",
    "import_eats.py": "x = bytearray(1 << 44)\n",
}
"""Modules that do not live to see the end of their import."""
