"""A CUDA runtime on host memory, under the real CuPy: the CUDA path runs where there is no GPU."""
