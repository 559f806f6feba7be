"""The procedure of PyTorch's gradcheck on the bundled engine: fixed step, fixed tolerances.

Called through `gradtool.engine.autograd.gradcheck`, which documents the options, and where this
differs from PyTorch and why.
"""
