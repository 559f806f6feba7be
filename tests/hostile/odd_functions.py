"""Functions with a wrong gradient that are odd in themselves: their class, their arguments, both.

Each is an error of its own, and ends the run for no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

from tests.hostile.modules import HEAD

_METHODS = """
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x * x
"""
_WRONG = f"{HEAD}\nclass Cube(Function):{_METHODS}"

_MADE = """
def forward(ctx, x):
    ctx.save_for_backward(x)
    return x * x * x


def backward(ctx, grad_output):
    (x,) = ctx.saved_tensors
    return grad_output * 2 * x * x


methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
"""

_HIDDEN = {
    "by_type": f"{HEAD}{_MADE}\nCube = type('Cube', (Function,), methods)\n",
    "by_its_metaclass": f"{HEAD}{_MADE}\nCube = type(Function)('Cube', (Function,), methods)\n",
    "by_new_class": f"{HEAD}{_MADE}\n"
    "Cube = types.new_class('Cube', (Function,), {}, lambda names: names.update(methods))\n",
    "by_exec": f"{HEAD}\nexec({f'class Cube(Function):{_METHODS}'!r})\n",
    "in_a_table": f"{_WRONG}\nALL = {{'cube': Cube}}\ndel Cube\n",
    "in_another_module": f"{_WRONG}\nCube.__module__ = 'torch.autograd'\n",
    "in_no_module": f"{_WRONG}\nCube.__module__ = None\n",
    "under_another_name": f"{_WRONG}\nCube.__qualname__ = 'Other.<locals>.Cube'\n",
    "with_an_open_method": f"{_WRONG}\n    @staticmethod\n    def export(x):\n"
    "        raise NotImplementedError\n",
    "with_open_samples": f"{_WRONG}\n    @staticmethod\n    def sample_inputs():\n"
    "        raise NotImplementedError\n",
    "with_an_abstract_method": f"{_WRONG}\n    def extra(x): pass\n"
    "    extra.__isabstractmethod__ = True\n",
}

_OF_METACLASSES = {
    "is_everything": "def __eq__(cls, other): return True",
    "is_like_nothing": "def __eq__(cls, other): return False\n__hash__ = type.__hash__",
    "has_no_truth": "def __bool__(cls): raise RuntimeError",
    "has_no_name": "__name__ = property(lambda cls: 1 / 0)",
    "has_every_instance": "def __instancecheck__(cls, other): return True",
    "has_no_text": "def __repr__(cls): raise SystemExit(0)",
    "ends_the_process": "def __getattribute__(cls, name): raise SystemExit(0)",
    "refuses_the_run": "def __bool__(cls):\n"
    "    from gradtool.errors import UsageError\n    raise UsageError('over')",
}

_OF_TENSORS = {
    "has_no_extent": "shape = property(lambda self: (0,))\ndef numel(self): return 0",
    "requires_nothing": "requires_grad = property(lambda self: False)",
    "differs_by_nothing": "def __sub__(self, other): return self * 0",
    "gives_numbers": "@classmethod\n"
    "def __torch_function__(cls, function, types, args=(), kwargs=None): return 5",
}

_EXCEPTIONS = {
    "text_ends_the_process": "type('E', (BaseException,), {'__str__': lambda self: os._exit(0)})",
    "text_raises_itself": "type('E', (BaseException,), {'__str__': lambda self: self.throw()})",
    "usage_error": "__import__('gradtool.errors').errors.UsageError('over')",
    "group": "BaseExceptionGroup('x', [SystemExit(0)])",
    "stop": "StopIteration",
    "interrupt": "KeyboardInterrupt",
}

_ARGUMENTS = {
    "huge_number": "10**10000",
    "text_that_raises": "type('R', (), {'__repr__': lambda self: 1 / 0})()",
    "part_of_a_character": "'\\udc80'",
    "endless": "iter(int, 1)",
}

_SAMPLES = """
    @staticmethod
    def sample_inputs():
        from gradtool import Case
        x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        samples = [(x,)]
        {does}
        return samples
"""

_NAME = """
    @staticmethod
    def sample_inputs():
        from gradtool import Case
        class Name(str):
            __eq__ = lambda self, other: False
            __hash__ = str.__hash__
        x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        yield Case((x,), name=Name("a"))
        yield Case((2 * x,), name=Name("a"))
"""


_COTANGENTS = {
    "of_ones": "(grad_output == 1).all()",
    "with_zeros": "(grad_output == 0).any()",
    "of_one_sign": "(grad_output > 0).all()",
    "that_are_small": "grad_output.abs().max() < 1e-3",
    "laid_out_oddly": "not grad_output.is_contiguous()",
}
"""Cotangents for which backward is wrong, and right for all others."""

_CALLS = {"first": "{1}", "first_two": "{1, 2}", "third": "{3}"}
"""Calls of backward that are wrong, of which all others are right."""

_MAKING = {
    "replace_backward": "Cube.backward = staticmethod(lambda ctx, g: g * 3 * x * x)",
    "replace_its_code": "Cube.backward.__code__ = (lambda ctx, grad_output: grad_output).__code__",
    "replace_apply": "Cube.apply = lambda x: x * x * x",
    "tolerate_a_third": "samples = [Case((x,), rtol=0.6)]",
    "tolerate_everything": "samples = [Case((x,), atol=1e9)]",
    "vanish": "samples = [((x.detach() * 1e-300).requires_grad_(),)]",
}
"""What `sample_inputs` does before it gives its samples."""


def _sampled(value: str, more: str = "") -> str:
    """A method that gives one case: a tensor made by an expression, and further arguments."""
    return (
        "\n    @staticmethod\n    def sample_inputs():\n"
        f"        x = torch.ones(2, dtype=torch.float64, requires_grad=True)\n"
        f"        yield ({value}, {more})\n"
    )


def _modules() -> Iterator[tuple[str, str]]:
    for name, source in _HIDDEN.items():
        yield f"made_{name}", source
    for name, body in _OF_METACLASSES.items():
        meta = f"\nclass Meta(type(Function)):\n{indent(body, '    ')}\n\n"
        yield f"class_{name}", f"{HEAD}{meta}\nclass Cube(Function, metaclass=Meta):{_METHODS}"
    for name, body in _OF_TENSORS.items():
        odd = f"{HEAD}\nclass Odd(torch.Tensor):\n{indent(body, '    ')}\n\n"
        odd += f"\nclass Cube(Function):{_METHODS}"
        yield f"argument_{name}", odd + _sampled("x.as_subclass(Odd)")
        yield f"output_{name}", odd.replace("x * x * x", "(x * x * x).as_subclass(Odd)")
    for name, error in _EXCEPTIONS.items():
        yield f"forward_raises_{name}", _WRONG.replace("return x * x * x", f"raise {error}")
        yield f"backward_raises_{name}", _WRONG.replace("return grad", f"raise {error}\n#")
        yield f"import_raises_{name}", f"{_WRONG}\nraise {error}\n"
    for name, value in _ARGUMENTS.items():
        extra = _WRONG.replace("(ctx, x)", "(ctx, x, extra)").replace(
            "2 * x * x", "2 * x * x, None"
        )
        yield f"given_{name}", extra + _sampled("x", value)
    for name, wrong in _COTANGENTS.items():
        factor = f"grad_output * (2 if {wrong} else 3)"
        yield f"cotangents_{name}", _WRONG.replace("grad_output * 2", factor)
    for name, numbers in _CALLS.items():
        counted = _WRONG.replace("        (x,) =", "        Cube.count += 1\n        (x,) =")
        counted = counted.replace("* 2", f"* (2 if Cube.count in {numbers} else 3)")
        yield f"calls_{name}", counted + "    count = 0\n" + _sampled("x * 1.5")
    for name, does in _MAKING.items():
        yield f"samples_{name}", _WRONG + _SAMPLES.format(does=does)
    yield "named_alike", _WRONG + _NAME


ODD_FUNCTIONS = dict(_modules())
"""Their sources, by name."""
