"""A CUDA device that is measured, with its link and its clocks."""
