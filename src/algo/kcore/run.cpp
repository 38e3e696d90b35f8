#include "algo/if_cuda.hpp"
#include "algo/runner.hpp"
#include "engines.hpp"
#include "reference.hpp"

namespace shoal {
namespace {

struct Shape : ShapeOf<KCoreOptions, KCorePlan, KCoreEngine> {
  /// Several GPUs lose time at every level, and skewed graphs have hundreds of levels (bench/results/kcore_h200.txt).
  static constexpr FewVertices kFew = {.than = 1 << 25};
  static constexpr EngineChoice<Strategy, Engine, Plan> kEngines[] = {
      {Strategy::async, make_kcore_async_cpu, if_cuda<make_kcore_async_gpu>}};
  static constexpr auto plan = plan_kcore;
  static GraphWants wants(const Options&) { return {.undirected = true}; }
};

}  // namespace

template <>
struct RunnerState<KCoreOptions> : PlannedState<Shape> {
  using PlannedState::PlannedState;

  KCoreResult result() {
    KCoreResult result;
    result.cores = run.gather<std::int32_t>(engine->words(), [](std::int32_t core) { return core; });
    const InnermostCore in = innermost_core(std::as_const(result.cores).span());
    result.highest = in.k;
    result.innermost = in.vertices;
    return result;
  }

  /// Runs on the host: the peeling by which it checks is a chain of small steps.
  std::string verify() override {
    const KCoreResult found = result();
    return by_process_0(run.machine(), [&] { return verify_kcore(run.graph(), found.cores.span()); });
  }
};

template class Runner<KCoreOptions, KCoreResult>;

Report KCoreRunner::run() {
  return state().timed([this](Report& report) { state().engine->run(report); });
}

}  // namespace shoal
