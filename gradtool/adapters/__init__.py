"""One module for each engine that the checker can look into.

An adapter implements `gradtool.verify.protocol.differentiable.Differentiable` for the Functions
of its engine.
"""
