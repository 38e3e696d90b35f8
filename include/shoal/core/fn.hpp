// Macros that mark functions: SHOAL_FN for functions that host and GPU code can call, SHOAL_OUT_OF_LINE for functions that are not
// inlined on GPUs.
#pragma once

#if defined(__CUDACC__)
#define SHOAL_FN __host__ __device__
#define SHOAL_OUT_OF_LINE __noinline__
#else
#define SHOAL_FN
#define SHOAL_OUT_OF_LINE
#endif
