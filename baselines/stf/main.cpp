// shoal_stf: the same as shoal_nccl, but every phase is a task of CUDASTF, and the data that phases share is its logical data.
#include "../nccl/gpu_program.hpp"
#include "make.hpp"

namespace {

const char* const kFooter = R"(examples:
  shoal_stf bfs kron:18 --gpus 2 --trials 8 --verify                 # two threads of one process
  mpirun -n 2 shoal_stf bfs kron:18 --trials 8 --verify              # two processes, where it was built with MPI
  shoal_stf pagerank web.mtx --gpus 2 --tolerance 1e-8 --stats

Vertex v belongs to rank v mod ranks. Each rank has a context of CUDASTF for its GPU; ranks exchange by NCCL, in tasks. What is
timed, and how, is as in shoal_nccl.)";

}  // namespace

int main(int argc, char** argv) {
  shoal::baselines::Kind kind;
  kind.name = "shoal_stf";
  kind.about = "Breadth-first search and PageRank on GPUs with CUDASTF and NCCL, to stand beside shoal's.";
  kind.footer = kFooter;
  kind.make = shoal::stf::make_engine;
  kind.describe = [](auto& json) {
    json["nccl"] = shoal::stf::nccl_version();
    json["cccl"] = shoal::stf::cccl_version();
  };
  return shoal::nccl::gpu_program(argc, argv, kind);
}
