// Macros that mark functions: SHOAL_FN for functions that host and GPU code can call, SHOAL_OUT_OF_LINE for functions that are not
// inlined on GPUs, SHOAL_HOST_FN for functions that only the host runs, but that templates marked SHOAL_FN call. For these, nvcc does
// not check what they call: it would warn of host functions, although no kernel calls them. (In a kernel it would leave those out.)
// SHOAL_ROLLED stands before a loop that GPUs run rarely: it is not unrolled, so that kernels are smaller.
#pragma once

#if defined(__CUDACC__)
#define SHOAL_FN __host__ __device__
#define SHOAL_HOST_FN _Pragma("nv_exec_check_disable") __host__ __device__
#define SHOAL_OUT_OF_LINE __noinline__
#define SHOAL_ROLLED _Pragma("unroll 1")
#else
#define SHOAL_FN
#define SHOAL_HOST_FN
#define SHOAL_OUT_OF_LINE
#define SHOAL_ROLLED
#endif
