shoal_worklist_kernels(bfs shoal/algo/bfs.hpp Bfs ROUNDS)
