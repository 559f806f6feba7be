"""The rules: one file each, whose docstring is the page that ``gradtool explain`` prints.

To add one, write its file and name it here. Codes are never used twice.
"""

from __future__ import annotations

from gradtool.verify.rules import (
    gt001_module_does_not_import,
    gt002_no_case_found,
    gt003_forward_raised,
    gt004_backward_raised,
    gt101_wrong_gradient,
    gt102_wrong_number_of_gradients,
    gt103_wrong_gradient_shape,
    gt104_wrong_gradient_type,
    gt105_unexpected_gradient,
    gt106_missing_gradient,
    gt201_wrong_second_derivative,
    gt202_double_backward_cut,
    gt203_double_backward_raised,
    gt301_wrong_jvp,
    gt302_jvp_and_vjp_not_adjoint,
    gt401_wrong_vmap,
    gt402_backward_not_batchable,
    gt501_input_mutated,
    gt502_dirty_not_returned,
    gt503_cotangent_mutated,
    gt504_kept_tensor_mutated,
    gt505_kept_on_ctx,
    gt506_intermediate_saved,
    gt507_backward_and_vjp,
    gt508_random_forward,
    gt509_hidden_alias,
    gt510_leak,
    gt602_not_differentiable_here,
    gt603_not_verified,
)
from gradtool.verify.rules._rule import Answer, Flaw, Rule, skipped

__all__ = ["RULES", "Answer", "Flaw", "Rule", "skipped"]

RULES: dict[str, Rule] = {
    "GT001": gt001_module_does_not_import.RULE,
    "GT002": gt002_no_case_found.RULE,
    "GT003": gt003_forward_raised.RULE,
    "GT004": gt004_backward_raised.RULE,
    "GT101": gt101_wrong_gradient.RULE,
    "GT102": gt102_wrong_number_of_gradients.RULE,
    "GT103": gt103_wrong_gradient_shape.RULE,
    "GT104": gt104_wrong_gradient_type.RULE,
    "GT105": gt105_unexpected_gradient.RULE,
    "GT106": gt106_missing_gradient.RULE,
    "GT201": gt201_wrong_second_derivative.RULE,
    "GT202": gt202_double_backward_cut.RULE,
    "GT203": gt203_double_backward_raised.RULE,
    "GT301": gt301_wrong_jvp.RULE,
    "GT302": gt302_jvp_and_vjp_not_adjoint.RULE,
    "GT401": gt401_wrong_vmap.RULE,
    "GT402": gt402_backward_not_batchable.RULE,
    "GT501": gt501_input_mutated.RULE,
    "GT502": gt502_dirty_not_returned.RULE,
    "GT503": gt503_cotangent_mutated.RULE,
    "GT504": gt504_kept_tensor_mutated.RULE,
    "GT505": gt505_kept_on_ctx.RULE,
    "GT506": gt506_intermediate_saved.RULE,
    "GT507": gt507_backward_and_vjp.RULE,
    "GT508": gt508_random_forward.RULE,
    "GT509": gt509_hidden_alias.RULE,
    "GT510": gt510_leak.RULE,
    "GT602": gt602_not_differentiable_here.RULE,
    "GT603": gt603_not_verified.RULE,
}
"""All rules by code."""
