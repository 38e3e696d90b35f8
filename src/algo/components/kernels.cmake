shoal_worklist_kernels(components shoal/algo/components.hpp Components TOGETHER)
