// Level-synchronous breadth-first search, one rank per GPU. Each rank expands its part of the frontier and sorts vertices of other
// ranks by owner; then all ranks exchange counts and words by NCCL. There is one stream; the host waits twice per level.
#pragma once
#include <cstdint>
#include <vector>

#include "laps.cuh"
#include "search_data.cuh"

namespace shoal::nccl {

class Search {
 public:
  Search(const Csr& graph, const Communicator& comm, bool send_once, int device)
      : comm_(comm), data_(graph, comm.ranks(), send_once, device) {}
  void tell() { data_.tell(comm_); }
  void make_room() { data_.make_room(); }
  void connect() { data_.connect(comm_); }

  void run(vertex_t source) {
    SearchData& d = data_;
    const cudaStream_t stream = d.stream;
    laps_.clear();
    fill_bytes(d.levels.data(), 0xFF, d.levels.size_bytes(), stream);
    fill_bytes(d.was_sent.data(), 0, d.was_sent.size_bytes(), stream);
    const bool here = d.ranks.owner(source) == d.ranks.rank;
    if (here) start(found(0), d.ranks.local(source), stream);
    std::int64_t count = here ? 1 : 0, waiting = 1;
    for (std::int32_t level = 1; waiting > 0; ++level) {
      laps_.step_begins(count);
      const vertex_t* frontier = d.queues[(level - 1) % 2].data();
      laps_.time(Doing::computes, stream, [&] {
        fill_bytes(d.counters.data(), 0, d.counters.size_bytes(), stream);
        if (count == 0) return;
        sum_degrees(d.slice(), frontier, count, d.ends.data(), d.scratch.data(), d.scratch.size_bytes(), stream);
        const Sending sending{d.words[0].data(), d.owners[0].data(), d.cursor(), d.out(), d.was_sent.data()};
        expand(d.slice(), frontier, d.ends.data(), count, level, found(level), sending, stream);
      });
      if (d.ranks.size > 1) send_and_receive(level);
      laps_.time(Doing::communicates, stream, [&] { comm_.sum(d.sizes(), d.sizes() + 1, 1, stream); });
      d.read(d.sizes(), 2, stream);
      count = d.host(d.sizes())[0];
      waiting = d.host(d.sizes())[1];
      laps_.step_ends();
    }
    laps_.finish();
  }

  const std::vector<Step>& steps() const { return laps_.steps(); }
  std::vector<std::int32_t> levels() const { return data_.levels_on_host(); }
  const std::vector<arc_t>& offsets() const { return data_.offsets; }

 private:
  Found found(std::int32_t level) { return {data_.levels.data(), data_.queues[level % 2].data(), data_.sizes()}; }

  void send_and_receive(std::int32_t level) {
    SearchData& d = data_;
    const cudaStream_t stream = d.stream;
    laps_.time(Doing::communicates, stream, [&] { comm_.exchange_counts(d.out(), d.in(), stream); });
    d.read(d.out(), 2 * d.ranks.size, stream);
    const std::int64_t sent = d.sum(d.out()), received = d.sum(d.in());
    laps_.sent(sent);
    if (sent > 0) {
      laps_.time(Doing::computes, stream, [&] {
        sort_by_owner(d.owners[0].data(), d.owners[1].data(), d.words[0].data(), d.words[1].data(), sent, d.ranks,
                      d.scratch.data(), d.scratch.size_bytes(), stream);
      });
    }
    if (sent + received == 0) return;
    laps_.time(Doing::communicates, stream,
               [&] { comm_.exchange(d.words[1].data(), d.host(d.out()), d.received.data(), d.host(d.in()), stream); });
    if (received == 0) return;
    laps_.time(Doing::computes, stream, [&] { receive(d.received.data(), received, level, found(level), stream); });
  }

  const Communicator& comm_;
  SearchData data_;
  Laps laps_;
};

}  // namespace shoal::nccl
