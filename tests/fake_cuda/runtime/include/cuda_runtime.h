/* The C API alone: the C++ interface of CUDA's own file needs nvcc. */
#pragma once
#include <cuda_runtime_api.h>
#include <driver_functions.h>
