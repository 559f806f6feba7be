"""Checks a Function: the derivative oracle, the comparison, the rules.

The entry point is `gradtool.verify.examine.examine`. Its only view of an engine is
`gradtool.verify.protocol.differentiable.Differentiable`.
"""
