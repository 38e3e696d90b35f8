// Level-synchronous search on CPU threads: what the threads share. Steps are run by all threads between two barriers; the
// plan is made by the last thread at each barrier, while the others wait.
#pragma once
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "levels.hpp"
#include "levels_parts.hpp"

namespace shoal {
namespace bfs_levels {

enum class Step { init, expand, hubs, receive, to_bitmap, bottom_up, to_queues, done };

/// What one thread has, on lines of its own.
struct alignas(kCacheLine) ThreadState {
  VertexQueue queue[2];                           // the frontier's part found by this thread: now, and next
  std::vector<VertexQueue> outbox;                // [n_pes] found by this thread, to be judged by their owner
  VertexQueue hubs;                               // rows left for all threads of the PE
  std::int64_t found = 0;                         // bottom-up: vertices that this step reached
  std::int64_t left = 0;                          // bottom-up: vertices with in-arcs that are still unreached
  PaddedWord<std::int64_t, Scope::device> taken;  // of queue[now] and outbox, by whichever threads work through them
};

/// What the threads of one PE share.
struct alignas(kCacheLine) PeState {
  PaddedWord<std::int64_t, Scope::device> words_taken;  // bottom-up: words handed out
  PaddedWord<std::int64_t, Scope::device> hub_taken;    // pieces of hub rows handed out
};

/// part [index] of `parts` equal parts of [0, n)
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
  HostArray<level_t> levels;  // [n] by placed number: each PE's part is a contiguous slice of it
  Bitmap front, next;         // of the frontier, when it is looked at bottom-up
  Bitmap closed;              // reached, or without in-arcs: nothing to look for
  Bitmap has_in_arcs;
  std::deque<ThreadState> threads;
  std::deque<PeState> pes;
  std::optional<SpinBarrier> barrier;

  // The plan: written by the last thread at the barrier, read by all after it.
  Step step = Step::done;
  vertex_t source = kNoVertex;                          // of the search
  level_t level = 0;                                    // of the vertices that the step reaches
  int now = 0;                                          // which of the two queues is the frontier
  std::int64_t frontier = 0;                            // vertices in it
  std::int64_t left = 0;                                // bottom-up: vertices with in-arcs that are still unreached
  double unexplored_arcs = 0;                           // about
  std::int64_t top_down = 0, alone = 0, bottom_up = 0;  // levels of each kind
  std::vector<Traffic> traffic;                         // [from * n_pes + to]

  State(const PlacedGraph& graph, ThreadTeam& team, const BfsLevelsTuning& tuning);

  ThreadState& thread_of(pe_t pe, int thread) { return threads[pe * team.threads_per_pe() + thread]; }
  const std::vector<CsrView>& in() const { return graph.symmetric ? graph.out : graph.in; }
  std::int64_t n() const { return graph.num_vertices; }

  void begin(vertex_t source);
  void work(pe_t pe, int thread);
  void tell(Report& report, double seconds) const;

  void clear_levels(pe_t pe, int thread);
  void init(pe_t pe, int thread);
  void expand(pe_t pe, int thread);
  void expand_hubs(pe_t pe, int thread);
  void receive(pe_t pe, int thread);
  void to_bitmap(pe_t pe, int thread);
  void look_up(pe_t pe, int thread);
  void to_queues(pe_t pe, int thread);
  template <bool kManyPes, bool kShareHubs>
  void expand_rows(const CsrView& rows, ThreadState& me, VertexQueue& found, const vertex_t* first,
                   const vertex_t* last);
  template <bool kManyPes>
  void expand_row(const CsrView& rows, ThreadState& me, VertexQueue& found, const vertex_t* first,
                  const vertex_t* last);

  void decide(ThreadState& me);
  void begin_level(ThreadState& me);
  void end_top_down(ThreadState& me);
  void begin_bottom_up();
  void end_bottom_up();
  bool alone_is_better();
  void expand_alone(ThreadState& me);
  double frontier_arcs();
  std::int64_t sum(std::int64_t ThreadState::*member);
  std::int64_t count_posted();
};

}  // namespace shoal
