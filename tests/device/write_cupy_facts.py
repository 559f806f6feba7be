"""Write down what CuPy offers: `cupy_facts.json`, to which calls are held where CuPy is not.

    python tests/device/write_cupy_facts.py      # where CuPy is installed; no GPU is needed

Signatures are written as `gradtool`'s tests read them (see `facts.py`): ``a, axis=, /, *, out=``
with an equals sign for a default.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

MODULES = ("", "fft", "linalg", "lib.stride_tricks")
"""Whose functions NumPy's hand CuPy's arrays on to."""

OTHERS = (
    "cuda.Event", "cuda.PinnedMemory", "cuda.PinnedMemoryPointer", "cuda.Stream",
    "cuda.alloc_pinned_memory", "cuda.get_current_stream", "cuda.get_elapsed_time",
    "cuda.runtime.deviceSynchronize", "cuda.runtime.driverGetVersion", "cuda.runtime.eventQuery",
    "cuda.runtime.getDevice", "cuda.runtime.getDeviceCount", "cuda.runtime.getDeviceProperties",
    "cuda.runtime.hostRegister", "cuda.runtime.hostUnregister", "cuda.runtime.memGetInfo",
    "cuda.runtime.memcpyAsync", "cuda.runtime.pointerGetAttributes",
    "cuda.runtime.runtimeGetVersion", "cuda.runtime.setDevice", "cuda.Stream.wait_event",
    "cuda.Stream.record", "cuda.Stream.synchronize", "cuda.Stream.use",
    "cuda.Event.record", "cuda.Event.synchronize",
    "get_default_memory_pool", "get_default_pinned_memory_pool",
    "cuda.runtime.deviceGetPCIBusId", "cuda.runtime.freeHost", "cuda.runtime.hostAlloc",
    "cuda.runtime.memcpy",
    "cuda.Stream.launch_host_func", "cuda.MemoryPointer.copy_from_host_async",
)  # fmt: skip
"""What the device package calls, by its name in the package."""


def main() -> None:
    import cupy

    path = Path(__file__).with_name("cupy_facts.json")
    path.write_text(json.dumps(facts_of(cupy), indent=1, sort_keys=True) + "\n")


def facts_of(cupy: Any) -> dict[str, Any]:
    """Everything that the tests need to know of an installed CuPy."""
    from cupyx.scipy import special

    functions: dict[str, str] = {}
    ufuncs: dict[str, Any] = {}
    for prefix in MODULES:
        collect(prefix, look_up(cupy, prefix), functions, ufuncs)
    for name in OTHERS:
        functions[name] = signature_of(look_up(cupy, name))
    collect("cupyx.scipy.special", special, functions, ufuncs)
    import cupyx

    functions["cupyx.empty_pinned"] = signature_of(cupyx.empty_pinned)
    return {
        "version": cupy.__version__,
        "functions": functions,
        "ufuncs": ufuncs,
        "ufunc_methods": {
            name: signature_of(getattr(cupy.add, name)) for name in ("at", "reduce", "accumulate")
        },
        "array": array_attributes(cupy),
    }


def collect(prefix: str, module: ModuleType, functions: Any, ufuncs: Any) -> None:
    """Sort the callables of a module into functions and ufuncs."""
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or isinstance(value, type | ModuleType) or not callable(value):
            continue
        path = f"{prefix}.{name}" if prefix else name
        if hasattr(value, "types"):
            ufuncs[path] = {
                "signature": signature_of(value) or ufunc_signature(value),
                "types": list(value.types),
                "at": bool(value._scatter_op),
            }
        elif text := signature_of(value):
            functions[path] = text


def ufunc_signature(ufunc: Any) -> str:
    """Signature of a ufunc: as many arrays as its loops take, and the usual options."""
    inputs = [f"x{number + 1}" for number in range(ufunc.nin)]
    return ", ".join([*inputs, "/", "out=", "*", "casting=", "dtype="])


def array_attributes(cupy: Any) -> dict[str, str | None]:
    """Attributes of arrays: signatures of methods, None for what is no method."""
    found = {}
    for name in dir(cupy.ndarray):
        if not name.startswith("_"):
            value = getattr(cupy.ndarray, name)
            found[name] = signature_of(value, method=True) if callable(value) else None
    return found


def look_up(module: Any, path: str) -> Any:
    """The object at a dotted path."""
    for name in filter(None, path.split(".")):
        module = getattr(module, name)
    return module


def signature_of(value: Any, *, method: bool = False) -> str:
    """The parameters of a callable; "" where neither it nor its docstring states them."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (ValueError, TypeError):
        return from_docstring(value.__doc__ or "")
    words = []
    for before, parameter in zip([None, *parameters], parameters, strict=False):
        words += marks_between(before, parameter)
        words.append(word_for(parameter))
    if parameters and parameters[-1].kind is inspect.Parameter.POSITIONAL_ONLY:
        words.append("/")
    return ", ".join(words[1:] if method and words[:1] == ["self"] else words)


def marks_between(before: inspect.Parameter | None, parameter: inspect.Parameter) -> list[str]:
    marks = []
    if before is not None and before.kind is before.POSITIONAL_ONLY != parameter.kind:
        marks.append("/")
    starred = before is not None and before.kind in (before.VAR_POSITIONAL, before.KEYWORD_ONLY)
    if parameter.kind is parameter.KEYWORD_ONLY and not starred:
        marks.append("*")
    return marks


def word_for(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    return stars + parameter.name + ("=" if parameter.default is not parameter.empty else "")


def from_docstring(text: str) -> str:
    """The parameters that the first line of a compiled function's docstring states."""
    stated = re.match(r"[\w.]+\((.*)\)", text.partition("\n")[0])
    if stated is None:
        return ""
    words = []
    text = stated[1].replace("[, out1, out2]", "").replace(" [, out=(None, None)]", ", out=None")
    for part in text.replace("\\*", "*").split(","):
        name, equals, _ = part.strip().partition("=")
        words.append(name.split(" ")[-1] + equals)  # of "int axis" the name alone
    return ", ".join(word for word in words if word not in ("self", ""))


if __name__ == "__main__":
    main()
