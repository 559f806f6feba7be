"""Every mistake in a configuration is one line that names the file, the line and the key."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradtool.config.files import find_config, load_config
from gradtool.config.yaml import parse_document
from gradtool.errors import UsageError


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "gradtool.yaml"
    path.write_text(text, encoding="utf-8")
    return path


RIGHT = """\
version: 1
check:
  seed: 7
  exclude: [wrong, "build/*"]
  rtol: 1e-5
  strict: true
  select: [GT1, GT201]
functions:
  Linear:
    cases:
      - name: with-bias
        args:
          - {shape: [20, 20]}
          - {shape: [30, 20], low: -1, high: 1}
          - {shape: [], dtype: float32, requires_grad: false}
        kwargs: {alpha: 0.5, mode: no, shape: {literal: {shape: [2]}}}
        atol: 1E-4
      - args: [{values: [[1.0, 2.0], [3.0, 4.0]]}, [{shape: [2]}, 3], null, yes, 010, 0x10]
    ignore: {GT2: "never differentiated twice"}
  "ops.py::Linear":
    atol: 0.5
  Exp:
"""


def test_everything_of_the_format_is_read(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, RIGHT))
    assert config.check.seed == 7
    assert config.check.rtol == 1e-5
    assert config.check.exclude == ("wrong", "build/*")
    first, second = config.functions["Linear"].cases
    assert first.name == "with-bias"
    assert first.atol == 1e-4
    assert first.args[1] == {"shape": [30, 20], "low": -1, "high": 1}
    assert first.kwargs == {"alpha": 0.5, "mode": "no", "shape": {"literal": {"shape": [2]}}}
    assert second.args[1:] == ([{"shape": [2]}, 3], None, "yes", 10, 16)
    assert config.functions["Exp"].cases == ()


def test_a_mapping_with_keys_of_its_own_is_passed_as_it_is(tmp_path: Path) -> None:
    given = "[{scale: 2, low: 1}, {literal: {shpe: 3}}]"
    text = f"version: 1\nfunctions: {{F: {{cases: [{{args: {given}}}]}}}}\n"
    (case,) = load_config(write(tmp_path, text)).functions["F"].cases
    assert case.args == ({"scale": 2, "low": 1}, {"literal": {"shpe": 3}})


def test_the_longest_key_speaks_of_a_function(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, RIGHT))
    assert config.function(tmp_path / "ops.py", "Linear").atol == 0.5
    assert config.function(tmp_path / "other.py", "Linear").atol is None
    assert config.function(tmp_path / "ops.py", "Conv").cases == ()


V = "version: 1\n"
LINEAR = V + "functions:\n  Linear:\n"
CASE = LINEAR + "    cases:\n      - args:\n"

BROKEN = {
    "empty": ("", "1: the file is empty: its first line should be 'version: 1'"),
    "only a comment": (
        "# nothing\n",
        "1: the file is empty: its first line should be 'version: 1'",
    ),
    "a list": ("- 1\n", "1: the file must be a mapping, got a list"),
    "no version": (
        "check: {seed: 1}\n",
        "1: 'version' is missing: begin the file with 'version: 1'",
    ),
    "another version": (
        "version: 2\n",
        "1: version 2 is unknown: this gradtool reads version 1",
    ),
    "version as text": (
        'version: "1"\n',
        "1: version '1' is unknown: this gradtool reads version 1",
    ),
    "unknown section": (V + "chek:\n  seed: 1\n", "2: unknown key 'chek' (did you mean 'check'?)"),
    "unknown key": (
        LINEAR + "    atoll: 1.0\n",
        "4: unknown key 'atoll' in functions.Linear (did you mean 'atol'?)",
    ),
    "unknown key without a neighbour": (
        LINEAR + "    zzz: 1.0\n",
        "4: unknown key 'zzz' in functions.Linear "
        "(known: cases, module, atol, rtol, reason, expires, surrogate, surrogate_of, ignore)",
    ),
    "unknown key in a quoted name": (
        V + 'functions:\n  "ops.py::F":\n    rtoll: 1\n',
        "4: unknown key 'rtoll' in functions['ops.py::F'] (did you mean 'rtol'?)",
    ),
    "duplicate key": (
        LINEAR + "    atol: 1\n    rtol: 1\n    atol: 2\n",
        "6: key 'atol' appears twice (first on line 4): remove one of them",
    ),
    "duplicate Function": (
        LINEAR + "    atol: 1\n  Linear:\n    atol: 2\n",
        "5: key 'Linear' appears twice (first on line 3): move its entries to line 3",
    ),
    "text for a number": (
        V + "check:\n  seed: abc\n",
        "3: check.seed must be a whole number not less than 0, got 'abc'",
    ),
    "negative seed": (
        V + "check: {seed: -1}\n",
        "2: check.seed must be a whole number not less than 0, got -1",
    ),
    "true for a number": (
        V + "check:\n  seed: true\n",
        "3: check.seed must be a whole number not less than 0, got true",
    ),
    "negative tolerance": (
        V + "check:\n  atol: -1e-5\n",
        "3: check.atol must be a number not less than 0, got -1e-05",
    ),
    "infinite tolerance": (
        V + "check:\n  atol: .inf\n",
        "3: check.atol must be a number not less than 0, got inf",
    ),
    "timeout of zero": (
        V + "check:\n  timeout: 0\n",
        "3: check.timeout must be a number above 0, got 0",
    ),
    "yes for true": (
        V + "check:\n  strict: yes\n",
        "3: check.strict must be true or false, got 'yes'",
    ),
    "unknown dtype": (
        V + "check:\n  dtype: double\n",
        "3: check.dtype must be float32 or float64, got 'double'",
    ),
    "unknown device": (
        V + "check:\n  device: gpu\n",
        "3: check.device must be cpu, cuda or cuda:N, got 'gpu'",
    ),
    "text for a list": (V + "check:\n  select: GT1\n", "3: check.select must be a list, got 'GT1'"),
    "number in a list of text": (
        V + "check:\n  exclude:\n    - wrong\n    - 3\n",
        "5: check.exclude[1] must be a string, got 3",
    ),
    "unknown rule selected": (
        V + "check:\n  select: [GT1, X999]\n",
        "3: unknown rule 'X999' (gradtool explain lists them all) in check.select",
    ),
    "unknown rule ignored": (
        LINEAR + '    ignore:\n      gt101: "reason"\n',
        "5: unknown rule 'gt101' (did you mean 'GT101'?) in functions.Linear.ignore",
    ),
    "ignore without a reason": (
        LINEAR + '    ignore: {GT101: " "}\n',
        "4: functions.Linear.ignore.GT101 needs a reason: say why the rule does not apply",
    ),
    "ignore with nothing": (
        LINEAR + "    ignore:\n      GT101:\n",
        "5: functions.Linear.ignore.GT101 must be a string, but is empty",
    ),
    "ignore as a list": (
        LINEAR + "    ignore: [GT101]\n",
        "4: functions.Linear.ignore must be a mapping, got a list",
    ),
    "key of no Function": (
        V + "functions:\n  linear.txt::F: {}\n",
        "3: functions: key 'linear.txt::F' must be a name or 'file.py::name'",
    ),
    "number as a key": (V + "functions:\n  1: {}\n", "3: functions: key 1 must be a string"),
    "cases as a mapping": (
        LINEAR + "    cases:\n      args: []\n",
        "4: functions.Linear.cases must be a list, got a mapping",
    ),
    "unknown key of a case": (
        LINEAR + "    cases:\n      - arg: []\n",
        "5: unknown key 'arg' in functions.Linear.cases[0] (did you mean 'args'?)",
    ),
    "args as a mapping": (
        LINEAR + "    cases:\n      - args: {shape: [2]}\n",
        "5: functions.Linear.cases[0].args must be a list, got a mapping",
    ),
    "two cases of one name": (
        LINEAR + "    cases:\n      - {name: a}\n      - {name: a}\n",
        "6: case name 'a' appears twice in functions.Linear",
    ),
    "case name with a bracket": (
        LINEAR + "    cases:\n      - name: a[0]\n",
        "5: functions.Linear.cases[0].name: 'a[0]' must not contain '[', ']', ':' or a line break",
    ),
    "case without a name": (
        LINEAR + "    cases:\n      - name: ''\n",
        "5: functions.Linear.cases[0].name must not be empty: omit it to have the case numbered",
    ),
    "case name with a blank around it": (
        LINEAR + "    cases:\n      - name: ' a'\n",
        "5: functions.Linear.cases[0].name: ' a' must not begin or end with a space",
    ),
    "unknown key of a tensor": (
        CASE + "          - {shape: [2], lo: 1}\n",
        "6: unknown key 'lo' in functions.Linear.cases[0].args[0] (did you mean 'low'?); "
        "write {literal: ...} to pass a mapping as it is",
    ),
    "misspelt main key of a tensor": (
        CASE + "          - {shpe: [2]}\n",
        "6: unknown key 'shpe' in functions.Linear.cases[0].args[0] (did you mean 'shape'?); "
        "write {literal: ...} to pass a mapping as it is",
    ),
    "misspelt literal inside a mapping": (
        CASE + "          - {a: [{literl: 2}]}\n",
        "6: unknown key 'literl' in functions.Linear.cases[0].args[0].a[0] "
        "(did you mean 'literal'?); write {literal: ...} to pass a mapping as it is",
    ),
    "negative extent": (
        CASE + "          - shape: [2, -1]\n",
        "6: functions.Linear.cases[0].args[0].shape[1] must be a whole number not less than 0, "
        "got -1",
    ),
    "fractional extent": (
        CASE + "          - shape: [2.0]\n",
        "6: functions.Linear.cases[0].args[0].shape[0] must be a whole number not less than 0, "
        "got 2.0",
    ),
    "shape as a number": (
        CASE + "          - {shape: 3}\n",
        "6: functions.Linear.cases[0].args[0].shape must be a list, got 3",
    ),
    "shape and values": (
        CASE + "          - {shape: [1], values: [1.0]}\n",
        "6: functions.Linear.cases[0].args[0] has both 'shape' and 'values': remove one",
    ),
    "low alone": (
        CASE + "          - {shape: [2]}\n          - {shape: [2], low: 0}\n",
        "7: functions.Linear.cases[0].args[1] needs both 'low' and 'high', or neither",
    ),
    "low above high": (
        CASE + "          - {shape: [2], low: 2, high: 1}\n",
        "6: functions.Linear.cases[0].args[0]: 'low' (2) is above 'high' (1)",
    ),
    "gradient of integers": (
        CASE + "          - {shape: [2], dtype: int64, requires_grad: true}\n",
        "6: functions.Linear.cases[0].args[0]: 'requires_grad' needs a floating-point dtype,"
        " not int64",
    ),
    "fractional bound of integers": (
        CASE + "          - {shape: [2], dtype: int64, low: 0, high: 1.5}\n",
        "6: functions.Linear.cases[0].args[0] is int64, so 'low' and 'high' must be whole numbers",
    ),
    "bound beyond the dtype": (
        CASE + "          - {shape: [2], dtype: uint8, low: -1, high: 3}\n",
        "6: functions.Linear.cases[0].args[0]: 'low' and 'high' must lie within uint8",
    ),
    "bound beyond a floating dtype": (
        CASE + "          - {shape: [2], dtype: float32, low: 0, high: 1.0e+39}\n",
        "6: functions.Linear.cases[0].args[0]: 'low' and 'high' must lie within float32",
    ),
    "bounds too far apart": (
        CASE + "          - {shape: [2], low: -1.7e+308, high: 1.7e+308}\n",
        "6: functions.Linear.cases[0].args[0]: 'low' and 'high' are too far apart",
    ),
    "dtype nobody has": (
        CASE + "          - {shape: [2], dtype: float65}\n",
        "6: functions.Linear.cases[0].args[0].dtype must be bool, complex128, complex64, float16, "
        "float32, float64, int16, int32, int64, int8 or uint8, got 'float65' "
        "(did you mean 'float64'?)",
    ),
    "ragged values": (
        CASE + "          - {values: [[1, 2], [3]]}\n",
        "6: functions.Linear.cases[0].args[0]: 'values' must be a list of rows of equal length",
    ),
    "values that are text": (
        CASE + "          - {values: [a]}\n",
        "6: functions.Linear.cases[0].args[0]: 'values' must contain only numbers",
    ),
    "values that do not fit": (
        CASE + "          - {values: [1.5], dtype: int64}\n",
        "6: functions.Linear.cases[0].args[0]: 'values' do not fit int64",
    ),
    "values beyond a floating dtype": (
        CASE + "          - {values: [.nan, .inf, 65520], dtype: float16}\n",
        "6: functions.Linear.cases[0].args[0]: 'values' do not fit float16",
    ),
    "tensor deep in an argument": (
        CASE + "          - [1, {a: {shape: [x]}}]\n",
        "6: functions.Linear.cases[0].args[0][1].a.shape[0] must be a whole number not less than "
        "0, got 'x'",
    ),
    "literal in company": (
        CASE + "          - {literal: 1, other: 2}\n",
        "6: functions.Linear.cases[0].args[0]: 'literal' must be the only key of its mapping",
    ),
    "no YAML": (
        V + "check: {seed: 1\nfunctions: 2\n",
        "3: not valid YAML: while parsing a flow mapping, expected ',' or '}', but got ':'",
    ),
    "a tab": (
        V + "check:\n\tseed: 1\n",
        "3: not valid YAML: while scanning for the next token, "
        "found character '\\t' that cannot start any token",
    ),
    "an unknown alias": (
        V + "check: *nothing\n",
        "2: not valid YAML: found undefined alias 'nothing'",
    ),
    "a second document": (
        V + "---\nversion: 1\n",
        "2: not valid YAML: expected a single document in the stream, but found another document",
    ),
    "a Python object": (
        V + "check: !!python/object:os.system {}\n",
        "2: tag !!python/object:os.system is not supported",
    ),
    "a tag of one's own": (V + "check: {seed: !big 3}\n", "2: tag !big is not supported"),
    "a merge": (
        V + "check: &c {seed: 1}\nfunctions:\n  F:\n    <<: *c\n",
        "5: unknown key '<<' in functions.F "
        "(known: cases, module, atol, rtol, reason, expires, surrogate, surrogate_of, ignore)",
    ),
    "an alias in itself": (V + "functions: &f\n  A: *f\n", "2: an alias contains itself"),
    "a collection as a key": (
        V + "? [1, 2]\n: 3\n",
        "2: a key must be a single word, not a collection",
    ),
    "an endless number": (
        V + f"check: {{seed: {'9' * 5000}}}\n",
        f"2: {'9' * 40!r} is not a usable int",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_mistake_is_reported_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, message = BROKEN[name]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as refused:
        load_config(write(tmp_path, text))
    assert str(refused.value) == f"gradtool.yaml:{message}"


def test_aliases_that_grow_without_bound_are_refused(tmp_path: Path) -> None:
    levels = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    text = "\n".join(["version: 1", "a0: &a0 [1]", *levels])
    with pytest.raises(UsageError, match="more than 100000 values"):
        load_config(write(tmp_path, text))


def test_endless_nesting_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gradtool\.yaml is nested too deeply"):
        load_config(write(tmp_path, "version: " + "[" * 5000))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gradtool.yaml"
    path.write_bytes(b"version: 1\n# \xff\xfe\n")
    with pytest.raises(UsageError, match=r"gradtool\.yaml is not UTF-8 text"):
        load_config(path)


def test_a_control_character_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        load_config(write(tmp_path, "version: 1\ncheck: \x00\n"))
    assert "\n" not in str(refused.value)
    assert "is not valid YAML" in str(refused.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.yaml cannot be read: No such file"):
        load_config(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5),
        ("1E5", 1e5),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("+3", 3),
        ("0o17", 15),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2020-01-01", "2020-01-01"),
        ("on", "on"),
        ("~", None),
        ("True", True),
        (".inf", float("inf")),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("!!float 1", 1.0),
    ],
)
def test_scalars_are_those_of_the_core_schema(text: str, value: object) -> None:
    read = parse_document(f"key: {text}", "f").value["key"]
    assert read == value
    assert type(read) is type(value)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="version: 1\n{}[]-&*!\"'#|>check,seed\t~.e", max_size=60))
def test_any_text_is_a_configuration_or_a_usage_error(text: str) -> None:
    with contextlib.suppress(UsageError):
        parse_document(text, "f")


def test_the_nearest_file_above_a_module_is_found(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    top = write(tmp_path, V)
    assert find_config(inner) == top
    near = write(tmp_path / "a", V)
    assert find_config(inner) == near


def test_the_search_ends_at_the_root_of_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "pkg"
    inner.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    write(tmp_path, V)
    assert find_config(inner) is None
    assert find_config(tmp_path / "repo") is None
    here = write(tmp_path / "repo", V)
    assert find_config(inner) == here


def test_a_file_that_links_to_itself_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gradtool.yaml").symlink_to("gradtool.yaml")
    assert find_config(tmp_path) == tmp_path / "gradtool.yaml"
    with pytest.raises(UsageError, match=r"gradtool\.yaml cannot be read: Too many levels"):
        load_config("gradtool.yaml")
