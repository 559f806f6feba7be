"""What systems without POSIX lack is imported by nothing that is loaded there."""

from __future__ import annotations

import subprocess
import sys

SOURCE = """
import importlib, pkgutil, sys

LACKING = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}


class Lacking:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in LACKING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


for name in LACKING:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Lacking)
import gradtool

for found in pkgutil.walk_packages(gradtool.__path__, "gradtool."):
    try:
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    except ModuleNotFoundError as error:
        if error.name in LACKING:
            print(found.name)
    except ImportError:
        pass
"""
ONLY_AFTER_A_FORK = ["gradtool.workers.worker"]


def test_only_the_code_of_workers_needs_posix() -> None:
    command = [sys.executable, "-W", "ignore", "-c", SOURCE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ONLY_AFTER_A_FORK
