"""Values of the configuration given by the environment: below options, above files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradtool.config.environment import VARIABLES, as_pair, of_environment
from gradtool.config.files import Configs
from gradtool.config.options import CheckOptions
from gradtool.config.schema import Defaults, FunctionConfig
from gradtool.config.settings import settings_for
from gradtool.errors import UsageError
from tests.conftest import Write
from tests.options import check_options


def of(*variables: str, pairs: tuple[str, ...] = (), seed: int | None = None) -> CheckOptions:
    return check_options(paths=("ops.py",), variables=variables, overrides=pairs, seed=seed)


def check(options: CheckOptions) -> Defaults:
    return Configs(options.config).nearest(Path("ops.py")).check


def test_each_key_has_a_variable_and_no_other_is_looked_at() -> None:
    assert VARIABLES["GRADTOOL_MEMORY_LIMIT"] == "memory_limit"
    assert set(VARIABLES.values()) == set(Defaults.__struct_fields__)
    given = {"GRADTOOL_SEED": "3", "GRADTOOL_ATOL": "", "GRADTOOL_OTHER": "1", "SEED": "4"}
    assert of_environment(given) == ("GRADTOOL_SEED=3",)


@pytest.mark.parametrize("name", ["GRADTOOL_TIMOUT", "GRADTOOL_TIMEOUTS", "GRADTOOL_timeout"])
def test_a_misspelt_name_is_refused(name: str) -> None:
    expected = f"{name} is not a variable that gradtool reads (did you mean 'GRADTOOL_TIMEOUT'?)"
    with pytest.raises(UsageError, match=re.escape(expected)):
        of_environment({"GRADTOOL_SEED": "3", name: "1"})


def test_an_option_overrides_a_pair_a_pair_a_variable_and_a_variable_the_file(
    write: Write,
) -> None:
    write({"gradtool.yaml": "version: 1\ncheck: {seed: 1, atol: 1, rtol: 1, exclude: [old]}\n"})
    options = of("GRADTOOL_SEED=2", "GRADTOOL_ATOL=2", pairs=("check.seed=3",), seed=4)
    found = check(options)
    assert (found.seed, found.atol, found.rtol, found.exclude) == (3, 2, 1, ("old",))
    assert settings_for(options, found, FunctionConfig()).seed == 4


def test_values_are_written_as_in_the_file(write: Write) -> None:
    write({})
    found = check(of("GRADTOOL_SELECT=[GT1, GT2]", "GRADTOOL_STRICT=true", "GRADTOOL_TIMEOUT=null"))
    assert (found.select, found.strict, found.timeout) == (("GT1", "GT2"), True, None)


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("GRADTOOL_TIMEOUT=soon", "check.timeout must be a number above 0, got 'soon'"),
        ("GRADTOOL_SELECT=GT1", "check.select must be a list, got 'GT1'"),
        ("GRADTOOL_DEVICE=gpu", "check.device must be cpu, cuda or cuda:N, got 'gpu'"),
        ("GRADTOOL_ATOL=[", "not valid YAML: "),
        ("GRADTOOL_ATOL= ", "the value is missing; null restores the default"),
    ],
)
def test_a_mistake_is_reported_with_the_variable(write: Write, variable: str, message: str) -> None:
    write({})
    with pytest.raises(UsageError) as error:
        Configs(of(variable).config)
    assert str(error.value).startswith(f"{variable}: {message}")


def test_reports_name_it_and_a_replay_says_it_by_an_option(write: Write) -> None:
    write({"gradtool.yaml": "version: 1\n"})
    found = Configs(of("GRADTOOL_ATOL=1e-3").config)
    found.nearest(Path("ops.py"))
    assert found.read() == ("gradtool.yaml", "GRADTOOL_ATOL=1e-3")
    assert as_pair("GRADTOOL_ATOL=1e-3") == "check.atol=1e-3"
    settings = settings_for(of("GRADTOOL_ATOL=1e-3"), Defaults(), FunctionConfig())
    assert settings.flags == ("--config check.atol=1e-3",)
