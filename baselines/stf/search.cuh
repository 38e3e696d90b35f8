// Level-synchronous breadth-first search, one rank per GPU, as tasks of CUDASTF. Frontier, next frontier, visited, send buffer and
// counts are logical data. Every phase is a task that declares what it reads and writes, and CUDASTF orders the tasks on streams.
// Only counts go to the host. The phases and the use of NCCL are those of baselines/nccl.
#pragma once
#include <cstdint>
#include <cuda/experimental/stf.cuh>
#include <memory>
#include <string>
#include <vector>

#include "../nccl/laps.cuh"
#include "../nccl/search_data.cuh"

namespace shoal::stf {

using baselines::Step;
using nccl::Communicator;
using nccl::Doing;
using nccl::Found;
using nccl::Laps;
using nccl::Sending;
namespace cudastf = cuda::experimental::stf;

/// A rank's device memory as logical data.
template <class T>
using Data = cudastf::logical_data<cudastf::slice<T>>;

/// A CUDASTF context on one GPU.
class Tasks {
 public:
  explicit Tasks(int device)
      : context(), on_gpu(cudastf::exec_place::device(device)), in_gpu(cudastf::data_place::device(device)) {}

  template <class T>
  Data<T> data(T* memory, std::int64_t count, const char* name) {
    auto all = context.logical_data(cudastf::make_slice(memory, static_cast<std::size_t>(count)), in_gpu);
    all.set_symbol(name);
    return all;
  }
  /// Runs `work(stream, slices...)` on the GPU, in the order that follows from the accesses.
  template <class... Accesses>
  auto task(const char* name, Accesses... accesses) {
    return context.task(on_gpu, accesses...).set_symbol(name);
  }
  /// Copies values to the host, and waits for them.
  template <class T>
  void read(Data<T>& from, T* to) {
    context.task(cudastf::exec_place::host(), from.read()).set_symbol("read")->*[&](cudaStream_t stream, auto words) {
      SHOAL_CUDA(cudaStreamSynchronize(stream));
      std::copy_n(words.data_handle(), words.size(), to);
    };
  }

  cudastf::stream_ctx context;
  cudastf::exec_place on_gpu;
  cudastf::data_place in_gpu;
};

class Search {
 public:
  Search(const Csr& graph, const Communicator& comm, bool send_once, int device)
      : comm_(comm), data_(graph, comm.ranks(), send_once, device), tasks_(device) {}
  ~Search() { tasks_.context.finalize(); }

  void tell() { data_.tell(comm_); }
  void make_room() {
    nccl::SearchData& d = data_;
    d.make_room();
    const int ranks = d.ranks.size;
    levels_ = tasks_.data(d.levels.data(), d.levels.size(), "visited");
    for (int i = 0; i < 2; ++i) queues_[i] = tasks_.data(d.queues[i].data(), d.queues[i].size(), "frontier");
    ends_ = tasks_.data(d.ends.data(), d.ends.size(), "ends");
    scratch_ = tasks_.data(d.scratch.data(), d.scratch.size(), "scratch");
    out_ = tasks_.data(d.out(), ranks, "words to each");
    in_ = tasks_.data(d.in(), ranks, "words from each");
    cursor_ = tasks_.data(d.cursor(), 1, "words to all");
    sizes_ = tasks_.data(d.sizes(), 2, "next frontier's size");
    comm_token_ = tasks_.context.token();
    if (ranks == 1) return;
    for (int i = 0; i < 2; ++i) {
      words_[i] = tasks_.data(d.words[i].data(), d.words[i].size(), i == 0 ? "send buffer" : "sorted");
      owners_[i] = tasks_.data(d.owners[i].data(), d.owners[i].size(), "owners");
    }
    received_ = tasks_.data(d.received.data(), d.received.size(), "received");
  }
  void connect() {
    data_.connect(comm_);
    // CUDASTF allocates host memory when it first reads data there.
    tasks_.read(out_, data_.host(data_.out()));
    tasks_.read(in_, data_.host(data_.in()));
    tasks_.read(sizes_, data_.host(data_.sizes()));
  }

  void run(vertex_t source) {
    nccl::SearchData& d = data_;
    laps_.clear();
    const bool here = d.ranks.owner(source) == d.ranks.rank;
    // was_sent needs no logical data of its own: every task that uses it also accesses the send buffer.
    tasks_.task("start", levels_.write(), queues_[0].write())->*[&](cudaStream_t stream, auto levels, auto queue) {
      nccl::fill_bytes(levels.data_handle(), 0xFF, levels.size() * sizeof(std::int32_t), stream);
      if (here) nccl::start({levels.data_handle(), queue.data_handle(), nullptr}, d.ranks.local(source), stream);
    };
    if (d.was_sent.size() > 0) {
      tasks_.task("nothing was sent", words_[0].write())->*[&](cudaStream_t stream, auto) {
        nccl::fill_bytes(d.was_sent.data(), 0, d.was_sent.size_bytes(), stream);
      };
    }
    std::int64_t count = here ? 1 : 0, waiting = 1;
    for (std::int32_t level = 1; waiting > 0; ++level) {
      laps_.step_begins(count);
      clear_counters();
      if (count > 0) expand(count, level);
      if (d.ranks.size > 1) send_and_receive(level);
      tasks_.task("sum", sizes_.rw(), comm_token_.rw())->*[&](cudaStream_t stream, auto sizes) {
        laps_.time(Doing::communicates, stream,
                   [&] { comm_.sum(sizes.data_handle(), sizes.data_handle() + 1, 1, stream); });
      };
      std::int64_t* const sizes = d.host(d.sizes());
      tasks_.read(sizes_, sizes);
      count = sizes[0];
      waiting = sizes[1];
      laps_.step_ends();
    }
    SHOAL_CUDA(cudaStreamSynchronize(tasks_.context.fence()));
    laps_.finish();
  }

  const std::vector<Step>& steps() const { return laps_.steps(); }
  std::vector<std::int32_t> levels() const { return data_.levels_on_host(); }
  const std::vector<arc_t>& offsets() const { return data_.offsets; }

 private:
  void clear_counters() {
    tasks_.task("clear", out_.write(), cursor_.write(), sizes_.write())
            ->*[&](cudaStream_t stream, auto out, auto cursor, auto sizes) {
                  laps_.time(Doing::computes, stream, [&] {
                    for (auto counters : {out, cursor, sizes}) {
                      nccl::fill_bytes(counters.data_handle(), 0, counters.size() * sizeof(std::int64_t), stream);
                    }
                  });
                };
  }

  void expand(std::int64_t count, std::int32_t level) {
    nccl::SearchData& d = data_;
    auto& frontier = queues_[(level - 1) % 2];
    auto& next = queues_[level % 2];
    tasks_.task("degrees", frontier.read(), ends_.write(), scratch_.rw())
            ->*[&](cudaStream_t stream, auto frontier, auto ends, auto scratch) {
                  laps_.time(Doing::computes, stream, [&] {
                    nccl::sum_degrees(d.slice(), frontier.data_handle(), count, ends.data_handle(),
                                      scratch.data_handle(), scratch.size(), stream);
                  });
                };
    const auto work = [&](cudaStream_t stream, auto frontier, auto ends, auto levels, auto next, auto sizes, auto out,
                          auto cursor, vertex_t* words, std::uint8_t* owners) {
      const Found found{levels.data_handle(), next.data_handle(), sizes.data_handle()};
      const Sending sending{words, owners, cursor.data_handle(), out.data_handle(), d.was_sent.data()};
      laps_.time(Doing::computes, stream, [&] {
        nccl::expand(d.slice(), frontier.data_handle(), ends.data_handle(), count, level, found, sending, stream);
      });
    };
    if (d.ranks.size == 1) {
      tasks_.task("expand", frontier.read(), ends_.read(), levels_.rw(), next.write(), sizes_.rw(), out_.rw(),
                  cursor_.rw())
              ->*[&](cudaStream_t stream, auto... data) { work(stream, data..., nullptr, nullptr); };
      return;
    }
    tasks_.task("expand", frontier.read(), ends_.read(), levels_.rw(), next.write(), sizes_.rw(), out_.rw(),
                cursor_.rw(), words_[0].write(), owners_[0].write())
            ->*
        [&](cudaStream_t stream, auto frontier, auto ends, auto levels, auto next, auto sizes, auto out, auto cursor,
            auto words, auto owners) {
          work(stream, frontier, ends, levels, next, sizes, out, cursor, words.data_handle(), owners.data_handle());
        };
  }

  void send_and_receive(std::int32_t level) {
    nccl::SearchData& d = data_;
    tasks_.task("exchange counts", out_.read(), in_.rw(), comm_token_.rw())
            ->*[&](cudaStream_t stream, auto out, auto in) {
                  laps_.time(Doing::communicates, stream,
                             [&] { comm_.exchange_counts(out.data_handle(), in.data_handle(), stream); });
                };
    tasks_.read(out_, d.host(d.out()));
    tasks_.read(in_, d.host(d.in()));
    const std::int64_t sent = d.sum(d.out()), received = d.sum(d.in());
    laps_.sent(sent);
    if (sent > 0) {
      tasks_.task("sort", words_[0].read(), owners_[0].read(), words_[1].write(), owners_[1].write(), scratch_.rw())
              ->*
          [&](cudaStream_t stream, auto words, auto owners, auto sorted, auto sorted_owners, auto scratch) {
            laps_.time(Doing::computes, stream, [&] {
              nccl::sort_by_owner(owners.data_handle(), sorted_owners.data_handle(), words.data_handle(),
                                  sorted.data_handle(), sent, d.ranks, scratch.data_handle(), scratch.size(), stream);
            });
          };
    }
    if (sent + received == 0) return;
    tasks_.task("exchange", words_[1].read(), received_.write(), comm_token_.rw())
            ->*[&](cudaStream_t stream, auto sorted, auto words) {
                  laps_.time(Doing::communicates, stream, [&] {
                    comm_.exchange(sorted.data_handle(), d.host(d.out()), words.data_handle(), d.host(d.in()), stream);
                  });
                };
    if (received == 0) return;
    tasks_.task("receive", received_.read(), levels_.rw(), queues_[level % 2].rw(), sizes_.rw())
            ->*[&](cudaStream_t stream, auto words, auto levels, auto next, auto sizes) {
                  const Found found{levels.data_handle(), next.data_handle(), sizes.data_handle()};
                  laps_.time(Doing::computes, stream,
                             [&] { nccl::receive(words.data_handle(), received, level, found, stream); });
                };
  }

  const Communicator& comm_;
  nccl::SearchData data_;
  Tasks tasks_;
  Data<std::int32_t> levels_;
  Data<vertex_t> queues_[2], words_[2], received_;
  Data<std::uint8_t> owners_[2];
  Data<arc_t> ends_;
  Data<char> scratch_;
  Data<std::int64_t> out_, in_, cursor_, sizes_;
  cudastf::logical_data<cudastf::void_interface> comm_token_;
  Laps laps_;
};

}  // namespace shoal::stf
