// Level-synchronous search on CPU threads of several processes: what they exchange between two steps.
#include <algorithm>
#include <cstring>

#include "levels_state.hpp"

namespace shoal {

using bfs_levels::share;
using bfs_levels::ToldFrontier;
using bfs_levels::ToldLevel;
using bfs_levels::ToldWords;

void BfsLevelsCpu::State::make_exchange(World& world) {
  std::int64_t most = 1;  // vertices of a PE
  const vertex_t* const begin = graph.partition.owner.begin;
  for (pe_t p = 0; p < all_pes(); ++p) most = std::max<std::int64_t>(most, begin[p + 1] - begin[p]);
  room = std::min(tuning.sent_at_once, most);
  std::vector<pe_t> pes_of(static_cast<std::size_t>(world.n_processes()), 0);
  for (pe_t p = 0; p < all_pes(); ++p) most_here = std::max(most_here, ++pes_of[world.process_of(p)]);
  const std::size_t bitmap_bytes = static_cast<std::size_t>(Bitmap::words_of(n())) * sizeof(std::uint64_t);
  inboxes = 2 * bitmap_bytes;
  told_level.resize(pes_of.size());
  exchange = std::make_unique<lockstep::Exchange>(world, inbox_at(2, 0, 0), "messages of a search between processes");
}

/// Called before a search: resets what the previous search may have left in another state in each process.
void BfsLevelsCpu::State::begin_exchange() {
  front = Bitmap(reinterpret_cast<std::uint64_t*>(exchange->at(0)), n());
  next = Bitmap(reinterpret_cast<std::uint64_t*>(exchange->at(inboxes / 2)), n());
  puts = more = 0;
}

/// There are two inboxes, used in alternate rounds: what arrived in a round is read before the next round is announced, so the
/// round after that may overwrite it.
std::size_t BfsLevelsCpu::State::inbox_at(std::int64_t round, int from_process, pe_t to_here) const {
  const std::size_t process =
      static_cast<std::size_t>(round) * told_level.size() + static_cast<std::size_t>(from_process);
  const std::size_t box = process * static_cast<std::size_t>(most_here) + static_cast<std::size_t>(to_here);
  return inboxes + box * static_cast<std::size_t>(room) * sizeof(vertex_t);
}

/// The vertices that a process has put for PE `pe` of this process in the last round.
Span<const vertex_t> BfsLevelsCpu::State::arrived(int from_process, pe_t pe) const {
  const auto* const box = reinterpret_cast<const vertex_t*>(exchange->at(inbox_at((puts - 1) % 2, from_process, pe)));
  return {box, told_level[static_cast<std::size_t>(from_process)].sent[graph.first_pe + pe]};
}

/// Called before a search: marks all vertices of other processes as not known to be reached.
void BfsLevelsCpu::State::forget_others(int index) {
  const auto [begin, end] = share(Bitmap::words_of(n()), index, team.size());
  for (std::int64_t w = begin; w < end; ++w) {
    const bool ours = w >= here.first() && w < here.last() && ~here.mask(w) == 0;
    if (!ours) closed.word(w) = 0;
  }
}

/// Vertices of other processes that are in the frontier are known to be reached, so they need not be sent any more.
void BfsLevelsCpu::State::remember_front(int index) {
  const auto [begin, end] = share(Bitmap::words_of(n()), index, team.size());
  for (std::int64_t w = begin; w < end; ++w) {
    if (w < here.first() || w >= here.last()) {
      closed.word(w) |= front.word(w);
    } else if (~here.mask(w) != 0) {  // the owning PE adds its own bits at the same time
      fetch_add(closed.word(w), front.word(w) & ~here.mask(w) & ~load(closed.word(w)));
    }
  }
}

/// Puts what was posted for PEs of other processes, as much as there is room for, and hears what the other processes have put.
bool BfsLevelsCpu::State::send() {
  ToldLevel mine{};
  for (auto& thread : threads) mine.found += thread.queue[1 - now].size();
  const World& world = exchange->world();
  for (pe_t to = 0; to < all_pes(); ++to) {
    const int process = world.process_of(to);
    if (process == exchange->process()) {
      for (auto& thread : threads) mine.posted += thread.outbox[to].size();
      continue;
    }
    pe_t to_here = 0;
    while (to_here < to && world.process_of(to - to_here - 1) == process) ++to_here;
    const std::size_t at = inbox_at(puts % 2, exchange->process(), to_here);
    std::int64_t skip = rounds * room, sent = 0;  // over the boxes of all threads
    for (auto& thread : threads) {
      const VertexQueue& box = thread.outbox[to];
      const std::int64_t begin = std::min(skip, box.size()), count = std::min(box.size() - begin, room - sent);
      exchange->put(process, at + sent * sizeof(vertex_t), box.begin() + begin, count * sizeof(vertex_t));
      skip -= begin;
      sent += count;
      mine.posted += box.size() - begin;
      mine.more += box.size() - begin - count;
    }
    mine.sent[to] = static_cast<std::uint32_t>(sent);
  }
  ++rounds, ++puts;
  if (!exchange->meet(mine, told_level)) return false;
  posted = more = at_most = 0;
  for (const ToldLevel& its : told_level) {
    posted += its.posted;
    more += its.more;
    at_most += its.found + its.posted;
  }
  return true;
}

/// Computes the size and the arcs of the frontier of all processes.
/// @param arcs  in: estimate for this process; out: the sum over all processes
bool BfsLevelsCpu::State::agree_on_frontier(double& arcs) {
  ToldFrontier mine{.size = 0, .arcs = arcs};
  for (auto& thread : threads) mine.size += thread.queue[now].size();
  std::vector<ToldFrontier> all;
  if (!exchange->meet(mine, all)) return false;
  frontier = 0;
  arcs = 0;
  for (const ToldFrontier& its : all) {
    frontier += its.size;
    arcs += its.arcs;
  }
  return true;
}

/// Gives every process the bitmap words of all.
/// @param count  in: of this process; out: the sum over all processes
bool BfsLevelsCpu::State::share_words(Bitmap& bits, std::int64_t& count) {
  ToldWords mine{.count = count, .edge = {{-1, 0}, {-1, 0}}};
  std::int64_t first = here.first(), last = here.last();  // words in which only this process has vertices
  if (first < last && ~here.mask(first) != 0) {
    mine.edge[0] = {first, bits.word(first) & here.mask(first)};
    ++first;
  }
  if (first < last && ~here.mask(last - 1) != 0) {
    --last;
    mine.edge[1] = {last, bits.word(last) & here.mask(last)};
  }
  if (first < last) {
    const auto* const words = reinterpret_cast<const std::byte*>(bits.data());
    const std::size_t at = static_cast<std::size_t>(words - exchange->at(0)) + first * sizeof(std::uint64_t);
    for (int p = 0; p < exchange->processes(); ++p) {
      if (p != exchange->process()) exchange->put(p, at, exchange->at(at), (last - first) * sizeof(std::uint64_t));
    }
  }
  std::vector<ToldWords> all;
  if (!exchange->meet(mine, all)) return false;
  count = 0;
  std::int64_t word = -1;
  for (const ToldWords& its : all) {
    count += its.count;
    for (const auto& edge : its.edge) {  // in ascending order of words
      if (edge.word < 0) continue;
      bits.word(edge.word) = edge.bits | (edge.word == word ? bits.word(word) : 0);
      word = edge.word;
    }
  }
  return true;
}

}  // namespace shoal
