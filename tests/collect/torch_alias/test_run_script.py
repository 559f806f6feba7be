"""A script runs as ``python SCRIPT`` runs it, with ``import torch`` answered."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gradtool.collect.torch_alias.run_script import run_script
from gradtool.errors import UsageError

Outcome = tuple[int, str, str]
Run = Callable[..., Outcome]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Write a script, and give its path."""

    def write(text: str, name: str = "main.py") -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def ours(scripts_run_here: None, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a script in this process."""

    def run(script: str, *arguments: str, all_frames: bool = False) -> Outcome:
        code = run_script(script, arguments, all_frames=all_frames)
        return (code, *capsys.readouterr())

    return run


def theirs(script: str, *arguments: str) -> Outcome:
    command = [sys.executable, script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_torch_is_answered_and_what_lies_beside_the_script_is_found(
    ours: Run, write: Callable[..., str]
) -> None:
    write("import torch\ndef double(x): return 2 * x\n", "helper_of_script.py")
    path = write(
        "import torch, helper_of_script\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "helper_of_script.double(x * x).sum().backward()\n"
        "print(x.grad.tolist(), torch.__version__)\n"
    )
    assert ours(path) == (0, "[4.0, 4.0] 2.13.0+gradtool\n", "")
    del sys.modules["helper_of_script"]


def test_script_sees_what_python_would_show_it(ours: Run, write: Callable[..., str]) -> None:
    path = write(
        "'''Its docstring.'''\n"
        "import sys, pickle\n"
        "print(sys.argv, sys.path[0], __name__, __file__, __doc__, __spec__)\n"
        "print(sys.modules['__main__'].__dict__ is globals(), __builtins__)\n"
        "class A: pass\n"
        "print(type(pickle.loads(pickle.dumps(A()))) is A)\n"
    )
    assert ours(path, "--help", "-v", "--", "x y") == theirs(path, "--help", "-v", "--", "x y")


@pytest.mark.parametrize(
    "end",
    [
        "import sys; sys.exit()",
        "import sys; sys.exit(7)",
        "import sys; sys.exit('told why')",
        "raise SystemExit([1, 2])",
        "def f(): return 1 / 0\nf()",
        "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b') from e",
        "try:\n    {}['a']\nexcept KeyError:\n    1 / 0",
        "import sys; sys.excepthook = lambda *a: print('hooked', a[0].__name__)\n1 / 0",
        "x = = 3",
        "assert False, 'no'",
    ],
)
def test_ends_as_python_does(ours: Run, write: Callable[..., str], end: str) -> None:
    path = write(f"{end}\n")
    assert ours(path) == theirs(path)


def test_interrupt_ends_with_its_code(ours: Run, write: Callable[..., str]) -> None:
    code, _, told = ours(write("raise KeyboardInterrupt\n"))
    assert code == 130
    assert told.endswith("KeyboardInterrupt\n")


TRACED = """\
import torch
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.exp()
    @staticmethod
    def backward(ctx, g): raise ValueError("wrong")
Exp.apply(torch.ones(2, requires_grad=True)).sum().backward()
"""


def test_traceback_shows_the_scripts_frames_only(ours: Run, write: Callable[..., str]) -> None:
    path = write(TRACED)
    code, _, told = ours(path)
    assert code == 1
    assert told.count("File ") == told.count(path) == 2
    assert told.endswith("ValueError: wrong\n")


def test_all_frames_can_be_shown(ours: Run, write: Callable[..., str]) -> None:
    _, _, told = ours(write(TRACED), all_frames=True)
    assert told.count("File ") > 4
    assert "_walk.py" in told


def test_a_missing_name_is_reported_where_it_is_used(ours: Run, write: Callable[..., str]) -> None:
    path = write("import torch\nf = torch.distributed.recv_object_list\nprint('loaded')\nf(0)\n")
    code, out, told = ours(path)
    assert (code, out) == (1, "loaded\n")
    assert "line 4, in <module>" in told
    assert (
        "EngineLacksError: gradtool's engine has no torch.distributed.recv_object_list; see "
        in told
    )


def test_extension_compiled_against_pytorch_is_explained(
    ours: Run, write: Callable[..., str]
) -> None:
    code, _, told = ours(write("raise ImportError('libc10.so: cannot open shared object file')\n"))
    assert code == 1
    assert "note: the library is compiled against PyTorch" in told


def test_unreadable_script_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nope\.py cannot be read: No such file or directory"):
        run_script(str(tmp_path / "nope.py"), ())
    with pytest.raises(UsageError, match="is a folder: name the script in it"):
        run_script(str(tmp_path), ())
