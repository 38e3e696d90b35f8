// PageRank by sweeps, one rank per GPU, as tasks of CUDASTF. Ranks, shares, sums and received words are logical data. In a sweep
// only three sums over all ranks go to the host.
#pragma once
#include <vector>

#include "../nccl/ranking_data.cuh"
#include "search.cuh"

namespace shoal::stf {

using baselines::Sums;
using baselines::Sweeps;

class Ranking {
 public:
  Ranking(const Csr& graph, const Communicator& comm, const PageRankRules& rules, int device)
      : comm_(comm), rules_(rules), data_(graph, comm.ranks(), device), tasks_(device) {}
  ~Ranking() { tasks_.context.finalize(); }

  void tell() { data_.tell(comm_); }
  void make_room() {
    nccl::RankingData& d = data_;
    d.make_room();
    ranks_ = tasks_.data(d.rank.data(), d.rank.size(), "ranks");
    shares_ = tasks_.data(d.shares.data(), d.shares.size(), "shares");
    sums_ = tasks_.data(d.sums.data(), d.sums.size(), "sums");
    received_ = tasks_.data(d.received.data(), d.received.size(), "received");
    all_ = tasks_.data(d.words_of_all(), 3, "sums over all ranks");
    comm_token_ = tasks_.context.token();
  }
  void connect() {
    data_.connect(comm_);
    read_all();  // CUDASTF allocates host memory when it first reads data there
  }

  void run() {
    nccl::RankingData& d = data_;
    laps_.clear();
    // With sums of 0, a jump of 1/n sets the initial ranks.
    tasks_.task("start", ranks_.write(), sums_.write())->*[&](cudaStream_t stream, auto ranks, auto sums) {
      nccl::fill_bytes(ranks.data_handle(), 0, ranks.size() * sizeof(double), stream);
      nccl::fill_bytes(sums.data_handle(), 0, sums.size() * sizeof(double), stream);
    };
    update(0, 1 / static_cast<double>(d.num_vertices), false);
    sum_over_ranks(false);
    Sums all = read_all();
    Sweeps sweeps(d.num_vertices, rules_);
    while (sweeps.go_on()) {
      laps_.step_begins(d.own);
      laps_.sent(d.num_out);
      tasks_.task("share", ranks_.read(), shares_.write())->*[&](cudaStream_t stream, auto ranks, auto shares) {
        laps_.time(Doing::computes, stream,
                   [&] { nccl::share(ranks.data_handle(), d.offsets.data(), d.own, shares.data_handle(), stream); });
      };
      tasks_.task("add", shares_.read(), sums_.write())->*[&](cudaStream_t stream, auto shares, auto sums) {
        laps_.time(Doing::computes, stream, [&] {
          nccl::add(*d.arcs, shares.data_handle(), sums.data_handle(), static_cast<std::int64_t>(sums.size()), stream);
        });
      };
      if (d.num_out + d.num_in > 0) exchange();
      update(rules_.alpha, sweeps.jump(all), true);
      sum_over_ranks(true);
      all = read_all();
      sweeps.swept(all.change);
      laps_.step_ends();
    }
    tasks_.task("scale", ranks_.rw())->*[&](cudaStream_t stream, auto ranks) {
      nccl::scale(ranks.data_handle(), d.own, 1 / all.rank, stream);  // all.rank is 1 except for rounding
    };
    SHOAL_CUDA(cudaStreamSynchronize(tasks_.context.fence()));
    error_bound_ = sweeps.error_bound();
    laps_.finish();
  }

  const std::vector<Step>& steps() const { return laps_.steps(); }
  std::vector<double> ranks() const { return data_.ranks_on_host(); }
  double error_bound() const { return error_bound_; }

 private:
  void exchange() {
    nccl::RankingData& d = data_;
    tasks_.task("exchange", sums_.read(), received_.write(), comm_token_.rw())
            ->*
        [&](cudaStream_t stream, auto sums, auto received) {
          laps_.time(Doing::communicates, stream, [&] {
            comm_.exchange(sums.data_handle() + d.own, d.out.data(), received.data_handle(), d.in.data(), stream);
          });
        };
    tasks_.task("receive", received_.read(), sums_.rw())->*[&](cudaStream_t stream, auto received, auto sums) {
      laps_.time(Doing::computes, stream, [&] {
        if (d.num_in == 0) return;
        nccl::add_received(received.data_handle(), d.targets_in.data(), d.num_in, sums.data_handle(), stream);
      });
    };
  }

  /// @param timed  the work is part of a sweep, and is measured
  void update(double alpha, double jump, bool timed) {
    nccl::RankingData& d = data_;
    tasks_.task("update", sums_.read(), ranks_.rw(), all_.write())
            ->*[&](cudaStream_t stream, auto sums, auto ranks, auto all) {
                  in_sweep(timed, Doing::computes, stream, [&] {
                    nccl::update(sums.data_handle(), d.offsets.data(), d.own, alpha, jump, ranks.data_handle(),
                                 reinterpret_cast<Sums*>(all.data_handle()), stream);
                  });
                };
  }
  void sum_over_ranks(bool timed) {
    tasks_.task("sum", all_.rw(), comm_token_.rw())->*[&](cudaStream_t stream, auto all) {
      in_sweep(timed, Doing::communicates, stream, [&] { comm_.sum(all.data_handle(), all.data_handle(), 3, stream); });
    };
  }
  template <class F>
  void in_sweep(bool timed, Doing doing, cudaStream_t stream, F&& enqueue) {
    timed ? laps_.time(doing, stream, enqueue) : enqueue();
  }
  Sums read_all() {
    double words[3];
    tasks_.read(all_, words);
    return {words[0], words[1], words[2]};
  }

  const Communicator& comm_;
  PageRankRules rules_;
  nccl::RankingData data_;
  Tasks tasks_;
  Data<double> ranks_, shares_, sums_, received_, all_;
  cudastf::logical_data<cudastf::void_interface> comm_token_;
  Laps laps_;
  double error_bound_ = 0;
};

}  // namespace shoal::stf
