// shoal_nccl: level-synchronous breadth-first search, PageRank and Jacobi iteration, one rank per GPU, with NCCL between them. It
// is a baseline for `shoal bfs --device gpu` and the like, and shares their graphs, sources, checks and JSON.
#include "gpu_program.hpp"
#include "make.hpp"

namespace {

const char* const kFooter = R"(examples:
  shoal_nccl bfs kron:18 --gpus 2 --trials 8 --verify                 # two threads of one process
  mpirun -n 2 shoal_nccl bfs kron:18 --trials 8 --verify              # two processes, where it was built with MPI
  shoal_nccl pagerank web.mtx --gpus 2 --tolerance 1e-8 --stats
  shoal_nccl jacobi3d 768 768 768 --gpus 2 --overlap --trials 3       # --staged: faces go through the host's memory

Vertex v belongs to rank v mod ranks. Each process reads or generates the whole graph at the start, and each rank puts the
rows of its own vertices on its GPU. Of a grid each has one part: the cells are 0 at the start, and 1 beside the grid.
Times are of the slowest rank, without loading. Computation and communication are timed on the GPU by events;
communication includes waiting for other ranks. What is in neither is the host's.)";

}  // namespace

int main(int argc, char** argv) {
  shoal::baselines::Kind kind;
  kind.name = "shoal_nccl";
  kind.about = "Breadth-first search, PageRank and Jacobi iteration on GPUs with NCCL, to stand beside shoal's.";
  kind.footer = kFooter;
  kind.make = shoal::nccl::make_engine;
  kind.make_grid = shoal::nccl::make_grid;
  kind.describe = [](auto& json) { json["nccl"] = shoal::nccl::nccl_version(); };
  return shoal::nccl::gpu_program(argc, argv, kind);
}
