// How the counters and slots of a run on CPU threads are looked at while it is in progress.
#include "shoal/worklist/parts.hpp"

namespace shoal {
namespace {

/// The first word of slot `i`, which says what the slot holds. Workers may be using the slot, so nothing else of it is read.
/// @param bytes  of a slot
template <Scope S>
ticket_t first_word(const void* slots, std::size_t bytes, ticket_t i) {
  return reinterpret_cast<const Word<ticket_t, S>*>(static_cast<const std::byte*>(slots) + i * bytes)->load_acquire();
}
ticket_t last_lap(ticket_t tail, ticket_t capacity) { return tail > capacity ? tail - capacity : 0; }

}  // namespace

std::vector<PeSnapshot> WorklistParts::snapshots(bool closely) const {
  const pe_t n = machine_.n_pes();
  std::vector<PeSnapshot> pes;
  for (pe_t p = 0; p < n; ++p) {
    pes.push_back(snapshot(*control(p), machine_.all_pes(), chunks_));
    pes.back().first = number(0);
  }
  for (pe_t p = 0; closely && p < n; ++p) look_at_slots(p, pes);
  return pes;
}

/// Inspects the slots of PE p.
/// @param pes  snapshots of all PEs of this process; fills in that of PE p
void WorklistParts::look_at_slots(pe_t p, std::vector<PeSnapshot>& pes) const {
  PeSnapshot& here = pes[p];
  for (ticket_t t = last_lap(here.ring_tail, plan_.capacity); t < here.ring_tail; ++t) {
    const ticket_t sequence = first_word<Scope::device>(parts_[p].ring.get(), task_.slot, t & (plan_.capacity - 1));
    here.ring_waiting += sequence == t + 1;
    if (sequence == t && here.ring_unfilled++ == 0) here.first_unfilled = t;
  }
  here.missing.assign(static_cast<std::size_t>(machine_.all_pes()), 0);
  here.first_missing.assign(static_cast<std::size_t>(machine_.all_pes()), 0);
  for (pe_t near = 0; near < machine_.n_pes(); ++near) {  // how much PEs of other processes have sent is not known here
    if (near == p) continue;
    const pe_t from = number(near);
    if (segments_.on) {
      look_at_segments(p, from, pes);
      continue;
    }
    const lane_t channels = lane_t{1} << log_channels_;  // numbered as by View::channel()
    for (lane_t i = 0; i < channels; ++i) {
      const auto* const slots =
          static_cast<const std::byte*>(inbox(p, from)) + i * channel_capacity() * task_.remote_slot;
      const ticket_t sent = control(near)->ends[number(p) * channels + i].send.tail.load();
      for (ticket_t t = control(p)->ends[from * channels + i].receive.head(); t < sent; ++t) {
        if (first_word<Scope::system>(slots, task_.remote_slot, t & (channel_capacity() - 1)) == t + 1) continue;
        if (here.missing[from]++ == 0) here.first_missing[from] = t;
      }
    }
  }
  here.looked = true;
}

/// Inspects the segments of items from PE `from` to PE p. Counts the tickets that were reserved and whose items the receiver was never
/// notified of, and adds the credits of segments that were given back and not turned into credits yet.
void WorklistParts::look_at_segments(pe_t p, pe_t from, std::vector<PeSnapshot>& pes) const {
  const auto* const ends = static_cast<const SegmentEnd*>(inbox(p, from));
  const SegmentStart* const starts = homes(p, from);
  PeSnapshot &here = pes[p], &sender = pes[from - number(0)];
  const ticket_t sent = sender.sent[number(p)];
  for (ticket_t t = last_lap(sent, segments_.capacity()); t < sent; ++t) {
    const ticket_t segment = t >> segments_.log_items,
                   count = segments_.begin(segment) + (t & (segments_.items() - 1)) + 1;
    if (ends[segments_.slot(segment)].written.load_acquire() >= count) continue;
    if (here.missing[from]++ == 0) here.first_missing[from] = t;
  }
  ticket_t home = 0;
  for (ticket_t s = 0; s < segments_.segments(); ++s) home += starts[s].home.load_acquire();
  sender.channel_credits[number(p)] +=
      static_cast<std::int64_t>((home - starts->granted.load()) << segments_.log_items);
}

}  // namespace shoal
