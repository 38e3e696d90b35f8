// PageRank by sweeps, one rank per GPU. Each rank sums its vertices' shares by target, with one word for each target of another
// rank, and all ranks exchange these words by NCCL. The host waits once per sweep.
#pragma once
#include <memory>
#include <vector>

#include "laps.cuh"
#include "ranking_data.cuh"

namespace shoal::nccl {

class Ranking {
 public:
  Ranking(const Csr& graph, const Communicator& comm, const PageRankRules& rules, int device)
      : comm_(comm),
        rules_(rules),
        data_(graph, comm.ranks(), device),
        pinned_(pinned_memory(sizeof(Sums), "sums over all ranks")) {}
  void tell() { data_.tell(comm_); }
  void make_room() { data_.make_room(); }
  void connect() { data_.connect(comm_); }

  void run() {
    RankingData& d = data_;
    const cudaStream_t stream = d.stream;
    laps_.clear();
    // With sums of 0, a jump of 1/n sets the initial ranks.
    fill_bytes(d.rank.data(), 0, d.rank.size_bytes(), stream);
    fill_bytes(d.sums.data(), 0, d.sums.size_bytes(), stream);
    update(d.sums.data(), d.offsets.data(), d.own, 0, 1 / static_cast<double>(d.num_vertices), d.rank.data(),
           d.all.data(), stream);
    d.sum_over_ranks(comm_);
    Sums all = read_sums();
    Sweeps sweeps(d.num_vertices, rules_);
    while (sweeps.go_on()) {
      laps_.step_begins(d.own);
      laps_.sent(d.num_out);
      laps_.time(Doing::computes, stream, [&] {
        share(d.rank.data(), d.offsets.data(), d.own, d.shares.data(), stream);
        add(*d.arcs, d.shares.data(), d.sums.data(), d.sums.size(), stream);
      });
      if (d.num_out + d.num_in > 0) {
        laps_.time(Doing::communicates, stream, [&] {
          comm_.exchange(d.sums.data() + d.own, d.out.data(), d.received.data(), d.in.data(), stream);
        });
      }
      laps_.time(Doing::computes, stream, [&] {
        if (d.num_in > 0) add_received(d.received.data(), d.targets_in.data(), d.num_in, d.sums.data(), stream);
        update(d.sums.data(), d.offsets.data(), d.own, rules_.alpha, sweeps.jump(all), d.rank.data(), d.all.data(),
               stream);
      });
      laps_.time(Doing::communicates, stream, [&] { d.sum_over_ranks(comm_); });
      all = read_sums();
      sweeps.swept(all.change);
      laps_.step_ends();
    }
    scale(d.rank.data(), d.own, 1 / all.rank, stream);  // all.rank is 1 except for rounding
    SHOAL_CUDA(cudaStreamSynchronize(stream));
    error_bound_ = sweeps.error_bound();
    laps_.finish();
  }

  const std::vector<Step>& steps() const { return laps_.steps(); }
  std::vector<double> ranks() const { return data_.ranks_on_host(); }
  double error_bound() const { return error_bound_; }

 private:
  using Sweeps = baselines::Sweeps;

  Sums read_sums() {
    SHOAL_CUDA(cudaMemcpyAsync(pinned_.get(), data_.all.data(), sizeof(Sums), cudaMemcpyDeviceToHost, data_.stream));
    SHOAL_CUDA(cudaStreamSynchronize(data_.stream));
    return *static_cast<const Sums*>(pinned_.get());
  }

  const Communicator& comm_;
  PageRankRules rules_;
  RankingData data_;
  std::shared_ptr<void> pinned_;
  Laps laps_;
  double error_bound_ = 0;
};

}  // namespace shoal::nccl
