"""The procedure of PyTorch's gradcheck on the bundled engine: fixed step, fixed tolerances.

`gradtool.engine.autograd.gradcheck` is the door to it. It says what the options mean, and where
this differs from PyTorch and why.
"""
