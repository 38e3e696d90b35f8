#include "shoal/runtime/stall.hpp"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace shoal {

std::uint64_t PeSnapshot::created() const {
  std::uint64_t sum = entered + ring_tail;
  for (std::uint64_t s : sent) sum += s;
  return sum;
}

PeSnapshot snapshot(const PeControl& control, pe_t n_pes, std::uint64_t spill_chunks) {
  PeSnapshot s;
  s.state = control.state.load();
  s.completed = control.completed.load_acquire();
  s.entered = control.entered.load();
  s.ring_head = control.ring.head.load();
  s.ring_tail = control.ring.tail.load();
  s.ring_room = control.ring.room.load();
  s.spilled_chunks = spill_chunks - (control.spill_free.tail.load() - control.spill_free.head.load());
  for (pe_t q = 0; q < n_pes; ++q) {
    s.sent.push_back(control.send[q].tail.load());
    s.channel_room.push_back(control.send[q].room.load());
    s.received.push_back(control.receive[q].head.load());
  }
  return s;
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
    sum += p.ring_head;  // not `completed`: an item that only goes from spill to a full channel and back completes, too
    for (std::uint64_t r : p.received) sum += r;
  }
  return sum;
}

std::string diagnose(const std::vector<PeSnapshot>& pes) {
  const std::size_t n = pes.size();
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) {
      const std::uint64_t sent = pes[from].sent[to], received = pes[to].received[from];
      if (sent > received) {
        return "channel PE " + std::to_string(from) + " -> PE " + std::to_string(to) + ": " +
               std::to_string(sent - received) + " of " + std::to_string(sent) +
               " items sent have not been received (next ticket " + std::to_string(received) + ", room " +
               std::to_string(pes[from].channel_room[to]) + ")";
      }
    }
  }
  for (std::size_t p = 0; p < n; ++p) {
    if (pes[p].ring_tail > pes[p].ring_head) {
      return "ring of PE " + std::to_string(p) + ": " + std::to_string(pes[p].ring_tail - pes[p].ring_head) +
             " items wait and no worker takes them (tail " + std::to_string(pes[p].ring_tail) + ", head " +
             std::to_string(pes[p].ring_head) + ")";
    }
  }
  for (std::size_t p = 0; p < n; ++p) {
    if (pes[p].spilled_chunks > 0) {
      return "spill of PE " + std::to_string(p) + ": " + std::to_string(pes[p].spilled_chunks) +
             " chunks are held by workers that do not move them";
    }
  }
  // Every queue is empty: a worker holds the item. Seeds and ring items complete where they ran.
  std::string line = std::to_string(outstanding(pes)) + " items were taken and never completed";
  for (std::size_t p = 0; p < n; ++p) {
    std::uint64_t here = pes[p].ring_tail + pes[p].entered;
    for (std::size_t q = 0; q < n; ++q) here += pes[q].sent[p];
    if (here > pes[p].completed) {
      line += "; PE " + std::to_string(p) + " took " + std::to_string(here) + " and completed " +
              std::to_string(pes[p].completed) + ": a worker there does not return from its task";
    }
  }
  return line;
}

std::string dump(const std::vector<PeSnapshot>& pes, const std::string& diagnosis) {
  nlohmann::ordered_json out;
  out["diagnosis"] = diagnosis;
  out["outstanding"] = outstanding(pes);
  for (std::size_t p = 0; p < pes.size(); ++p) {
    const PeSnapshot& s = pes[p];
    out["pes"].push_back({{"pe", p},
                          {"state", s.state},
                          {"completed", s.completed},
                          {"created", s.created()},
                          {"entered", s.entered},
                          {"ring", {{"tail", s.ring_tail}, {"head", s.ring_head}, {"room", s.ring_room}}},
                          {"spilled_chunks", s.spilled_chunks},
                          {"sent", s.sent},
                          {"channel_room", s.channel_room},
                          {"received", s.received}});
  }
  const std::string name = "shoal-stall-" + std::to_string(getpid()) + ".json";
  std::ofstream file(name);
  file << out.dump(2) << '\n';
  return file.good() ? name : "";
}

}  // namespace shoal
