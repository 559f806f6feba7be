"""Modules that leave what no code expects: each is named, and ends the run for no other."""

from __future__ import annotations

from tests.hostile.modules import HEAD, function

_RIGHT = HEAD + function(right=True)
_CLASS = "class A(int): pass\n"

ODD = {
    "wrapped_cycle": f"{_RIGHT}\nCube.forward.__wrapped__ = Cube.forward\n",
    "odd_file": f"{_RIGHT}\n__file__ = 5\n",
    "odd_spec": f"{_RIGHT}\n__spec__ = 5\n",
    "odd_import_error": f"{_CLASS}e = ImportError('x')\ne.name = 5\ne.path = object()\nraise e\n",
    "odd_not_found": f"{_CLASS}e = ModuleNotFoundError('x')\ne.name = ['a']\nraise e\n",
    "odd_syntax_error": f"{_CLASS}e = SyntaxError('x')\ne.filename = 5\ne.msg = None\nraise e\n",
    "nul_in_a_syntax_error": f"{_CLASS}raise SyntaxError('x', ('\\0', -3, 'a', None))\n",
    "no_text_codec": "# coding: rot13\npynff N(vag): cnff\n",
    "unknown_codec": f"# coding: klingon\n{_CLASS}",
    "nul": f"{_CLASS}\0\n",
    "too_deep": f"{_CLASS}x = {'(' * 5000}{')' * 5000}\n",
    "text_raises": f"{_CLASS}class E(Exception):\n    def __str__(self): raise self\nraise E\n",
    "text_is_no_text": f"{_CLASS}class E(Exception):\n    def __str__(self): return 5\nraise E\n",
    "raises_a_group": f"{_CLASS}raise BaseExceptionGroup('x', [KeyboardInterrupt()])\n",
    "replaces_its_namespace": f"""{_RIGHT}
class M(types.ModuleType):
    @property
    def __dict__(self):
        raise RuntimeError
sys.modules[__name__].__class__ = M
""",
}
"""Their sources, by name."""
