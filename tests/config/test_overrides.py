"""Values of the configuration given by options are read and refused like those of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtool.config.files import Config, Configs, config_without_file, load_config
from gradtool.config.options import ConfigOptions
from gradtool.config.overrides import parse_override, split_config
from gradtool.errors import UsageError
from tests.conftest import Write

FILE = """\
version: 1
check:
  timeout: 5
  exclude: [old]
functions:
  Square:
    atol: 1e-3
    cases:
      - args: [{shape: [2]}, 3]
  ops.py::Cube: {rtol: 1e-2}
"""


def having(*texts: str, file: str | None = FILE) -> Config:
    overrides = [parse_override(text) for text in texts]
    if file is None:
        return config_without_file(overrides)
    Path("gradtool.yaml").write_text(file)
    return load_config("gradtool.yaml", overrides)


def refused(*texts: str, file: str | None = FILE) -> str:
    with pytest.raises(UsageError) as error:
        having(*texts, file=file)
    return str(error.value)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_value_takes_the_place_of_the_file_s_and_leaves_the_others() -> None:
    config = having("check.timeout=7.5", "check.strict=true", "functions.Square.rtol=1e-5")
    assert (config.check.timeout, config.check.strict) == (7.5, True)
    assert config.check.exclude == ("old",)
    square = config.functions["Square"]
    assert (square.atol, square.rtol, len(square.cases)) == (1e-3, 1e-5, 1)
    assert config.functions["ops.py::Cube"].rtol == 1e-2


def test_keys_are_spelled_as_messages_spell_them() -> None:
    config = having(
        "functions['ops.py::Cube'].rtol=1e-4",
        "functions['new.py::F'].atol=2",
        'functions.Square.cases[0]["args"][1]=[4, {shape: [5]}]',
        "functions.Square.ignore.GT505=a table",
    )
    assert config.functions["ops.py::Cube"].rtol == 1e-4
    assert config.functions["new.py::F"].atol == 2
    assert config.functions["Square"].cases[0].args == ({"shape": [2]}, [4, {"shape": [5]}])
    assert config.functions["Square"].ignore == {"GT505": "a table"}


def test_without_a_file_they_are_all_there_is() -> None:
    config = having("check.exclude=[a, b]", "functions.F.atol=1", file=None)
    assert config.check.exclude == ("a", "b")
    assert config.functions["F"].atol == 1
    assert config.path is None
    assert config.folder == Path.cwd()


def test_the_last_of_a_key_counts_and_null_is_the_default() -> None:
    assert having("check.timeout=7", "check.timeout=8").check.timeout == 8
    assert having("check.timeout=null").check.timeout is None
    assert having("check={seed: 3}", "check.atol=1").check.timeout is None
    assert having("check={seed: 3}", "check.atol=1").check.seed == 3
    assert having("check.seed=3", file="version: 1\ncheck:\n").check.seed == 3


def test_origins_are_known() -> None:
    document = having("check.timeout=7", "functions.F.atol=1").document
    assert document.origin(("check", "timeout")) == "--config check.timeout=7"
    assert document.origin(("check", "exclude")) is None
    assert document.place(("check", "exclude")) == "gradtool.yaml:4"
    assert document.origin(("functions", "F")) == "--config functions.F.atol=1"
    assert document.origin(("functions", "Square")) is None
    whole = having("check={seed: 1}").document
    assert whole.origin(("check", "seed")) == "--config check={seed: 1}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("check.timout=5", "unknown key 'timout' in check (did you mean 'timeout'?)"),
        ("chek.timeout=5", "unknown key 'chek' (did you mean 'check'?)"),
        ("timeout=5", "unknown key 'timeout' (did you mean 'check.timeout'?)"),
        ("memorylimit=1GiB", "unknown key 'memorylimit' (did you mean 'check.memory_limit'?)"),
        ("colour=red", "unknown key 'colour' (known: version, check, functions)"),
        ("check.timeout=soon", "check.timeout must be a number above 0, got 'soon'"),
        ("check.timeout=0", "check.timeout must be a number above 0, got 0"),
        ("check.timeout.x=1", "check.timeout has no keys"),
        ("check.device=gpu", "check.device must be cpu, cuda or cuda:N, got 'gpu'"),
        ("check.select=GT1", "check.select must be a list, got 'GT1'"),
        (
            "check.select=[XY]",
            "unknown rule 'XY' (gradtool explain lists them all) in check.select",
        ),
        ("check=5", "check must be a mapping, got 5"),
        ("version=2", "version 2 is unknown: this gradtool reads version 1"),
        ("version=null", "'version' is missing: begin the file with 'version: 1'"),
        (
            "functions.Square.cases[0].args[0].lo=1",
            "unknown key 'lo' in functions.Square.cases[0].args[0] (did you mean 'low'?); "
            "write {literal: ...} to pass a mapping as it is",
        ),
        ("functions.Square.cases[1].atol=1", "functions.Square.cases[1] does not exist"),
        ("functions.Square.ignore.GT1=''", "functions.Square.ignore.GT1 needs a reason: say why "),
        ("check.exclude=[a", "not valid YAML: while parsing a flow sequence, "),
        ("check.seed=1e400", "check.seed must be a whole number not less than 0, got "),
        (
            "check={seed: 1, seed: 2}",
            "key 'seed' appears twice (first on line 1): remove one of them",
        ),
        ("check.seed=!!python/none x", "tag !!python/none is not supported"),
        ("check.seed=", "the value is missing; null restores the default"),
        ("=5", "this is neither a file nor a setting such as check.timeout=120 or "),
        (".check.seed=5", "this is neither a file nor a setting such as "),
        ("functions.ops.py::Cube.atol=5", "this is neither a file nor a setting such as "),
        ("conf/a b.yaml=", "this is neither a file nor a setting such as "),
    ],
)
def test_a_mistake_is_reported_with_the_option(text: str, message: str) -> None:
    assert refused(text).startswith(f"--config {text}: {message}")


@pytest.mark.parametrize("text", ["check.atol=-1", "functions.F.atoll=1"])
def test_the_same_holds_without_a_file(text: str) -> None:
    assert refused(text, file=None).startswith(f"--config {text}: ")


def test_a_mistake_of_the_file_stays_one_though_it_is_overridden() -> None:
    wrong = FILE.replace("timeout: 5", "timeout: soon")
    message = "gradtool.yaml:3: check.timeout must be a number above 0, got 'soon'"
    assert refused("check.timeout=5", file=wrong) == message


def test_files_and_pairs_are_distinguished() -> None:
    Path("a=b.yaml").write_text("version: 1\n")
    assert split_config(["x.yaml", "check.seed=1"]) == ("x.yaml", ("check.seed=1",))
    assert split_config(["a=b.yaml"]) == ("a=b.yaml", ())
    assert split_config([]) == (None, ())
    with pytest.raises(
        UsageError, match=r"--config was given two files, x.yaml and y.yaml: give only one"
    ):
        split_config(["x.yaml", "a.b=1", "y.yaml"])


def configs(*pairs: str, no_config: bool = False, config: str | None = None) -> Configs:
    return Configs(ConfigOptions(overrides=pairs, isolated=no_config, file=config))


def test_they_hold_for_every_module_and_files_are_read_as_always(write: Write) -> None:
    write({"a/gradtool.yaml": "version: 1\ncheck: {seed: 1, atol: 1}\n"})
    found = configs("check.seed=9")
    beside, elsewhere = found.nearest(Path("a/ops.py")), found.nearest(Path("b/ops.py"))
    assert (beside.check.seed, beside.check.atol) == (9, 1)
    assert (elsewhere.check.seed, elsewhere.check.atol) == (9, None)
    assert found.read() == ("a/gradtool.yaml", "--config check.seed=9")


def test_isolated_reads_no_file_not_even_a_broken_one(write: Write) -> None:
    write({"gradtool.yaml": "nonsense"})
    found = configs("check.seed=9", no_config=True)
    assert found.nearest(Path("ops.py")).check.seed == 9
    assert found.read() == ("no file (--isolated)", "--config check.seed=9")
    with pytest.raises(UsageError, match=r"--isolated ignores all files: omit --config x.yaml"):
        configs(no_config=True, config="x.yaml")


@given(st.text(max_size=30), st.text(max_size=20))
def test_any_text_is_taken_or_refused_in_one_line(key: str, value: str) -> None:
    for text in (f"{key}={value}", f"check.{key}={value}", f"check.timeout={value}"):
        assert len(trouble_with(text).splitlines()) <= 1, text


def trouble_with(text: str) -> str:
    try:
        config_without_file([parse_override(text)])
    except UsageError as error:
        return str(error)
    return ""
