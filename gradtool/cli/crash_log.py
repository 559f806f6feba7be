"""The log of a fault in gradtool itself: a file that can be pasted into a bug report."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

_PACKAGES = (
    "gradtool",
    "numpy",
    "msgspec",
    "typer",
    "rich",
    "pyyaml",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "torch",
)


def write_crash_log(error: BaseException, command: str) -> Path | None:
    """Write versions, command and traceback to ``gradtool-crash-<timestamp>.log``.

    The file goes to the user's cache folder or, if that cannot be written, to the folder
    for temporary files. An existing file is never overwritten.

    Returns:
        Where the log is, or None if it could not be written anywhere.
    """
    text = "\n".join(_lines(error, command))
    for folder in (_cache_folder(), Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        for path in _candidates(folder):
            try:
                # Exclusive creation never follows a link or replaces a file that another process
                # just made.
                with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(text)
            except FileExistsError:
                continue
            except OSError:
                break
            return path
    return None


def _cache_folder() -> Path:
    """The folder of gradtool among the caches of the user, where the system keeps them."""
    if sys.platform == "win32":
        caches = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        caches = "~/Library/Caches"
    else:
        # The XDG specification ignores relative paths.
        given = os.environ.get("XDG_CACHE_HOME", "")
        caches = given if os.path.isabs(given) else "~/.cache"  # noqa: PTH117 - Of text.
    return Path(os.path.expanduser(caches)) / "gradtool"  # noqa: PTH111 - Fails without a home.


def _candidates(folder: Path) -> Iterator[Path]:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    yield folder / f"gradtool-crash-{stamp}.log"
    for number in range(2, 100):
        yield folder / f"gradtool-crash-{stamp}-{number}.log"


def _lines(error: BaseException, command: str) -> Sequence[str]:
    return [
        f"command: {command}",
        f"python: {sys.version}",
        f"platform: {platform.platform()}",
        *(f"{package}: {_version(package)}" for package in _PACKAGES),
        f"CUDA: {_known(_cuda)}",
        f"configuration: {_known(_configuration)}",
        "",
        "".join(traceback.format_exception(error)),
    ]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _known(question: Callable[[], str]) -> str:
    """The answer to a question, or why there is none: the log must be written anyway."""
    try:
        return question()
    except Exception as error:
        return f"unknown: {error!r}"


def _cuda() -> str:
    """The version that the driver offers."""
    from gradtool.device.driver import driver_version

    offered = driver_version()
    return "no driver" if offered is None else ".".join(map(str, offered))


def _configuration() -> str:
    """The file that holds in the current folder."""
    from gradtool.config.files import find_config

    found = find_config(Path.cwd())
    return "no gradtool.yaml" if found is None else str(found)
