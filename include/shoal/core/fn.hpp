// The one macro that marks a function as callable on both sides, and what the compiler is doing right now.
#pragma once

#if defined(__CUDACC__)
#define SHOAL_FN __host__ __device__
#else
#define SHOAL_FN
#endif
