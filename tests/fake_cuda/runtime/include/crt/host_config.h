/* CUDA's own file sets up a host compiler; the C API needs none of it. */
#include "host_defines.h"
