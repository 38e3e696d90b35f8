// Macros that mark functions: callable on both sides; kept out of line on GPUs.
#pragma once

#if defined(__CUDACC__)
#define SHOAL_FN __host__ __device__
#define SHOAL_OUT_OF_LINE __noinline__
#else
#define SHOAL_FN
#define SHOAL_OUT_OF_LINE
#endif
