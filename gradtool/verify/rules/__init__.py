"""The rules: one file each, whose docstring is the page that ``gradtool explain`` prints.

To add one, write its file and name it here. Codes are never used twice.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

from gradtool.verify.rules._rule import Answer, Flaw, Rule, skipped

__all__ = ["RULES", "Answer", "Flaw", "Rule", "skipped"]


class _Rules(Mapping[str, Rule]):
    """Rules by code. Each is loaded when it is looked up: most of them need NumPy.

    So the process that only reports can name rules without loading what computes.
    """

    _homes = tuple(
        f"gradtool.verify.rules.{name}"
        for name in (
            "gt001_module_does_not_import",
            "gt002_no_case_found",
            "gt003_forward_raised",
            "gt004_backward_raised",
            "gt005_worker_crashed",
            "gt006_timed_out",
            "gt007_out_of_memory",
            "gt008_ended_the_process",
            "gt101_wrong_gradient",
            "gt102_wrong_number_of_gradients",
            "gt103_wrong_gradient_shape",
            "gt104_wrong_gradient_type",
            "gt105_unexpected_gradient",
            "gt106_missing_gradient",
            "gt107_not_linear",
            "gt108_undefined_cotangent",
            "gt109_wrong_for_some_inputs",
            "gt110_runs_differ",
            "gt111_calls_interfere",
            "gt112_wrong_for_a_layout",
            "gt113_breaks_when_empty",
            "gt114_gradient_not_finite",
            "gt115_wrongly_not_differentiable",
            "gt116_gradient_left_to_reduce",
            "gt117_wrong_for_a_dtype",
            "gt201_wrong_second_derivative",
            "gt202_double_backward_cut",
            "gt203_double_backward_raised",
            "gt204_wrong_third_derivative",
            "gt301_wrong_jvp",
            "gt302_jvp_and_vjp_not_adjoint",
            "gt303_jvp_cut",
            "gt401_wrong_vmap",
            "gt402_backward_not_batchable",
            "gt403_wrong_gradient_through_vmap",
            "gt501_input_mutated",
            "gt502_dirty_not_returned",
            "gt503_cotangent_mutated",
            "gt504_kept_tensor_mutated",
            "gt505_kept_on_ctx",
            "gt506_intermediate_saved",
            "gt507_backward_and_vjp",
            "gt508_random_forward",
            "gt509_hidden_alias",
            "gt510_leak",
            "gt511_needless_setting",
            "gt512_expired_tolerance",
            "gt601_backward_loses_precision",
            "gt602_not_differentiable_here",
            "gt603_not_verified",
            "gt604_line_not_executed",
            "gt701_devices_disagree",
            "gt702_engines_disagree",
        )
    )

    def __init__(self) -> None:
        self._by_code = {home.rpartition(".")[2][:5].upper(): home for home in self._homes}
        self._loaded: dict[str, Rule] = {}

    def __getitem__(self, code: str) -> Rule:
        if code not in self._loaded:
            self._loaded[code] = importlib.import_module(self._by_code[code]).RULE
        return self._loaded[code]

    def __contains__(self, code: object) -> bool:
        return code in self._by_code

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_code)

    def __len__(self) -> int:
        return len(self._by_code)


RULES: Mapping[str, Rule] = _Rules()
"""All rules by code."""
