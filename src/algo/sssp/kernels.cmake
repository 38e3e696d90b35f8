shoal_worklist_kernels(sssp_narrow shoal/algo/sssp.hpp Sssp<std::uint32_t>)
shoal_worklist_kernels(sssp_wide shoal/algo/sssp.hpp Sssp<std::uint64_t>)
