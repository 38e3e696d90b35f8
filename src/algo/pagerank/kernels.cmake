shoal_worklist_kernels(pagerank shoal/algo/pagerank.hpp PageRank TOGETHER)
