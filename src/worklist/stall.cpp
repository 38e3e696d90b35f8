#include "shoal/worklist/stall.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "shoal/core/text.hpp"

namespace shoal {

std::uint64_t PeSnapshot::created() const {
  std::uint64_t sum = entered + ring_tail;
  for (std::uint64_t s : sent) sum += s;
  return sum;
}

std::int64_t PeSnapshot::in_hand() const {
  // Holders take tickets in advance: tickets at or beyond the tail, and those whose slot is still full, do not count as taken
  // items.
  std::uint64_t taken = looked ? ring_tail - ring_waiting - ring_unfilled : std::min(ring_head, ring_tail);
  for (std::uint64_t r : received) taken += r;
  return static_cast<std::int64_t>(taken + entered - completed);
}

PeSnapshot snapshot(const PeControl& control, pe_t n_pes, std::uint64_t spill_chunks) {
  PeSnapshot s;
  s.cause = control.cause.load();
  s.begun = control.begun.load() != 0;
  s.rounds = static_cast<std::int64_t>(control.gate.rounds.load());
  s.state = control.state.load();
  s.completed = control.completed.load_acquire();
  s.entered = control.entered.load() + static_cast<std::uint64_t>(control.tokens.load());
  s.phase = control.phase.load();
  s.tokens = control.tokens.load();
  s.carried_out = control.carried_out.load();
  for (lane_t slot = 0; slot < kMostSlots; ++slot) {
    const RingCounters& of = control.far[slot];
    if (of.tail.load() == 0) continue;
    s.full_chunks.push_back({slot, of.tail.load(), of.head.load(), of.credits.load()});
  }
  s.seeds_taken = control.seeds_taken.load();
  for (const auto& beat : control.beat) s.beats += beat.load();
  s.ring_head = control.ring.head.load();
  s.ring_tail = control.ring.tail.load();
  s.ring_credits = control.ring.credits.load();
  s.chunk_items = control.chunk_items;
  s.segment_items = control.segment_items;
  // If the pool ran empty, workers have claimed tickets for which there is no chunk, so the head is beyond the tail.
  s.spilled_chunks =
      std::min(spill_chunks, spill_chunks - (control.spill_free.tail.load() - control.spill_free.head.load()));
  for (pe_t q = 0; q < n_pes; ++q) {
    const lane_t channels = lane_t{1} << control.log_channels, first = static_cast<lane_t>(q) * channels;
    s.sent.push_back(0);
    s.received.push_back(0);
    s.unread.push_back(0);
    s.channel_credits.push_back(control.ends[first].send.credits.load());
    for (lane_t i = first; i < first + channels; ++i) {
      s.sent.back() += control.ends[i].send.tail.load();
      s.received.back() += control.ends[i].receive.head();
      s.unread.back() += control.ends[i].receive.unread();
      s.channel_credits.back() = std::min(s.channel_credits.back(), control.ends[i].send.credits.load());
    }
  }
  return s;
}

RunEnd end_of(const std::vector<PeSnapshot>& pes) {
  RunEnd end;
  const auto consider = [&end](RunState how, std::size_t p) {
    if (how > end.how) end = {how, static_cast<pe_t>(p)};
  };
  for (std::size_t p = 0; p < pes.size(); ++p) {
    consider(static_cast<RunState>(pes[p].cause), p);
    const auto state = static_cast<RunState>(pes[p].state);
    if (state == RunState::running || state == RunState::stalled) consider(RunState::stalled, p);
    if (state == RunState::interrupted) consider(state, p);
  }
  return end;
}

std::uint64_t outstanding(const std::vector<PeSnapshot>& pes) {
  std::uint64_t created = 0, completed = 0;
  for (const PeSnapshot& p : pes) {
    created += p.created();
    completed += p.completed;
  }
  return created - completed;
}

std::uint64_t progress(const std::vector<PeSnapshot>& pes) {
  std::uint64_t sum = 0;
  for (const PeSnapshot& p : pes) {
    // Not `completed`: that counter also grows when an item only moves from spill to a full channel and back.
    sum += p.ring_head + p.seeds_taken + p.beats;
    for (std::uint64_t r : p.received) sum += r;
  }
  return sum;
}

namespace {

std::string number(std::uint64_t n) { return std::to_string(n); }
std::string items(std::uint64_t n) { return number(n) + (n == 1 ? " item" : " items"); }

/// Describes what is wrong, causes before their consequences.
class Diagnosis {
 public:
  explicit Diagnosis(const std::vector<PeSnapshot>& pes) : pes_(pes), first_(static_cast<std::size_t>(pes[0].first)) {}

  std::string line() {
    unfilled_slots();
    lost_puts();
    unread_claims();
    lost_credits();
    if (lines_.empty()) taken_and_not_completed();
    if (lines_.empty()) waiting_and_not_taken();
    if (lines_.empty()) unmoved_spill();
    if (lines_.empty() && pes_.size() < pes_[0].sent.size()) return far_pes();
    if (lines_.empty()) return items(outstanding(pes_)) + " outstanding, and every queue is empty";
    std::string line;
    for (std::size_t i = 0; i < lines_.size() && i < kMostLines; ++i) line += (i > 0 ? "; " : "") + lines_[i];
    if (lines_.size() > kMostLines) line += "; and " + number(lines_.size() - kMostLines) + " more";
    return line;
  }

 private:
  static constexpr std::size_t kMostLines = 4;

  // Below, PEs of this process are numbered from 0; `sent`, `received` and other arrays per pair of PEs have entries for all PEs.
  std::string pe(std::size_t p) const { return "PE " + std::to_string(first_ + p); }
  std::string channel(std::size_t from, std::size_t to) const { return "channel " + pe(from) + " -> " + pe(to) + ": "; }
  std::uint64_t sent(std::size_t from, std::size_t to) const { return pes_[from].sent[first_ + to]; }
  std::uint64_t received(std::size_t to, std::size_t from) const { return pes_[to].received[first_ + from]; }
  std::int64_t credits(std::size_t from, std::size_t to) const { return pes_[from].channel_credits[first_ + to]; }

  /// Nothing is wrong here: reports what was sent to other processes, and what has come from them.
  std::string far_pes() const {
    std::uint64_t left = 0, came = 0;
    for (const PeSnapshot& s : pes_) {
      for (std::size_t q = 0; q < s.sent.size(); ++q) {
        if (q >= first_ && q < first_ + pes_.size()) continue;
        left += s.sent[q], came += s.received[q];
      }
    }
    return "every queue of " + pe(0) + (pes_.size() > 1 ? " to " + pe(pes_.size() - 1) : "") + " is empty; " +
           items(left) + " sent to other processes, " + number(came) + " received from them";
  }

  void unfilled_slots() {
    for (std::size_t p = 0; p < pes_.size(); ++p) {
      const PeSnapshot& s = pes_[p];
      if (s.ring_unfilled == 0) continue;
      lines_.push_back("ring of " + pe(p) + ": ticket " + number(s.first_unfilled) +
                       " was given to a pusher and its slot never filled (" + number(s.ring_unfilled) + " such, tail " +
                       number(s.ring_tail) + ", head " + number(s.ring_head) + ")");
    }
  }
  void lost_puts() {
    for (std::size_t to = 0; to < pes_.size(); ++to) {
      for (std::size_t from = 0; from < pes_.size() && pes_[to].looked; ++from) {
        const std::uint64_t missing = pes_[to].missing[first_ + from];
        if (missing == 0) continue;
        lines_.push_back(channel(from, to) + number(missing) + " of " + items(sent(from, to)) +
                         " sent never arrived (ticket " + number(pes_[to].first_missing[first_ + from]) +
                         ", received " + number(received(to, from)) + ", credits " + std::to_string(credits(from, to)) +
                         ")");
      }
    }
  }
  void unread_claims() {
    for (std::size_t to = 0; to < pes_.size(); ++to) {
      for (std::size_t from = 0; from < pes_[to].unread.size(); ++from) {
        const std::uint64_t unread = pes_[to].unread[from];
        if (unread == 0) continue;
        lines_.push_back("channel PE " + std::to_string(from) + " -> " + pe(to) + ": " + items(unread) +
                         " arrived, and a worker of " + pe(to) + " claimed them without reading them");
      }
    }
  }
  void lost_credits() {
    for (const PeSnapshot& s : pes_) {
      if (s.segment_items > 0 && !s.looked) return;  // the segments may have been given back already
    }
    for_each_channel([&](std::size_t from, std::size_t to, std::uint64_t waiting) {
      if (waiting == 0 && sent(from, to) > 0 && credits(from, to) <= 0) {
        lines_.push_back(channel(from, to) + "no credits, though all " + items(sent(from, to)) +
                         " sent were received: credits were lost" + spill_note(from));
      }
    });
  }
  /// All idle workers have reported what they completed, so a worker that is not idle holds the missing items.
  void taken_and_not_completed() {
    for (std::size_t p = 0; p < pes_.size(); ++p) {
      const std::int64_t held = pes_[p].in_hand();
      const std::int64_t most_in_spill = static_cast<std::int64_t>(pes_[p].spilled_chunks * pes_[p].chunk_items);
      // Every worker that is not inside a task moves spill that has somewhere to go.
      if (held > most_in_spill || (held > 0 && !waits_for_credits(p))) {
        lines_.push_back(
            pe(p) + ": " + items(static_cast<std::uint64_t>(held)) + " taken and not completed" +
            (most_in_spill > 0 ? ", those in spill among them" : "") + " (completed " + number(pes_[p].completed) +
            "): a worker does not return from its task, or its count was lost" + ring_note(p) + spill_note(p));
      } else if (held < 0) {
        lines_.push_back(pe(p) + ": " + number(static_cast<std::uint64_t>(-held)) +
                         " more completed than taken (completed " + number(pes_[p].completed) + ")");
      }
    }
  }
  void waiting_and_not_taken() {
    for (std::size_t p = 0; p < pes_.size(); ++p) {
      const std::string note = ring_note(p);
      if (!note.empty()) lines_.push_back(note.substr(2) + spill_note(p));
    }
    for_each_channel([&](std::size_t from, std::size_t to, std::uint64_t waiting) {
      if (waiting == 0) return;
      lines_.push_back(channel(from, to) + number(waiting) + " of " + items(sent(from, to)) +
                       " sent have not been received (ticket " + number(received(to, from)) + ", credits " +
                       std::to_string(credits(from, to)) + ")" +
                       (pes_[to].looked ? ": they arrived, and no worker of " + pe(to) + " takes them" : ""));
    });
  }
  void unmoved_spill() {
    for (std::size_t p = 0; p < pes_.size(); ++p) {
      const std::string note = spill_note(p);
      if (!note.empty()) lines_.push_back(note.substr(2));
    }
  }

  bool waits_for_credits(std::size_t p) const {
    return std::any_of(pes_[p].channel_credits.begin(), pes_[p].channel_credits.end(),
                       [](std::int64_t r) { return r <= 0; });
  }
  std::string ring_note(std::size_t p) const {
    const PeSnapshot& s = pes_[p];
    const std::uint64_t waiting = s.looked ? s.ring_waiting : s.ring_tail > s.ring_head ? s.ring_tail - s.ring_head : 0;
    if (waiting == 0) return "";
    return "; ring of " + pe(p) + ": " + items(waiting) + " wait and no worker takes them (tail " +
           number(s.ring_tail) + ", head " + number(s.ring_head) + ")";
  }
  std::string spill_note(std::size_t p) const {
    if (pes_[p].spilled_chunks == 0) return "";
    return "; spill of " + pe(p) + ": " + number(pes_[p].spilled_chunks) + " chunks of up to " +
           number(pes_[p].chunk_items) + " items are held by workers that do not move them";
  }
  template <class Body>
  void for_each_channel(Body body) const {
    for (std::size_t from = 0; from < pes_.size(); ++from) {
      for (std::size_t to = 0; to < pes_.size(); ++to) {
        const std::uint64_t gone = sent(from, to), come = received(to, from);
        if (from != to) body(from, to, gone > come ? gone - come : 0);
      }
    }
  }

  const std::vector<PeSnapshot>& pes_;
  const std::size_t first_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string diagnose(const std::vector<PeSnapshot>& pes) { return Diagnosis(pes).line(); }

std::string dump(const std::vector<PeSnapshot>& pes, const std::string& diagnosis) {
  nlohmann::ordered_json out;
  out["diagnosis"] = diagnosis;
  out["outstanding"] = outstanding(pes);
  for (std::size_t p = 0; p < pes.size(); ++p) {
    const PeSnapshot& s = pes[p];
    out["pes"].push_back({{"pe", p + static_cast<std::size_t>(s.first)},
                          {"state", s.state},
                          {"completed", s.completed},
                          {"created", s.created()},
                          {"entered", s.entered},
                          {"seeds_taken", s.seeds_taken},
                          {"ring", {{"tail", s.ring_tail}, {"head", s.ring_head}, {"credits", s.ring_credits}}},
                          {"spilled_chunks", s.spilled_chunks},
                          {"sent", s.sent},
                          {"channel_credits", s.channel_credits},
                          {"received", s.received},
                          {"unread", s.unread},
                          {"in_hand", s.in_hand()}});
    if (s.tokens > 0) {
      auto& parked = out["pes"].back()["phases"];
      parked = {{"number", Phase::number(s.phase)},
                {"threshold", Phase::near(s.phase)},
                {"parts", s.tokens},
                {"carried_out", s.carried_out}};
      for (const auto& of : s.full_chunks) {
        parked["full_chunks"].push_back(
            {{"slot", of.slot}, {"handed_over", of.handed_over}, {"claimed", of.claimed}, {"free", of.free}});
      }
    }
    if (!s.looked) continue;
    auto& slots = out["pes"].back()["slots"];
    slots = {{"ring_waiting", s.ring_waiting}, {"ring_unfilled", s.ring_unfilled}, {"missing", s.missing}};
    if (s.ring_unfilled > 0) slots["first_unfilled"] = s.first_unfilled;
  }
  const std::string name = "shoal-stall-" + std::to_string(getpid()) + ".json";
  std::ofstream file(name);
  file << out.dump(2) << '\n';
  file.flush();
  return file.good() ? name : "";
}

std::string stall_line(double timeout_seconds, const std::vector<PeSnapshot>& pes) {
  const std::string line = diagnose(pes);
  const std::string file = dump(pes, line);
  return "no progress for " + exact(timeout_seconds) + " s: " + line + (file.empty() ? "" : "; counters in " + file);
}

}  // namespace shoal
