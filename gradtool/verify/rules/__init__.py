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
    gt502_dirty_not_returned,
    gt507_backward_and_vjp,
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
    "GT502": gt502_dirty_not_returned.RULE,
    "GT507": gt507_backward_and_vjp.RULE,
    "GT602": gt602_not_differentiable_here.RULE,
    "GT603": gt603_not_verified.RULE,
}
"""All rules by code."""
