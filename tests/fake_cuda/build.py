"""Build the fake CUDA: ``python -m tests.fake_cuda.build FOLDER``, then ``PYTHONPATH=FOLDER``.

The folder gets a copy of CuPy's package ``cupy_backends`` with one extension module built anew:
``cupy_backends.cuda.api.runtime``, from CuPy's own source, linked with the C files of this folder
in place of NVIDIA's runtime. All of CuPy above it is the wheel as it is installed.

Needed are a C and a C++ compiler, ``cupy-cuda12x`` and ``cython`` of the versions below, and a
package index, from which CuPy's source and the headers of CUDA's runtime are downloaded.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

CUPY = "14.2.0"
CYTHON = ">=3.2,<3.3"
"""CuPy 14.2 is not compatible with later ones."""

REQUIREMENTS = (f"cupy-cuda12x=={CUPY}", f"cython{CYTHON}")
"""Packages that this script needs."""

_HEADERS = "nvidia-cuda-runtime-cu12==12.9.79"
_SOURCES = Path(__file__).parent / "runtime"
_MODULE = Path("cupy_backends/cuda/api/runtime")

_CYTHONIZE = """
import Cython
from Cython.Build import cythonize
from setuptools import Extension
cythonize(
    [Extension("cupy_backends.cuda.api.runtime", ["cupy_backends/cuda/api/runtime.pyx"],
               language="c++")],
    language_level=3, quiet=True,
    compiler_directives={"embedsignature": True, "binding": False, "c_api_binop_methods": True,
                         "freethreading_compatible": True, "warn.deprecated.IF": False},
    compile_time_env={"CUPY_USE_CUDA_PYTHON": False, "CUPY_CUFFT_STATIC": False,
                      "CUPY_HIP_VERSION": 0, "CUPY_CUDA_VERSION": 12090,
                      "CUPY_CYTHON_VERSION": Cython.__version__},
)
"""
"""The settings of CuPy's own build."""


def build(folder: Path) -> None:
    """Write the overlay.

    Raises:
        RuntimeError: A command failed; the text is its output.
    """
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        _fetch(work)
        _run([sys.executable, "-c", _CYTHONIZE], cwd=work)
        module = _compile(work)
        _install(module, folder)


def _fetch(work: Path) -> None:
    """Download CuPy's source and CUDA's headers, and unpack what is used of them."""
    download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(work)]
    # Asked for its requirements, CuPy's source looks for CUDA unless it is built without.
    stub = {**os.environ, "CUPY_INSTALL_USE_STUB": "1"}
    _run([*download, "--no-binary", "cupy", f"cupy=={CUPY}"], env=stub)
    _run([*download, _HEADERS])
    (source,) = work.glob("cupy-*.tar.gz")
    # Python has filters since 3.11.4.
    safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(source) as archive:
        archive.extractall(work, **safely)
    shutil.move(work / f"cupy-{CUPY}" / "cupy_backends", work)
    (headers,) = work.glob("nvidia_cuda_runtime*.whl")
    with zipfile.ZipFile(headers) as wheel:
        wheel.extractall(work)


def _compile(work: Path) -> Path:
    """Compile CuPy's module and the runtime, and link them."""
    includes = [
        f"-I{place}"
        for place in (
            _SOURCES, _SOURCES / "include", work / "nvidia/cuda_runtime/include",
            sysconfig.get_paths()["include"],
        )
    ]  # fmt: skip
    objects = work / "objects"
    objects.mkdir()
    runtime = sorted(map(str, _SOURCES.glob("*.c")))
    _run(["gcc", "-O2", "-fPIC", "-Wall", "-Wextra", *includes, "-c", *runtime], cwd=objects)
    cupy = work / _MODULE.with_suffix(".cpp")
    _run(["g++", "-O1", "-fPIC", "-w", *includes, "-c", str(cupy), "-o", "cupy.o"], cwd=objects)
    (objects / "missing.c").write_text(_missing(objects))
    _run(["gcc", "-fPIC", "-w", "-c", "missing.c"], cwd=objects)
    module = work / f"runtime{sysconfig.get_config_var('EXT_SUFFIX')}"
    linked = sorted(map(str, objects.glob("*.o")))
    _run(["g++", "-shared", "-o", str(module), *linked, "-lpthread"])
    return module


_NOT_SUPPORTED = 801


def _missing(objects: Path) -> str:
    """Definitions of the functions that CuPy calls and the fake lacks: they are not supported."""
    lacking = _symbols(objects / "cupy.o", "U") - {
        name for each in objects.glob("*.o") for name in _symbols(each, "T")
    }
    functions = sorted(name for name in lacking if name.startswith("cuda"))
    return "".join(f"int {name}(void) {{ return {_NOT_SUPPORTED}; }}\n" for name in functions)


def _symbols(path: Path, kind: str) -> set[str]:
    rows = (line.split() for line in _run(["nm", str(path)]).splitlines())
    return {row[-1] for row in rows if len(row) >= 2 and row[-2] == kind}


def _install(module: Path, folder: Path) -> None:
    # By the distribution: an earlier overlay may come first on the path.
    wheel = distribution("cupy-cuda12x")
    target = folder / "cupy_backends"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(Path(str(wheel.locate_file("cupy_backends"))), target)
    shutil.copy(module, folder / _MODULE.parent / module.name)


def _run(
    command: Sequence[str], *, cwd: Path | None = None, env: dict[str, str] | None = None
) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main(arguments: Sequence[str]) -> int:
    """Build into the folder that is named; return the exit status."""
    if len(arguments) != 1:
        print("usage: python -m tests.fake_cuda.build FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0]).resolve()
    try:
        build(folder)
    except PackageNotFoundError as error:
        print(f"{error}; pip install {' '.join(REQUIREMENTS)}", file=sys.stderr)
        return 1
    except (RuntimeError, OSError) as error:
        print(f"the fake CUDA was not built: {error}", file=sys.stderr)
        return 1
    print(f"PYTHONPATH={folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
