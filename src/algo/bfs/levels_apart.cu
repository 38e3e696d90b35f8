// Level-synchronous search on GPUs that cannot access each other's memory: one kernel launch for each step of the course
// (levels_course.hpp), built from the same parts as the kernel that runs a whole search.
#include <chrono>
#include <vector>

#include "levels_course.hpp"
#include "levels_gpu_state.cuh"
#include "levels_search.cuh"

namespace shoal {

namespace bfs_gpu {

static_assert(LevelsTold::kPes == kPeers);

struct ApartStep {
  LevelsStep what;
  u32 depth;             ///< of the frontier
  u32 bits;              ///< which bitmap holds it, or will hold it
  u32 source;            ///< local number at its owner, kNone on other PEs
  u64 queue;             ///< content of the queue of `depth`, packed
  u32 received[kPeers];  ///< vertices in each inbox
  level_t* level;
  LevelsTold* told;
};

/// What the blocks of a PE find in a step; the same in all blocks.
struct Found {
  u64 queue;  ///< slots and arcs in the queue that was written, packed
  u64 expanded = 0, vertices = 0;
};

/// What was added to the next queue since the last barrier, packed.
inline __device__ u64 gathered(const Slice& v, const Team<true>& gang) {
  return packed(v, gang.own<0>(), gang.own<1>());
}

/// Adds the vertices that were sent for the frontier to its queue. Every thread of the PE calls this and the next two functions;
/// each contains one barrier.
/// @return false: the kernel was stopped
inline __device__ bool receive_step(const Slice& v, const ApartStep& step, Team<true>& gang, u32* buffer,
                                    Found& found) {
  Sink<true> sink{{buffer}, v, gang, step.level, step.depth, step.queue};
  for (pe_t p = 0; p < v.n_pes; ++p) receive_from<true>(sink, p, 0, step.received[p]);
  sink.flush();
  const bool ok = gang.meet();
  found.queue += gathered(v, gang);
  return ok;
}

inline __device__ bool expand_step(const Slice& v, const ApartStep& step, Team<true>& gang, u32* buffer, Found& found) {
  found.expanded = arcs_of(v, found.queue);
  Sink<true> sink{{buffer}, v, gang, step.level, step.depth + 1};
  expand<true>(sink, v.queue[step.depth & 1], found.queue);
  const bool ok = gang.meet();
  found.queue = gathered(v, gang);
  return ok;
}

inline __device__ bool up_step(const Slice& v, const ApartStep& step, Team<true>& gang, u32* buffer, Found& found) {
  const u32 n = bottom_up<true>(v, step.level, step.depth + 1, step.bits, buffer);
  if (lane_id() == 0 && n != 0) gang.add<2>(n);
  const bool ok = gang.meet();
  found.vertices = gang.own<2>();
  return ok;
}

inline __device__ bool any_received(const ApartStep& step) {
  u32 any = 0;
  for (u32 p = 0; p < kPeers; ++p) any |= step.received[p];
  return any != 0;
}

/// @return false: the kernel was stopped
inline __device__ bool take_step(const Slice& v, const ApartStep& step, Team<true>& gang, u32* buffer, Found& found) {
  switch (step.what) {
    case LevelsStep::top_down:
      if (any_received(step) && !receive_step(v, step, gang, buffer, found)) return false;
      return expand_step(v, step, gang, buffer, found);
    case LevelsStep::receive:
      return receive_step(v, step, gang, buffer, found);
    case LevelsStep::to_bits:
      frontier_to_bitmap<true>(v, step.level, step.depth);
      return gang.meet();
    case LevelsStep::up:
      return up_step(v, step, gang, buffer, found);
    case LevelsStep::from_bits: {
      Sink<true> sink{{buffer}, v, gang, step.level, step.depth};
      bitmap_to_queue<true>(sink, step.bits);
      break;
    }
    default:  // begin
      begin_search<true>(v, gang, {0, 0, 0, 0, 0, step.source, step.level});
  }
  const bool ok = gang.meet();
  found.queue = gathered(v, gang);
  return ok;
}

/// Launched cooperatively, with (blockDim.x / 32) * kWarpWords words of shared memory. The gang consists of this PE alone.
__global__ void __launch_bounds__(kMaxThreads, 1)
    step_apart(const __grid_constant__ Slice v, const __grid_constant__ ApartStep step) {
  extern __shared__ u32 buffers[];
  __shared__ Shared s;
  Team<true> gang(v.team, s, v.arc_bits);
  Found found{step.queue};
  const bool ok = take_step(v, step, gang, buffers + warp_in_block() * kWarpWords, found);
  if (thread_id() == 0) {
    LevelsTold told{
        slots_of(v, found.queue), arcs_of(v, found.queue), found.expanded, found.vertices, ok ? 0u : 1u, {}};
    for (u32 p = 0; p < kPeers; ++p) {
      told.sent[p] = gang.mail(static_cast<pe_t>(p)).load();
      gang.mail(static_cast<pe_t>(p)).store(0);
    }
    *step.told = told;
  }
  gang.finish();
}

}  // namespace bfs_gpu

using namespace bfs_gpu;

void BfsLevelsGpu::State::set_up_apart() {
  apart = std::make_unique<Apart>(team, "breadth-first search", *world);
  blocks = team.prepare(reinterpret_cast<const void*>(step_apart), tuning.block_threads, search_shared(),
                        tuning.blocks_per_sm);
  for (Slice& v : views) {
    for (pe_t q = 0; q < v.n_pes; ++q) {
      if (q != v.me) v.peer_inbox[q] = memory.array<vertex_t>(here(v), v.begin[q + 1] - v.begin[q], "outbox");
    }
  }
}

/// Exchanges the data of other PEs that the next step reads.
void BfsLevelsGpu::State::send_before(const LevelsCourse& course) {
  std::vector<WirePart> sent, received;
  const auto add = [](std::vector<WirePart>& parts, pe_t here, pe_t there, u32* data, std::uint64_t words) {
    if (words != 0) parts.push_back({here, there, data, words * sizeof(u32)});
  };
  for (const Slice& v : views) {
    for (pe_t q = 0; q < v.n_pes; ++q) {
      if (q == v.me) continue;
      if (course.step() == LevelsStep::up) {
        u32* const bits = v.front[course.bits()];
        add(sent, here(v), q, bits + v.base[v.me] / 32, v.words);
        add(received, here(v), q, bits + v.base[q] / 32, (v.base[q + 1] - v.base[q]) / 32);
      } else {
        add(sent, here(v), q, v.peer_inbox[q], course.sent(v.me, q));
        add(received, here(v), q, v.inbox[q], course.sent(q, v.me));
      }
    }
  }
  apart->exchange(sent, received);
}

void BfsLevelsGpu::State::launch(const LevelsCourse& course, vertex_t source, level_t* const* level) {
  const pe_t owner = graph.partition.owner(source);
  for (Slice& v : views) {
    const pe_t p = here(v);
    ApartStep step{course.step(), course.depth(), course.bits(), kNone, 0, {}, level[p], apart->told<LevelsTold>(p)};
    if (course.step() == LevelsStep::begin) {
      if (v.me == owner) step.source = source - v.begin[v.me];
    } else {
      const LevelsTold& its = course.of(v.me);
      step.queue = (its.slots << v.arc_bits) + its.arcs;
    }
    for (pe_t q = 0; q < v.n_pes; ++q) step.received[q] = static_cast<u32>(course.sent(q, v.me));
    apart->launch(p, reinterpret_cast<const void*>(step_apart), blocks[p], tuning.block_threads, search_shared(),
                  {&v, &step});
  }
}

void BfsLevelsGpu::State::search_apart(vertex_t source, level_t* const* level, Report& report) {
  const LevelsCourse::Rules course_rules = {tuning.alpha, tuning.beta, static_cast<u64>(graph.num_vertices),
                                            static_cast<u64>(graph.num_arcs), static_cast<u64>(graph.max_degree)};
  apart->together(report, [&](Report& mine) {
    const auto start = std::chrono::steady_clock::now();
    LevelsCourse course(course_rules, graph.all_pes());
    while (course.step() != LevelsStep::done) {
      send_before(course);
      launch(course, source, level);
      if (course.step() == LevelsStep::to_bits) {
        course.go_up();
        continue;
      }
      course.next(apart->hear<LevelsTold>());
    }
    mine.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    total = {};
    total.top_down = static_cast<u64>(course.top_down());
    total.bottom_up = static_cast<u64>(course.bottom_up());
    describe(mine);
  });
}

}  // namespace shoal
