shoal_worklist_kernels(kcore shoal/algo/kcore.hpp KCore TOGETHER)
