"""``gradtool run`` hands the command line on to the script, and its exit code back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def gradtool_run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gradtool", "run", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_what_follows_the_script_is_the_scripts(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import atexit, sys\natexit.register(print, 'bye')\nprint(sys.argv[1:])\nsys.exit(41)\n"
    )
    done = gradtool_run(script, "--help", "-v", "x y", "--", "--strict")
    assert done.returncode == 41
    assert done.stdout == "['--help', '-v', 'x y', '--', '--strict']\nbye\n"
    assert done.stderr == ""


def test_a_module_runs_with_the_engine_as_torch_and_the_current_folder_in_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "__main__.py").write_text(
        "import sys, torch, helper\nprint(torch.__version__, __spec__.name, sys.argv[1:])\n"
    )
    (tmp_path / "helper.py").write_text("")
    done = gradtool_run("-m", "tool", "-m", "x")
    assert done.stdout == "2.13.0+gradtool tool.__main__ ['-m', 'x']\n"
    assert done.stderr == ""


def test_pytest_runs_as_a_module_without_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_it.py").write_text(
        "import torch\ndef test_it():\n    assert torch.__version__.endswith('gradtool')\n"
    )
    done = gradtool_run("-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0
    assert "1 passed" in done.stdout
    assert "warning" not in done.stdout


def test_verbose_before_the_script_is_gradtools(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import torch\ntorch.ones(2) @ torch.ones(3)\n")
    assert "_ops" not in gradtool_run(script, "-v").stderr
    assert "_ops" in gradtool_run("-v", script).stderr


def test_threads_that_outlive_the_script_import_torch_too(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import threading, time\n"
        "def late():\n"
        "    time.sleep(0.2)\n"
        "    import torch.nn\n"
        "    print(torch.nn.Module.__module__, torch.__version__)\n"
        "threading.Thread(target=late).start()\n"
    )
    assert gradtool_run(script).stdout == "torch.nn.modules.module 2.13.0+gradtool\n"


def test_classes_have_torchs_names_and_are_saved_by_them(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import io, pickle, torch\n"
        "x, file = torch.ones(2), io.BytesIO()\n"
        "torch.save({'size': x.shape, 'x': x}, file)\n"
        "file.seek(0)\n"
        "print(type(x), type(x.dtype), torch.load(file)['size'])\n"
        "print(torch.nn.Linear, type(pickle.loads(pickle.dumps(torch.nn.ReLU()))))\n"
    )
    done = gradtool_run(script)
    assert (done.stdout, done.stderr) == (
        "<class 'torch.Tensor'> <class 'torch.dtype'> torch.Size([2])\n"
        "<class 'torch.nn.modules.linear.Linear'> <class 'torch.nn.modules.activation.ReLU'>\n",
        "",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope.py"], "error: nope.py cannot be read: No such file or directory\n"),
        (["."], "error: . is a folder: name the script in it\n"),
        ([], "error: Missing argument 'SCRIPT'.\n"),
        (["-m", "nope"], "error: no module 'nope' that can be run\n"),
        (["--nope", "x.py"], "error: No such option: --nope\n"),
    ],
)
def test_bad_use_is_one_line(
    run: Callable[..., tuple[int, str, str]], arguments: list[str], message: str
) -> None:
    assert run("run", *arguments) == (2, "", message)
