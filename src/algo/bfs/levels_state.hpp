// Level-synchronous search on CPU threads: the state that the threads share. All threads run a step between two barriers; the last
// thread to arrive at a barrier plans the next step while the others wait.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "levels.hpp"
#include "levels_parts.hpp"
#include "lockstep/exchange.hpp"
#include "lockstep/step_trace.hpp"

namespace shoal {
namespace bfs_levels {

enum class Step { init, expand, hubs, receive, to_bitmap, bottom_up, to_queues, done };

/// The state of one thread, on cache lines of its own.
struct alignas(kCacheLine) ThreadState {
  VertexQueue queue[2];                              // frontier vertices that this thread found: this level, next level
  std::vector<VertexQueue> outbox;                   // [all_pes] found by this thread, to be judged by their owners
  std::vector<VertexQueue> other_outbox;             // [PEs] a second set, for every other level with one meeting
  VertexQueue* boxes = nullptr;                      // the one of the two that it posts to now
  level_t level = 0;                                 // of the vertices that it finds now
  VertexQueue hubs;                                  // vertices with long rows, left for all threads of the PE
  std::int64_t found = 0;                            // bottom-up: vertices that this step reached
  std::int64_t left = 0;                             // bottom-up: vertices with in-arcs that are still unreached
  std::int64_t narrow = 0;                           // levels that this step has completed before its last one
  bool narrow_empty = false;                         // whether that last one turned out to have no vertices
  PaddedWord<std::int64_t, Scope::device> taken;     // vertices of queue[now] that threads have taken so far
  PaddedWord<std::uint64_t, Scope::device> told[2];  // the words that it publishes when levels meet once
};

/// The state that the threads of one PE share.
struct alignas(kCacheLine) PeState {
  PaddedWord<std::int64_t, Scope::device> words_taken;  // bottom-up: bitmap words handed out
  PaddedWord<std::int64_t, Scope::device> hub_taken;    // pieces of hub rows handed out
};

/// Which other PEs' vertices an arc may lead to.
enum class Others { none, here, elsewhere };  // elsewhere: those of other processes, too

/// What a thread publishes after a level with one meeting (levels_top_down.cpp).
struct ToldNarrow {
  std::int64_t vertices = 0;  // found, or posted
  bool some = false;          // whether its part of the frontier had vertices
};

/// What a process reports after a top-down level.
struct ToldLevel {
  std::int64_t found, posted;   // vertices: kept by their owners, and still to be judged by their owners
  std::int64_t more;            // posted vertices that are not in `sent` yet
  std::uint32_t sent[kMaxPes];  // vertices that were put for each PE
};
/// What a process reports about its part of the frontier.
struct ToldFrontier {
  std::int64_t size;
  double arcs;
};
/// What a process reports after it has put its bitmap words into the other processes. Words in which vertices of several processes
/// lie are included here instead.
struct ToldWords {
  std::int64_t count;  // the process's summand of share_words()'s `count`
  struct {
    std::int64_t word;  // -1: none
    std::uint64_t bits;
  } edge[2];
};

/// The bounds of part [index] of `parts` equal parts of [0, n).
inline std::pair<std::int64_t, std::int64_t> share(std::int64_t n, int index, int parts) {
  return {n * index / parts, n * (index + 1) / parts};
}

}  // namespace bfs_levels

struct BfsLevelsCpu::State {
  using Step = bfs_levels::Step;
  using ThreadState = bfs_levels::ThreadState;
  using PeState = bfs_levels::PeState;
  using VertexQueue = bfs_levels::VertexQueue;
  using Bitmap = bfs_levels::Bitmap;

  const PlacedGraph& graph;
  ThreadTeam& team;
  BfsLevelsTuning tuning;
  bfs_levels::OwnedWords here;                   // the vertices of this process
  std::unique_ptr<lockstep::Exchange> exchange;  // with other processes; null: there are none
  HostArray<level_t> levels;                     // [n] by placed number: each PE's part is a contiguous slice of it
  Bitmap front, next;                            // the frontier of all PEs, and the next one, during bottom-up levels
  Bitmap closed;  // reached, or without in-arcs: not searched for; vertices of other processes: known to be reached
  Bitmap has_in_arcs;
  std::deque<ThreadState> threads;
  std::deque<PeState> pes;
  std::optional<SpinBarrier> barrier;

  // The plan: the last thread at the barrier writes it, all read it afterwards.
  Step step = Step::done;
  vertex_t source = kNoVertex;                          // of the search
  level_t level = 0;                                    // of the vertices that the step reaches
  int now = 0;                                          // which of the two queues is the frontier
  std::int64_t frontier = 0;                            // vertices in it
  std::int64_t posted = 0;                              // vertices to be judged by their owners
  std::int64_t left = 0;                                // bottom-up: vertices with in-arcs that are still unreached
  double unexplored_arcs = 0;                           // approximate
  std::int64_t top_down = 0, alone = 0, bottom_up = 0;  // levels of each kind
  bool narrow = false;                                  // whether the step may run several levels
  std::int64_t narrow_most = 0;                         // ... while the next level has at most this many vertices
  std::uint64_t meetings = 0;                           // of narrow levels, before this step
  std::vector<Traffic> traffic;                         // [from, of this process][to, of all]
  lockstep::StepTrace trace;

  // With other processes.
  std::size_t inboxes = 0;                        // offset in the exchange at which received vertices are put
  std::int64_t room = 0;                          // most vertices that one process puts for one PE in a round
  pe_t most_here = 0;                             // most PEs of any process
  std::int64_t rounds = 0, puts = 0;              // how often inboxes were filled: in this level, and in the search
  std::int64_t more = 0;                          // vertices of all processes that wait for another round
  std::int64_t at_most = 0;                       // bound of the next frontier: vertices found, and those to be judged
  std::vector<bfs_levels::ToldLevel> told_level;  // [processes] in the last round

  State(const PlacedGraph& graph, ThreadTeam& team, const BfsLevelsTuning& tuning, World* world);

  ThreadState& thread_of(pe_t pe, int thread) { return threads[pe * team.threads_per_pe() + thread]; }
  const std::vector<CsrView>& in() const { return graph.symmetric ? graph.out : graph.in; }
  std::int64_t n() const { return graph.num_vertices; }
  pe_t all_pes() const { return graph.all_pes(); }
  Traffic& traffic_of(pe_t from, pe_t to) { return traffic[static_cast<std::size_t>(from) * all_pes() + to]; }

  void begin(vertex_t source);
  void work(pe_t pe, int thread);
  void do_step(pe_t pe, int thread);
  void tell(Report& report, double seconds) const;

  void clear_levels(pe_t pe, int thread);
  void init(pe_t pe, int thread);
  void expand(pe_t pe, int thread);
  void expand_hubs(pe_t pe, int thread);
  void receive(pe_t pe, int thread);
  void to_bitmap(pe_t pe, int thread);
  void look_up(pe_t pe, int thread);
  void to_queues(pe_t pe, int thread);
  template <bfs_levels::Others kOthers, bool kShareHubs>
  void expand_rows(const CsrView& rows, ThreadState& me, VertexQueue& found, const vertex_t* first,
                   const vertex_t* last);
  void expand_narrow(pe_t pe);
  [[nodiscard]] bool tell(ThreadState& me, std::uint64_t meeting, bfs_levels::ToldNarrow& told);
  template <bfs_levels::Others kOthers>
  void expand_row(const CsrView& rows, ThreadState& me, VertexQueue& found, const vertex_t* first,
                  const vertex_t* last);

  void decide(ThreadState& me);
  void begin_level(ThreadState& me);
  void end_top_down(ThreadState& me);
  void begin_bottom_up();
  void end_bottom_up();
  bool alone_is_better();
  bool may_be_narrow();
  void expand_alone(ThreadState& me);
  double frontier_arcs();
  std::int64_t sum(std::int64_t ThreadState::*member);
  std::int64_t count_posted();
  void count_posted(pe_t from, pe_t to, std::int64_t items);
  void clear_outboxes(pe_t begin, pe_t end);

  // With other processes (levels_processes.cpp). The functions that meet the others return false when a process has left the run.
  void make_exchange(World& world);
  void begin_exchange();
  std::size_t inbox_at(std::int64_t round, int from_process, pe_t to_here) const;
  Span<const vertex_t> arrived(int from_process, pe_t pe) const;
  void forget_others(int index);
  void remember_front(int index);
  [[nodiscard]] bool send();
  [[nodiscard]] bool agree_on_frontier(double& arcs);
  [[nodiscard]] bool share_words(Bitmap& bits, std::int64_t& count);
};

}  // namespace shoal
