#include "shoal/blocks/wires.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/text.hpp"
#include "shoal/world/heap.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"
#include "shoal/world/world.hpp"
#include "wire_memory.hpp"

namespace shoal::blocks {
namespace {

using Clock = std::chrono::steady_clock;
using HeapWord = Word<std::uint64_t, Scope::system>;

std::size_t lines(std::size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

struct alignas(kCacheLine) Line {
  std::byte bytes[kCacheLine];
};

/// What a process writes when its run has ended: the number of the run, and how it ended.
std::uint64_t end_word(std::uint64_t run, std::uint32_t state) { return run << 8 | state; }

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

/// The count of arrivals for steps of the parity of s, up to s, of a block with one channel.
std::uint64_t arrivals(step_t s) { return s / 2 + 1; }

}  // namespace

struct Wires::State {
  /// Offsets of the parts of a side in the heap of the process that has its block; on GPUs, in the memory of that PE.
  struct Place {
    WiredSide side;
    std::size_t words, in[2], told;  ///< `told`: on GPUs a WireEnd
  };
  /// This process's half of a channel to memory that stores do not reach.
  struct Far {
    int process;                  ///< of the other end
    const WiredSide* side;        ///< of the block here
    StepWords* words;             ///< the counters of that block
    HeapWord* told;               ///< the last step whose values have come; the other end puts it
    std::size_t to[2], told_to;   ///< offsets of `in` and `told` of the other end
    std::unique_ptr<Line[]> out;  ///< two buffers, of whole cache lines
    StepWords left{};             ///< stands for the other block's counters: the block here adds its arrivals to it
    step_t came = 0, sent = 0;    ///< the last step whose arrival was added here, and that was put there

    void* buffer(int parity) const {
      return out.get() + static_cast<std::size_t>(parity) * (lines(side->bytes) / sizeof(Line));
    }
  };

  State(const Machine& machine, const std::vector<pe_t>& pe_of, std::vector<WiredSide> sides);
  std::vector<std::size_t> give_places(std::vector<WiredSide> sides, bool on_gpu);
  void refuse_others(const std::vector<WiredSide>& sides) const;
  void make_fars();

  int processes() const { return world.n_processes(); }
  std::byte* find(std::int64_t block, std::int64_t of, std::size_t offset) const;
  HeapWord& word(std::size_t offset) const { return *reinterpret_cast<HeapWord*>(heap.at(offset)); }
  std::size_t ended_at(int process) const { return base + static_cast<std::size_t>(process) * kCacheLine; }
  std::size_t moved_at(int process) const { return ended_at(processes() + process); }
  const Place& place(std::int64_t block, std::uint32_t side) const;
  Far& far(std::int64_t block, std::uint32_t side) const;
  void look_for_ends();
  void tell_end(std::uint32_t state);
  void watch();
  void give_up(const std::string& why);

  World& world;
  Heap& heap;
  std::vector<pe_t> where;   ///< [blocks] PE
  std::vector<int> process;  ///< [blocks]
  std::vector<Place> places;
  std::size_t base = 0;
  std::unique_ptr<WireMemory> memory;  ///< on GPUs; null: everything that others reach is in the heap
  std::vector<std::unique_ptr<Far>> fars;

  // The present run.
  std::uint64_t run = 0;
  RunHere here;
  double patience_seconds = 10;
  Word<std::uint32_t, Scope::system> told_end{}, ended_elsewhere{};

  PaddedWord<std::uint32_t, Scope::system> busy{};  ///< a lock: 1 while a worker carries; it guards the next two
  std::vector<Far*> due;
  std::uint32_t carried = 0;

  std::mutex mutex;  ///< guards the next four
  Clock::time_point looked_at, moved_at_time;
  std::uint64_t moved = 0;
  std::string lost;  ///< why the run ended for good
};

#if !defined(SHOAL_HAVE_CUDA)
std::unique_ptr<WireMemory> wire_memory_of_gpus(const Machine&, const std::vector<std::size_t>&) { return nullptr; }
#endif

Wires::State::State(const Machine& machine, const std::vector<pe_t>& pe_of, std::vector<WiredSide> sides)
    : world(*machine.world()), heap(*world.heap()), where(pe_of) {
  for (const pe_t pe : where) process.push_back(world.process_of(pe));
  refuse_others(sides);
  const std::vector<std::size_t> bytes = give_places(std::move(sides), machine.on_gpu());
  // The values of each process come first: how its run ended, and how many tiles it has taken.
  const std::size_t common = 2 * static_cast<std::size_t>(processes()) * kCacheLine;
  const std::size_t in_heap = machine.on_gpu() ? 0 : *std::max_element(bytes.begin(), bytes.end());
  base = heap.allocate(common + in_heap, "channels between blocks of other processes");
  if (machine.on_gpu()) {
    const auto first = bytes.begin() + machine.first_pe();
    memory = wire_memory_of_gpus(machine, {first, first + machine.n_pes()});
  } else {
    for (Place& place : places) {
      for (std::size_t* offset : {&place.words, &place.in[0], &place.in[1], &place.told}) *offset += base + common;
    }
    make_fars();
  }
  world.exchange(World::Call{"place"}, {});  // now the heap parts of all processes are cleared
}

/// Assigns the offsets of all wired sides. All processes compute the same.
/// @return [processes] how many bytes each needs; on GPUs, [PEs]
std::vector<std::size_t> Wires::State::give_places(std::vector<WiredSide> sides, bool on_gpu) {
  std::vector<std::size_t> at(static_cast<std::size_t>(on_gpu ? world.n_pes() : processes()), 0);
  for (const WiredSide& side : sides) {
    std::size_t& next = at[static_cast<std::size_t>(on_gpu ? where[side.block] : process[side.block])];
    const auto take = [&next](std::size_t bytes) { return std::exchange(next, next + lines(bytes)); };
    const bool first = places.empty() || places.back().side.block != side.block;
    const std::size_t words = first ? take(sizeof(StepWords)) : places.back().words;
    const std::size_t in0 = take(side.bytes), in1 = take(side.bytes);
    places.push_back({side, words, {in0, in1}, take(on_gpu ? sizeof(WireEnd) : sizeof(HeapWord))});
  }
  return at;
}

/// Compares a hash over all processes. @throws UsageError  their blocks or channels differ
void Wires::State::refuse_others(const std::vector<WiredSide>& sides) const {
  std::uint64_t hash = where.size();
  for (const WiredSide& side : sides) {
    for (const std::uint64_t number :
         {static_cast<std::uint64_t>(side.block), std::uint64_t{side.side}, static_cast<std::uint64_t>(side.other),
          std::uint64_t{side.others_side}, std::uint64_t{side.bytes}}) {
      hash = mix(hash + number);
    }
  }
  for (const pe_t pe : where) hash = mix(hash + static_cast<std::uint64_t>(pe));
  const auto all = world.exchange(World::Call{"place"}, std::as_bytes(std::span(&hash, std::size_t{1})));
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p] == all[0]) continue;
    throw UsageError(
        "processes 0 and " + std::to_string(p) +
        " have different blocks, or different channels between them; all processes must make the same array");
  }
}

void Wires::State::make_fars() {
  for (const Place& mine : places) {
    const int other = process[mine.side.other];
    if (process[mine.side.block] != world.process() || heap.reach(other) != nullptr) continue;
    const Place& theirs = place(mine.side.other, mine.side.others_side);
    auto far = std::make_unique<Far>();
    far->process = other, far->side = &mine.side;
    far->words = reinterpret_cast<StepWords*>(heap.at(mine.words));
    far->told = &word(mine.told);
    std::copy_n(theirs.in, 2, far->to);
    far->told_to = theirs.told;
    far->out = std::make_unique<Line[]>(2 * (lines(mine.side.bytes) / sizeof(Line)));
    fars.push_back(std::move(far));
  }
}

/// The address, for `block`, which is here, of an offset in the memory of block `of`; null: stores do not reach that memory.
std::byte* Wires::State::find(std::int64_t block, std::int64_t of, std::size_t offset) const {
  if (memory != nullptr) return memory->at(where[block] - world.first_here(), where[of]) + offset;
  if (process[of] == world.process()) return heap.at(offset);
  std::byte* const there = heap.reach(process[of]);
  return there == nullptr ? nullptr : there + offset;
}

const Wires::State::Place& Wires::State::place(std::int64_t block, std::uint32_t side) const {
  return *std::lower_bound(places.begin(), places.end(), std::pair(block, side),
                           [](const Place& a, const auto& b) { return std::pair(a.side.block, a.side.side) < b; });
}
Wires::State::Far& Wires::State::far(std::int64_t block, std::uint32_t side) const {
  return **std::lower_bound(fars.begin(), fars.end(), std::pair(block, side),
                            [](const auto& a, const auto& b) { return std::pair(a->side->block, a->side->side) < b; });
}

Wires::Wires(const Machine& machine, const std::vector<pe_t>& where, std::vector<WiredSide> sides) {
  if (machine.world()->heap() == nullptr) {
    throw UsageError("blocks of several processes need an engine that has a heap");
  }
  state_ = std::make_unique<State>(machine, where, std::move(sides));
  far_ = !state_->fars.empty();
}
Wires::~Wires() { state_->heap.release(state_->base); }

int Wires::process_of(std::int64_t block) const { return state_->process[block]; }
StepWords* Wires::words(std::int64_t block) const {
  const auto& places = state_->places;
  const auto found = std::lower_bound(places.begin(), places.end(), block,
                                      [](const auto& place, std::int64_t b) { return place.side.block < b; });
  if (found == places.end() || found->side.block != block) return nullptr;
  return reinterpret_cast<StepWords*>(state_->find(block, block, found->words));
}
void* Wires::in(std::int64_t block, std::uint32_t side, int parity) const {
  return state_->find(block, block, state_->place(block, side).in[parity]);
}
void* Wires::out(std::int64_t block, std::uint32_t side, int parity) const {
  const WiredSide& mine = state_->place(block, side).side;
  void* const there = state_->find(block, mine.other, state_->place(mine.other, mine.others_side).in[parity]);
  return there == nullptr ? state_->far(block, side).buffer(parity) : there;
}
StepWords* Wires::other(std::int64_t block, std::uint32_t side) const {
  const WiredSide& mine = state_->place(block, side).side;
  std::byte* const there = state_->find(block, mine.other, state_->place(mine.other, mine.others_side).words);
  return there == nullptr ? &state_->far(block, side).left : reinterpret_cast<StepWords*>(there);
}
std::pair<WireEnd*, WireEnd*> Wires::ends(std::int64_t block, std::uint32_t side) const {
  if (state_->memory == nullptr) return {nullptr, nullptr};
  const State::Place& mine = state_->place(block, side);
  const std::int64_t other = mine.side.other;
  const auto end = [&](std::int64_t of, std::size_t at) {
    return reinterpret_cast<WireEnd*>(state_->find(block, of, at));
  };
  return {end(block, mine.told), end(other, state_->place(other, mine.side.others_side).told)};
}

void Wires::begin_rewind() {
  state_->heap.quiet();
  state_->world.exchange(World::Call{"rewind"}, {});  // now no process runs, and no put is in flight
}
void Wires::end_rewind(step_t s) {
  for (const auto& far : state_->fars) {
    for (const step_t parity : {0, 1}) far->left.arrived[parity].store((s + 2 - parity) / 2);
    far->came = far->sent = s;
    far->told->store(s);
  }
  state_->world.exchange(World::Call{"rewind"}, {});
}

void Wires::begin_run(const StepRange& range, RunHere here, double patience_seconds) {
  State& at = *state_;
  ++at.run;
  at.told_end.store(0), at.ended_elsewhere.store(0);
  at.here = std::move(here);
  at.patience_seconds = patience_seconds;
  const std::uint64_t mine[] = {range.first, range.end, range.measure};
  const auto all = at.world.exchange(World::Call{"steps"}, std::as_bytes(std::span(mine)));
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p] == all[0]) continue;
    throw UsageError("processes 0 and " + std::to_string(p) +
                     " run different steps; all processes must make the same calls");
  }
  at.world.begin_watch();
  const std::lock_guard lock(at.mutex);
  at.looked_at = at.moved_at_time = Clock::now();
  at.lost.clear();
}

RunOfAll Wires::end_run(std::exception_ptr error, const RunOfAll& mine) {
  State& at = *state_;
  carry();  // what the last tiles have sent
  at.look_for_ends();
  const auto is = [&at](RunState state) { return at.here.state() == static_cast<std::uint32_t>(state); };
  {
    const std::lock_guard lock(at.mutex);
    if (!at.lost.empty()) throw TransportError(at.lost);
  }
  if (!error && at.ended_elsewhere.load() == 0) {
    if (is(RunState::interrupted)) error = std::make_exception_ptr(Interrupted());
    if (is(RunState::transport_failed)) {
      error = std::make_exception_ptr(TransportError("blocks: an operation of process " +
                                                     std::to_string(at.world.process()) + " towards another failed"));
    }
  }
  at.heap.quiet();
  Report report;
  report.seconds = mine.seconds;
  report = of_all_processes(at.world, report, error);
  RunOfAll all{report.seconds, 0};
  for (const auto& bytes : exchange(std::as_bytes(std::span(&mine.change, std::size_t{1})))) {
    double change = 0;
    std::memcpy(&change, bytes.data(), std::min(bytes.size(), sizeof change));
    all.change = std::max(all.change, change);
  }
  return all;
}

void Wires::wait(std::uint32_t& looks) {
  carry();
  if (++looks % 64 == 0) state_->look_for_ends();
  if (looks % 256 == 0) state_->watch();
}

void Wires::look() {
  state_->look_for_ends();
  state_->watch();
}

void Wires::carry_to_others() {
  State& at = *state_;
  std::uint32_t nobody = 0;
  if (at.busy.load() != 0 || !at.busy.compare_swap_acquire(nobody, 1)) return;
  at.due.clear();
  bool put = true;
  for (const auto& far : at.fars) {
    for (const step_t now = far->told->load_acquire(); far->came < now;) {
      ++far->came;
      far->words->arrived[far->came & 1].fetch_add_release(1);
    }
    // At most one step is due: the one after `next` is due only after the other end has answered `next`.
    const step_t next = far->sent + 1;
    if (far->left.arrived[next & 1].load_acquire() < arrivals(next)) continue;
    put &= at.heap.put(far->process, far->to[next & 1], far->buffer(next & 1), far->side->bytes);
    far->sent = next;
    at.due.push_back(far.get());
  }
  if (put && !at.due.empty()) {  // the values must arrive before the step number that announces them
    at.heap.fence();
    for (const State::Far* far : at.due) put &= at.heap.put_word(far->process, far->told_to, far->sent);
  }
  if (at.due.empty() || ++at.carried % 16 == 0) at.heap.progress();
  if (!put) at.here.end_as(RunState::transport_failed);
  at.busy.store_release(0);
}

void Wires::State::look_for_ends() {
  if (const std::uint32_t ended = here.state(); ended != 0) {
    if (ended_elsewhere.load() == 0) tell_end(ended);
    return;
  }
  for (int p = 0; p < processes(); ++p) {
    const std::uint64_t told = word(ended_at(p)).load_acquire();
    if (p == world.process() || told >> 8 != run) continue;
    ended_elsewhere.store(1);
    here.end_as(static_cast<RunState>(told & 0xFF));
    return;
  }
}

void Wires::State::tell_end(std::uint32_t state) {
  std::uint32_t not_told = 0;
  if (!told_end.compare_swap(not_told, 1)) return;
  for (int p = 0; p < processes(); ++p) {
    if (p != world.process()) heap.put_word(p, ended_at(world.process()), end_word(run, state));
  }
}

/// Checks that all processes are alive, and that any of them takes tiles; ends the run otherwise.
void Wires::State::watch() {
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock || !lost.empty()) return;
  const auto now = Clock::now();
  if (now - looked_at < std::chrono::duration<double>(std::clamp(patience_seconds / 10, 0.01, 1.0))) return;
  looked_at = now;
  if (const std::string why = world.watch(); !why.empty()) return give_up(why);
  if (!here.taken) return;
  const std::uint64_t mine = here.taken();
  std::uint64_t all = 0;
  std::string taken;
  for (int p = 0; p < processes(); ++p) {
    if (p != world.process() && !heap.put_word(p, moved_at(world.process()), mine))
      here.end_as(RunState::transport_failed);
    const std::uint64_t its = p == world.process() ? mine : word(moved_at(p)).load();
    taken += " " + std::to_string(its);
    all += its;
  }
  if (all != moved) {
    moved = all;
    moved_at_time = now;
    return;
  }
  // Two seconds more, so that world.watch() is first to report a process that stands still: its message says more.
  if (now - moved_at_time < std::chrono::duration<double>(patience_seconds + 2)) return;
  const std::string why = "blocks: no process took a tile for " + exact(patience_seconds) + " s; taken:" + taken;
  world.end(why);
  give_up(why);
}

void Wires::State::give_up(const std::string& why) {
  lost = why;
  here.end_as(RunState::transport_failed);
}

std::vector<std::vector<std::byte>> Wires::exchange(std::span<const std::byte> mine) const {
  return state_->world.exchange(World::Call{"blocks"}, mine);
}

void Wires::pass(int from, const std::function<void(const BytesOut&)>& give, const BytesOut& out) const {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  if (from != state_->world.process()) {
    for (;;) {
      const auto all = exchange({});
      const auto& piece = all[static_cast<std::size_t>(from)];
      if (piece.empty()) return;
      out(piece.data(), piece.size());
    }
  }
  std::vector<std::byte> piece;
  const auto pass_piece = [&] {
    exchange(piece);
    out(piece.data(), piece.size());
    piece.clear();
  };
  give([&](const void* data, std::size_t bytes) {
    const auto* at = static_cast<const std::byte*>(data);
    for (std::size_t n; bytes > 0; bytes -= n, at += n) {
      n = std::min(bytes, kPiece - piece.size());
      piece.insert(piece.end(), at, at + n);
      if (piece.size() == kPiece) pass_piece();
    }
  });
  if (!piece.empty()) pass_piece();
  exchange({});
}

}  // namespace shoal::blocks
