// shoal_mpi: level-synchronous breadth-first search, PageRank and Jacobi iteration on CPU ranks that communicate by MPI only. It is
// a baseline for `shoal bfs`, `pagerank` and `jacobi3d`, and shares their graphs, sources, checks and JSON.
#include <optional>

#include "../common/program.hpp"
#include "bfs.hpp"
#include "jacobi3d.hpp"
#include "pagerank.hpp"
#include "processes.hpp"
#include "provenance.hpp"

namespace shoal::mpi {
namespace {

const char* const kFooter = R"(examples:
  mpirun -n 4 shoal_mpi bfs kron:18 --trials 8 --verify
  mpirun -n 2 shoal_mpi bfs road:512 --source 0 --stats
  mpirun -n 4 shoal_mpi pagerank web.mtx --tolerance 1e-8 --json=result.json
  mpirun -n 4 shoal_mpi jacobi3d 256 256 256 --overlap --trials 3 --verify

Vertex v belongs to rank v mod ranks. Each rank reads or generates the whole graph at the start, keeps the rows of its own
vertices, and works on those; with --verify rank 0 keeps the whole graph. Of a grid it has one part: the cells are 0 at the
start, and 1 beside the grid. One thread computes on each rank.
Times are of the slowest rank, without loading. Communication is what passes within MPI, waiting for others included.)";

/// There is one rank in each process.
class Engine : public baselines::Engine {
 public:
  explicit Engine(const baselines::Processes& processes) : ranks_{processes.rank, processes.size} {}

  void place_search(const Csr& graph, bool send_once) override { search_.emplace(graph, ranks_, send_once); }
  void place_ranking(const Csr& graph, const PageRankRules& rules) override { ranking_.emplace(graph, ranks_, rules); }
  double search(vertex_t source) override {
    Clock clock;
    search_->run(source);
    return clock.lap();
  }
  double sweep() override {
    Clock clock;
    ranking_->run();
    return clock.lap();
  }
  std::vector<Step> steps() const override { return search_ ? search_->steps() : ranking_->steps(); }
  std::vector<std::int32_t> levels() const override { return search_->levels; }
  std::vector<double> ranks() const override { return ranking_->ranks; }
  baselines::Reached reached() const override { return search_->reached(); }
  double error_bound() const override { return ranking_->error_bound; }

 private:
  Ranks ranks_;
  std::optional<Search> search_;
  std::optional<Ranking> ranking_;
};

}  // namespace
}  // namespace shoal::mpi

int main(int argc, char** argv) {
  shoal::cli::command_begins({argv + (argc > 0), argv + argc});
  shoal::baselines::Kind kind;
  kind.name = "shoal_mpi";
  kind.about = "Breadth-first search, PageRank and Jacobi iteration on CPU ranks with MPI, to stand beside shoal's.";
  kind.footer = shoal::mpi::kFooter;
  kind.make = [](auto& processes, int) { return std::make_unique<shoal::mpi::Engine>(processes); };
  kind.make_grid = [](auto& processes, int, const auto& wanted) {
    return std::make_unique<shoal::mpi::Jacobi>(processes, wanted);
  };
  kind.describe = [](auto& json) { json["mpi"] = shoal::mpi::Processes::library(); };
  shoal::mpi::Processes processes(&argc, &argv);
  return shoal::baselines::run_program(argc, argv, kind, processes);
}
