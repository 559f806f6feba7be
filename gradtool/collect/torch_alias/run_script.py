"""Running a script or a module as ``python`` would, with ``import torch`` answered by the engine.

The process is the script's from then on: nothing set up here is undone, because the
script's threads and exit handlers outlive its last line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

from gradtool.collect.torch_alias import alias as torch_alias
from gradtool.errors import UsageError
from gradtool.package import OWN_CODE


def run_script(script: str, arguments: Sequence[str], *, all_frames: bool = False) -> int:
    """Run the file `script` as the main program.

    Args:
        script: The path as it was typed, which the script sees in ``sys.argv[0]``.
        arguments: What follows it in ``sys.argv``.
        all_frames: Show gradtool's own frames in a traceback.

    Returns:
        The exit code that Python would end with.

    Raises:
        UsageError: The file cannot be read.
    """
    source = _read(script)
    main = _main_module(script)
    sys.argv = [script, *arguments]
    if not sys.flags.safe_path:
        sys.path[:1] = [str(Path(script).resolve().parent)]
    torch_alias.install()
    return _ended(lambda: compile(source, script, "exec", dont_inherit=True), main, all_frames)


def run_module(name: str, arguments: Sequence[str], *, all_frames: bool = False) -> int:
    """Run the module or package `name` as ``python -m`` would; see `run_script`.

    Raises:
        UsageError: There is no such module, or it cannot be run.
    """
    if not sys.flags.safe_path:
        sys.path[:1] = [str(Path.cwd())]
    torch_alias.install()
    spec = find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = find_spec(f"{name}.__main__")
    get_code = getattr(spec and spec.loader, "get_code", None)
    if spec is None or get_code is None:
        raise UsageError(f"no module {name!r} that can be run")
    main = _main_module(spec.origin or name)
    main.__spec__, main.__package__ = spec, spec.parent
    sys.argv = [main.__file__ or name, *arguments]
    return _ended(lambda: get_code(spec.name), main, all_frames)


def _ended(code: Callable[[], CodeType], main: ModuleType, all_frames: bool) -> int:
    """Run the code as `main`, and return the exit code that Python would end with."""
    try:
        _execute(code(), main)
    except SystemExit as error:
        return _exit_code(error)
    except BaseException as error:
        _report(error, all_frames)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _read(script: str) -> bytes:
    try:
        return Path(script).read_bytes()
    except IsADirectoryError:
        raise UsageError(f"{script} is a folder: name the script in it") from None
    except OSError as error:
        raise UsageError(f"{script} cannot be read: {error.strerror}") from None


def _main_module(script: str) -> ModuleType:
    """A fresh ``__main__`` in the place of gradtool's own."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__file__ = script
    vars(main)["__builtins__"] = sys.modules["builtins"]
    return main


def _execute(code: CodeType, main: ModuleType) -> None:
    exec(code, vars(main))


def _exit_code(error: SystemExit) -> int:
    """Exit code for the argument of ``sys.exit``, as Python defines it."""
    if error.code is None or isinstance(error.code, int):
        return int(error.code or 0)
    print(error.code, file=sys.stderr)
    return 1


def _report(error: BaseException, all_frames: bool) -> None:
    """Show the exception as Python would, or by the script's own ``sys.excepthook``."""
    if not all_frames:
        _strip(error, set())
    sys.excepthook(type(error), error, error.__traceback__)
    if torch_alias.needs_real_torch(error):
        print(f"note: {torch_alias.COMPILED_EXTENSION}", file=sys.stderr)


def _strip(error: BaseException | None, seen: set[int]) -> None:
    """Remove gradtool's own frames from an exception and from its causes."""
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    error.__traceback__ = _user_frames(error.__traceback__)
    _strip(error.__cause__, seen)
    _strip(error.__context__, seen)


def _user_frames(frames: TracebackType | None) -> TracebackType | None:
    kept = []
    while frames is not None:
        if not frames.tb_frame.f_code.co_filename.startswith(OWN_CODE):
            kept.append(frames)
        frames = frames.tb_next
    result = None
    for frame in reversed(kept):
        result = TracebackType(result, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return result
