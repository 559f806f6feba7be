"""Devices and amounts of memory are read as people write them; what is missing is refused."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gradtool.config.resources import parse_size, require_device
from gradtool.errors import UsageError


def message(device: str) -> str:
    with pytest.raises(UsageError) as refused:
        require_device(device)
    return str(refused.value)


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stand-in for CuPy whose runtime says what a test wants."""
    module = ModuleType("cupy")
    runtime = SimpleNamespace(getDeviceCount=lambda: 1)
    compiler = SimpleNamespace(getVersion=lambda: (13, 0))
    module.cuda = SimpleNamespace(runtime=runtime, nvrtc=compiler)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", module)
    return runtime


def test_the_cpu_is_always_there() -> None:
    require_device("cpu")


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "CPU", "", "cuda:-1"])
def test_unknown_names_are_refused(device: str) -> None:
    assert message(device) == f"--device must be cpu, cuda or cuda:N, got {device!r}"


def test_without_cupy_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert message("cuda") == (
        "--device cuda cannot be used: CuPy is not installed: install "
        "gradtool[cuda12] or gradtool[cuda13], whichever your driver supports, or use device 'cpu'"
    )


@pytest.mark.usefixtures("cupy")
def test_without_its_compiler_cupy_computes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["cupy"].cuda, "nvrtc", None)
    assert message("cuda").startswith("--device cuda cannot be used: NVRTC, which compiles")


def test_without_a_driver_the_message_has_cupys_reason(cupy: Any) -> None:
    def no_driver() -> int:
        raise RuntimeError("cudaErrorInsufficientDriver: driver is insufficient\nmore")

    cupy.getDeviceCount = no_driver
    assert message("cuda") == (
        "--device cuda cannot be used: cudaErrorInsufficientDriver: driver is insufficient"
    )


def test_an_index_that_does_not_exist_is_refused(cupy: Any) -> None:
    assert message("cuda:3") == "--device cuda:3 does not exist; CUDA devices here: 1"


def test_no_device_at_all_is_refused(cupy: Any) -> None:
    cupy.getDeviceCount = lambda: 0
    assert message("cuda") == "--device cuda:0 does not exist; CUDA devices here: 0"


def test_a_device_that_is_there_will_do(cupy: Any) -> None:
    require_device("cuda")
    require_device("cuda:0")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512MiB", 2**29),
        ("4G", 2**32),
        ("1.5 gib", 3 * 2**29),
        ("1048576", 2**20),
        ("1048575TiB", (2**20 - 1) * 2**40),
        ("none", None),
    ],
)
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("much", "must be a size such as 512MiB or 4GiB, or none, got 'much'"),
        ("4", "must be 1MiB or more, got '4': is the unit missing?"),
        ("1048576TiB", "must be below 1048576TiB, or none, got '1048576TiB'"),
        ("9" * 400 + "GiB", "must be below 1048576TiB, or none, got '999"),
    ],
)
def test_slips(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="must be") as refused:
        parse_size(text)
    assert str(refused.value).startswith(message)
