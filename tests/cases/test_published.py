"""Functions as published packages have them reach a verdict without a configuration."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from gradtool.report.verdicts import STOPPING, standing
from gradtool.results.report import FunctionResult, Verdict
from gradtool.run.runner import check
from tests.options import check_options

FOLDER = Path(__file__).parent / "published"

RIGHT = {
    "words": ["NamedSum", "LaplaceKernel"],
    "bands": ["Reflect", "ReflectBack"],
    "guarded": [
        "PhaseRotation",
        "BeerLambert",
        "PoissonDeviance",
        "BagSum",
        "GumbelQuantile",
        "Damped",
        "OrdinalHinge",
        "EchoState",
        "HermitianForm",
    ],
    "groups": ["Reduced", "HaloReduced", "Gathered", "Exchanged"],
    "losses": ["NLLWithLabels", "MaskedHuber"],
    "attention": ["ScaledDotProduct", "Rotary", "MaskedSoftmax"],
    "indices": [
        "GroupingOperation",
        "SegmentSum",
        "TakeAlongLast",
        "LogProbabilityOf",
        "Shuffled",
        "Sorted",
        "PickedProducts",
        "WeightedNeighbours",
        "DividedNeighbours",
    ],
    "strings": ["PaddedDifference", "SumAlong", "Activation"],
    "quantisers": ["BoundedAffine", "Decay", "FixedPoint", "WindowOf"],
    "shapes": [
        "GatedBack",
        "BoxArea",
        "PointwiseConv",
        "Transition",
        "Interleave",
        "TuckerProduct",
        "Filtered",
        "LowRankUpdate",
        "FlatTable",
        "GroupedConvolution",
    ],
    "options": [
        "GatedUnit",
        "NormalCDF",
        "RateOverSteps",
        "PassedOn",
        "MomentUpdate",
        "KnotValues",
    ],
    "modules": ["Coupling", "GatherInto", "GatherRows"],
    "operators": [
        "Transformed",
        "Solved",
        "Projected",
        "Weighted",
        "QuaternionProduct",
        "NestedPlan",
        "ScaledByClass",
        "SummedOverLevels",
        "BlockProduct",
        "GroupedRows",
        "SyncedGradient",
        "Configured",
        "ProjectedFrom",
        "TrackedProduct",
        "CachedWeightLinear",
        "Located",
    ],
    "callers": ["Reversible", "TreeSum", "Combined", "Contracted", "Mapped", "Delayed", "Headroom"],
    "factories": ["Message", "Average"],
    "given": ["Blended", "Exchanged", "OfArrays", "WithGradient"],
    "asked": ["Windowed", "ScaledBy", "Amplitude", "Root", "RoundedTo", "Sampled", "PutRows"],
    "dtypes": ["DoublesPicked", "ConjugatePairs", "Between", "DividedAmong", "SquaredIn"],
    "iterations": ["CubeRoot", "LogOdds"],
    "positions": [
        "DifferenceAlong",
        "SwappedHalves",
        "Parabola",
        "AngleOf",
        "SummedOver",
        "DepthInBall",
    ],
    "solvers": ["Solution", "Pushed"],
    "sparse": ["SparseProduct", "DroppedEdges"],
    "stated": ["ScatterToRanks", "Differences", "PickedFrames", "SoftLookup", "PiecewiseLinear"],
}
WRONG = {
    "guarded": "ProjectedWithoutDepth",
    "losses": "NLLForgetsWeight",
    "attention": "RotaryNotTurnedBack",
    "indices": "GroupingAssigns",
    "strings": "PaddedDifferenceRolledTwice",
    "quantisers": "BoundedAffineForgetsScale",
    "shapes": "BoxAreaSignLost",
    "options": "GatedUnitForgetsValue",
    "callers": "ReversibleForgetsBlock",
}
WITHOUT_VERDICT = {
    "losses::StackedList": "no output depends on a tensor that requires a gradient",
    "quantisers::MaskedCheckpoint": "no output depends on x",
    "shapes::OnlySymmetric": "it refuses small changes to a",
}


AT_ONE_SHAPE = [
    "options::DivisibleBlocks",
    "options::GatedInBlocks",
    "shapes::GroupedProduct",
    "operators::FrozenProduct",
    "operators::OffloadedCall",
    "operators::SolvedBySolver",
    "operators::AppliedMatrix",
    "operators::OverSlices",
    "operators::SolvedByConjugateGradients",
    "guarded::CategoricalKL",
    "shapes::SmoothedRows",
    "guarded::MatrixRoot",
    "guarded::Resolvent",
    "guarded::SpectralMap",
    "strings::Schemes",
    "guarded::Trapezoid",
    "guarded::RotateByUnitQuaternion",
    "guarded::CayleyTransform",
    "guarded::PinholeProject",
    "guarded::IsingEnergy",
    "guarded::Reorder",
    "positions::Occupied",
    "positions::Accepted",
    "asked::SparseSolve",
    "asked::SumOfFrames",
    "asked::PseudoInverse",
    "sparse::SparseVectorProduct",
    "shown::Settled",
]
"""Right ones for which one case is found, or two of the same shapes."""


@cache
def checked(file: str) -> dict[str, FunctionResult]:
    options = check_options(
        paths=(str(FOLDER / f"{file}.py"),), isolation=False, explore="off", select=("GT0", "GT1")
    )
    return {function.name: function for _, function in check(options).functions()}


def failed(function: FunctionResult) -> set[str]:
    checks = [*function.checks, *(check for case in function.cases for check in case.checks)]
    return {check.rule for check in checks if standing(check, strict=True) in STOPPING}


def test_spikes_get_a_threshold_and_a_slope() -> None:
    for case in checked("spikes")["Spikes"].cases:
        assert [each.split(": ")[1] for each in case.arguments[1:]] == [
            "0.75",
            "a bell-shaped function",
        ]
        assert {check.rule for check in case.checks if check.findings} == {"GT120"}


def test_learned_clips_have_one_entry_and_flags_are_those_of_the_layer() -> None:
    for case in checked("clipped")["Counted"].cases:
        assert case.arguments[1:] == (
            "floor_at: float64[1]",
            "cut_at: float64[1]",
            "as_values: True",
        )
        assert {check.rule for check in case.checks if check.findings} == {"GT120"}


@pytest.mark.parametrize(("file", "name"), [(f, n) for f, names in RIGHT.items() for n in names])
def test_a_right_function_passes(file: str, name: str) -> None:
    function = checked(file)[name]
    assert failed(function) <= set()
    if function.cases[0].inferred_from:
        assert len({case.arguments for case in function.cases}) == len(function.cases) == 2
    assert all(case.compared for case in function.cases)


@pytest.mark.parametrize("node", AT_ONE_SHAPE)
def test_a_right_function_passes_at_the_only_shapes_that_are_found(node: str) -> None:
    file, name = node.split("::")
    function = checked(file)[name]
    assert failed(function) == set()
    assert function.cases
    assert all(case.compared for case in function.cases)


def test_a_dtype_is_no_tensor() -> None:
    function = checked("strings")["CastAndScale"]
    assert failed(function) == set()
    assert [case.arguments[1] for case in function.cases] == ["target: torch.float64"]


@pytest.mark.parametrize(("file", "name"), WRONG.items())
def test_a_wrong_function_fails_at_each_case(file: str, name: str) -> None:
    cases = checked(file)[name].cases
    assert cases
    for case in cases:
        assert {c.rule for c in case.checks if c.verdict is Verdict.FAIL} >= {"GT101"}


GUESSED = [
    ("guarded", "EntropyOffByOne"),
    ("shapes", "Guessed"),
    ("modules", "CouplingSwapped"),
    ("operators", "TransformedNotBack"),
    ("dtypes", "CosineOfOrder"),
    ("guarded", "BroadenedEig"),
    ("losses", "EvidenceOfExperts"),
    ("rules", "Doubled"),
    ("indices", "SortedNotBack"),
]


@pytest.mark.parametrize(("file", "name"), GUESSED)
def test_what_is_wrong_at_guessed_arguments_is_in_doubt(file: str, name: str) -> None:
    function = checked(file)[name]
    assert failed(function) == {"GT101"}
    assert all(case.verdict is Verdict.UNVERIFIED for case in function.cases)


def test_an_object_is_asked_for_where_only_backward_uses_it() -> None:
    (problem,) = checked("positions")["Balanced"].checks
    assert problem.rule == "GT002"
    made = "pullback=lambda x, *_, **__: x, solve=lambda x, *_, **__: x"
    assert f"problem = SimpleNamespace({made})" in str(problem.findings[0].hint)


def test_a_default_that_hides_the_gradient_is_replaced() -> None:
    (first, *_) = checked("asked")["Spikes"].cases
    assert "dt: 0.75" in first.arguments
    assert {c.rule for c in first.checks if standing(c, strict=True) in STOPPING} <= {"GT120"}


def test_a_number_of_gradients_that_follows_from_the_arguments_is_in_doubt() -> None:
    function = checked("given")["WithGradients"]
    assert "GT102" in failed(function)
    assert all(case.verdict is Verdict.UNVERIFIED for case in function.cases)


def test_what_is_rounded_within_bounds_is_a_straight_through_estimator() -> None:
    function = checked("given")["RoundedWithin"]
    assert failed(function) == {"GT120"}
    # No function of an engine, which the other one would refuse.
    assert function.cases[0].arguments[-1] == "round_func: a function that rounds"


def test_a_number_of_gradients_that_no_arguments_change_is_reported() -> None:
    assert "GT102" in failed(checked("asked")["CountsAsOne"])


def test_whether_a_list_of_tensors_should_get_gradients_is_in_doubt() -> None:
    function = checked("dtypes")["FirstOf"]
    assert failed(function) == {"GT121"}
    assert all(case.verdict is Verdict.UNVERIFIED for case in function.cases)


def test_what_is_annotated_as_one_tensor_is_no_list() -> None:
    function = checked("dtypes")["QuantisedGradient"]
    assert failed(function) <= {"GT002", "GT004"}
    assert not any("[0]" in each for case in function.cases for each in case.arguments)


def test_a_method_that_pytorch_has_removed_is_a_mistake() -> None:
    assert failed(checked("given")["SolvedAsOfOld"]) == {"GT003"}


def test_arguments_without_any_gradient_show_nothing() -> None:
    (problem,) = checked("operators")["Deferred"].checks
    assert problem.rule == "GT002"
    assert "backward returns no gradient" in problem.findings[0].message


@pytest.mark.parametrize(("node", "why"), WITHOUT_VERDICT.items())
def test_a_function_whose_arguments_may_not_be_meant_says_why(node: str, why: str) -> None:
    file, name = node.split("::")
    function = checked(file)[name]
    (problem,) = function.checks
    assert problem.rule == "GT002"
    assert why in problem.findings[0].message
    assert "add a case in gradtool.yaml" in str(problem.findings[0].hint)
