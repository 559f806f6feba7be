"""Compilers and mixed precision leave a function as it is, bare or with arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.engine._placeholder import EngineLacksError


def f(x: int) -> int:
    return x


@pytest.mark.parametrize(
    "decorate",
    [
        torch.jit.script,
        torch.jit.export,
        torch.jit.unused,
        torch.jit.script_if_tracing,
        lambda fn: torch.jit.trace(fn, (3,)),
        torch.jit.ignore,
        lambda fn: torch.jit.ignore(drop=True)(fn),
        lambda fn: torch.jit.ignore()(fn),
        torch.compile,
        lambda fn: torch.compile(fullgraph=True, mode="max-autotune")(fn),
        torch.compiler.disable,
        lambda fn: torch.compiler.disable(recursive=False)(fn),
        torch.compiler.allow_in_graph,
        torch.compiler.assume_constant_result,
        lambda fn: torch.amp.custom_fwd(fn, device_type="cuda"),
        lambda fn: torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)(fn),
        lambda fn: torch.amp.custom_bwd(fn, device_type="cpu"),
        lambda fn: torch.amp.custom_bwd(device_type="cpu")(fn),
    ],
)
def test_decorated_function_is_the_function(decorate: Callable[[Any], Any]) -> None:
    assert decorate(f) is f


def test_nothing_is_ever_being_compiled_or_cast() -> None:
    assert not torch.jit.is_scripting()
    assert not torch.jit.is_tracing()
    assert not torch.compiler.is_compiling()
    assert not torch.compiler.is_dynamo_compiling()
    assert not torch.compiler.is_exporting()
    assert not torch.is_autocast_enabled()
    torch.compiler.reset()
    assert torch.jit.annotate(int, 3) == 3
    assert torch.jit.isinstance(3, int)


def test_device_type_of_custom_fwd_must_be_a_string() -> None:
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.amp.custom_fwd(f, device_type=3)
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.autocast(3)


def test_old_names_warn_and_leave_the_function_as_it_is() -> None:
    with pytest.warns(FutureWarning, match=r"`torch\.cuda\.amp\.custom_fwd\(args\.\.\.\)`"):
        assert torch.cuda.amp.custom_fwd(f) is f
    with pytest.warns(FutureWarning, match="custom_fwd"):
        assert torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)(f) is f
    with pytest.warns(FutureWarning, match="device_type='cuda'"):
        assert torch.cuda.amp.custom_bwd(f) is f


def test_autocast_that_is_off_does_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with torch.autocast("cuda", enabled=False) as entered:
            assert not torch.is_autocast_enabled()
    assert entered is not None
    assert torch.autocast("cpu", enabled=False)(f)(4) == 4
    with pytest.warns(FutureWarning, match="autocast"), torch.cuda.amp.autocast(enabled=False):
        pass


def test_autocast_for_a_device_that_is_not_there_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.warns(UserWarning, match="CUDA is not available. Disabling autocast"):
        torch.autocast("cuda", dtype=torch.float16)


def test_autocast_that_would_change_dtypes_is_refused() -> None:
    with pytest.raises(EngineLacksError, match=r"no torch\.amp\.autocast"):
        torch.autocast("cpu")


def test_without_cupy_there_is_no_cuda_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    assert torch.cuda.device_count() == 0
    assert not torch.cuda.is_available()
