// An engine runs an algorithm by one strategy on one kind of processor; runners drive engines. Every engine leaves its answer as
// words (one value per vertex) in the memory where it computed them, so the code that fetches, counts, renumbers and checks the
// answer is the same for all engines.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "shoal/core/array.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// Where an engine left its answer: one word (a single value) for each vertex, in placed order, in the memory of the PE that owns
/// the vertex.
struct Words {
  std::size_t bytes = 0;          ///< of one word
  std::vector<const void*> part;  ///< [n_pes of this process], each [graph.out[pe].count] words

  /// @param part_of  part_of(pe) returns where the words of PE pe begin
  template <class PartOf>
  static Words of(const PlacedGraph& graph, PartOf&& part_of) {
    Words words{sizeof(*part_of(pe_t{0})), {}};
    for (pe_t p = 0; p < graph.n_pes(); ++p) words.part.push_back(part_of(p));
    return words;
  }

  /// [n_pes]. The caller must know that the words are of type Word.
  template <class Word>
  std::vector<const Word*> as() const {
    std::vector<const Word*> parts;
    for (const void* one : part) parts.push_back(static_cast<const Word*>(one));
    return parts;
  }
};

/// Called by every process: completes an array of the whole graph in which each process has filled in the part that belongs to its
/// PEs.
/// @param world  null: this process has all PEs
/// @param bytes  size of one vertex's value
void complete(World* world, const PlacedGraph& graph, void* all, std::size_t bytes);
inline void complete(const Machine& machine, const PlacedGraph& graph, void* all, std::size_t bytes) {
  complete(machine.world(), graph, all, bytes);
}

/// Called by every process. Returns the values `mine` of all processes: [processes].
template <class T>
std::vector<T> of_processes(World* world, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (world == nullptr) return {mine};
  std::vector<T> all;
  for (const auto& bytes :
       world->exchange(World::Call::of<T>("a sum"), std::as_bytes(std::span(&mine, std::size_t{1})))) {
    std::memcpy(&all.emplace_back(), bytes.data(), sizeof(T));
  }
  return all;
}
template <class T>
std::vector<T> of_processes(const Machine& machine, const T& mine) {
  return of_processes(machine.world(), mine);
}
/// Called by every process. Returns the first text that is not empty.
std::string first_of_processes(const Machine& machine, const std::string& mine);
/// Called by every process. Only process 0 calls find_wrong(); all of them return its text.
template <class F>
std::string by_process_0(const Machine& machine, F&& find_wrong) {
  const bool mine = machine.world() == nullptr || machine.world()->process() == 0;
  return first_of_processes(machine, mine ? find_wrong() : std::string());
}

/// All words on the host, by placed number: [num_vertices]. Called by every process; each gets all words.
template <class Word>
HostArray<Word> fetch_words(const Machine& machine, const PlacedGraph& graph, const Words& words) {
  HostArray<Word> all(graph.num_vertices);
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const CsrView& rows = graph.out[p];
    if (rows.count > 0) machine.copy_out(p, all.data() + rows.first, words.part[p], rows.count * sizeof(Word));
  }
  complete(machine, graph, all.data(), sizeof(Word));
  return all;
}

/// @tparam Input  the input of a run: the placed number of its source, for example
template <class... Input>
class Engine {
 public:
  virtual ~Engine() = default;
  /// Computes the answer from scratch. Adds seconds (clearing included), counts and rounds to `report`.
  virtual void run(Input... input, Report& report) = 0;
  /// The pointers are valid until the engine is destroyed; the values behind them change with the next run.
  virtual Words words() const = 0;
};

/// The members that the plans of all algorithms have.
template <class StrategyT>
struct StrategyPlan {
  StrategyT strategy;
  LaunchPlan launch;  ///< for the strategy async
  int threads;        ///< CPU threads of a PE
};

/// Makes the engine that a plan asks for.
template <class EngineT, class Plan>
using MakeEngine = std::unique_ptr<EngineT>(const Machine&, const PlacedGraph&, const Plan&);

/// The functions that make the engine of a strategy.
template <class Strategy, class EngineT, class Plan>
struct EngineChoice {
  Strategy strategy;
  MakeEngine<EngineT, Plan>* on_cpu;
  MakeEngine<EngineT, Plan>* on_gpu;  ///< null in builds without CUDA
};

}  // namespace shoal
