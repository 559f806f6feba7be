"""A CUDA device as it is measured, and what can be told of its link and its clocks."""
