// Thousands of barriers on up to 4 PEs: the sums that they compute, memory visibility after them, mail, and how kernels end.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "lockstep/team.cuh"
#include "shoal/core/error.hpp"
#include "shoal/device/cuda_check.cuh"

namespace shoal {
namespace {

using lockstep::Gang;
using lockstep::Op;
using lockstep::u32;
using lockstep::u64;

struct Work {
  u32* board[lockstep::kPeers];  ///< one board per PE, [blocks * PEs]: the last value that each block of each PE wrote
  u32* errors;                   ///< of this PE
  u32 barriers, blocks;
  u32 stop_at, lose_at;  ///< before this barrier a block stops the kernel, or leaves without notice; 0: never
};

/// In step i, block b of PE p writes i to its place on every PE's board, and adds numbers of which every block knows the sums.
template <bool kMulti>
__global__ void march(const __grid_constant__ lockstep::View v, const Work w) {
  __shared__ lockstep::Shared s;
  Gang<kMulti, Op::sum, Op::min, Op::sum_double> gang(v, s);
  const u32 pes = static_cast<u32>(v.n_pes), me = static_cast<u32>(v.me), place = me * gridDim.x + blockIdx.x;
  const auto expect = [&](bool right) {
    if (!right) atomicAdd(w.errors, 1u);
  };
  for (u32 i = 1; i <= w.barriers; ++i) {
    if (threadIdx.x == blockDim.x - 1) {
      for (u32 p = 0; p < pes; ++p) w.board[p][place] = i;
    }
    gang.template add<0>(threadIdx.x + i);
    if (threadIdx.x == 7) gang.template add<1>(u64{place} + i);
    if (threadIdx.x < 2) gang.template add_double<2>(0.5);
    if (threadIdx.x < pes) gang.mail(static_cast<pe_t>(threadIdx.x)).fetch_add(me + 1);
    if (place == 1 && i == w.stop_at && threadIdx.x == 0) gang.stop(17);
    if (place == 1 && i == w.lose_at) return;
    if (!gang.meet()) break;
    const u64 blocks = u64{gridDim.x} * pes, threads = blockDim.x;
    expect(gang.template total<0>() == blocks * (threads * (threads - 1) / 2 + threads * i));
    expect(gang.template own<0>() == gridDim.x * (threads * (threads - 1) / 2 + threads * i));
    expect(gang.template total<1>() == i);
    expect(gang.template own<1>() == u64{me} * gridDim.x + i);
    expect(gang.template total_double<2>() == static_cast<double>(blocks));
    for (u32 k = threadIdx.x; k < blocks; k += blockDim.x) expect(w.board[me][k] - i <= 1);  // plain loads, as promised
    if (kMulti && threadIdx.x < pes) {
      expect(gang.mail_upto(threadIdx.x) == gridDim.x * (threadIdx.x + 1) * i);
      expect(gang.mail_before(threadIdx.x) == gridDim.x * (threadIdx.x + 1) * (i - 1));
    }
  }
  gang.finish();
}

/// Only barriers, to measure their time.
template <bool kMulti>
__global__ void only_meet(const __grid_constant__ lockstep::View v, u32 barriers, u32* errors) {
  __shared__ lockstep::Shared s;
  Gang<kMulti> gang(v, s);
  for (u32 i = 0; i < barriers; ++i) {
    if (threadIdx.x == 0) gang.template add<0>(i);
    if (!gang.meet()) break;
  }
  if (gang.template own<0>() != u64{barriers - 1} * gridDim.x) atomicAdd(errors, 1u);
  gang.finish();
}

/// A counter as the tail of a queue: all positions are different, and the barrier returns the length of the queue.
__global__ void queue_up(const __grid_constant__ lockstep::View v, u32* taken, u32* errors) {
  __shared__ lockstep::Shared s;
  Gang<false> gang(v, s);
  for (u32 round = 0; round < 50; ++round) {
    const u64 at = gang.counter<1>().fetch_add(1);
    atomicAdd(taken + at, 1u);
    if (!gang.meet()) break;
    if (gang.total<1>() != lockstep::num_threads()) atomicAdd(errors, 1u);
    if (gang.total<0>() != 0) atomicAdd(errors, 1u);
    if (taken[lockstep::thread_id()] != round + 1) atomicAdd(errors, 1u);
    if (!gang.meet()) break;
    if (gang.total<1>() != 0) atomicAdd(errors, 1u);
  }
  gang.finish();
}

/// Counters of two parts, divided at a different bit on every PE: both sums are right, and all positions are different.
template <bool kMulti>
__global__ void queue_parts(const __grid_constant__ lockstep::View v, u32* taken, u32* errors) {
  __shared__ lockstep::Shared s;
  const int bits = 40 - 7 * v.me;
  Gang<kMulti, Op::high_part, Op::low_part, Op::sum> gang(v, s, bits);
  const u64 pes = static_cast<u64>(v.n_pes), threads = lockstep::num_threads(), blocks = gridDim.x;
  u64 slots = 0, held = 0;  // sums over all PEs
  for (u64 p = 0; p < pes; ++p) {
    slots += threads + blocks;
    held += threads * (p + 2) + 5 * blocks;
  }
  const auto expect = [&](bool right) {
    if (!right) atomicAdd(errors, 1u);
  };
  for (u32 round = 0; round < 50; ++round) {
    const u64 at = gang.template counter<0>().fetch_add((u64{1} << bits) + v.me + 2);
    atomicAdd(taken + (at >> bits), 1u);
    if (threadIdx.x == 3) gang.template add<0>((u64{1} << bits) + 5);
    gang.template add<2>(2);
    if (!gang.meet()) break;
    expect(gang.template own<0>() == threads + blocks && gang.template total<0>() == slots);
    expect(gang.template own<1>() == threads * (v.me + 2) + 5 * blocks && gang.template total<1>() == held);
    expect(gang.template total<2>() == 2 * threads * pes);
  }
  gang.finish();
}

class LockstepGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  }

  static std::vector<int> devices(pe_t n) {
    std::vector<int> out;
    for (pe_t p = 0; p < n; ++p) out.push_back(p % num_devices());
    return out;
  }

  /// @return the number of errors that the kernels counted
  u32 run(LockstepTeam& team, u32 barriers, int threads, int per_sm, u32 stop_at = 0, u32 lose_at = 0) {
    const pe_t pes = team.n_pes();
    const void* kernel =
        pes > 1 ? reinterpret_cast<const void*>(march<true>) : reinterpret_cast<const void*>(march<false>);
    std::vector<int> blocks = team.prepare(kernel, threads, 0, per_sm);
    std::fill(blocks.begin(), blocks.end(), *std::min_element(blocks.begin(), blocks.end()));
    std::vector<DeviceArray<u32>> boards, errors;
    Work work{};
    for (pe_t p = 0; p < pes; ++p) {
      DeviceGuard guard(team.device(p));
      boards.emplace_back(std::int64_t{blocks[p]} * pes, "board");
      errors.emplace_back(1, "errors");
      boards.back().fill_bytes(0);
      errors.back().fill_bytes(0);
      SHOAL_CUDA(cudaDeviceSynchronize());
      work.board[p] = boards.back().data();
    }
    work.barriers = barriers;
    work.stop_at = stop_at;
    work.lose_at = lose_at;
    std::vector<Work> works(pes, work);
    std::vector<KernelArgs> args;
    for (pe_t p = 0; p < pes; ++p) {
      works[p].errors = errors[p].data();
      args.push_back({const_cast<lockstep::View*>(&team.view(p)), &works[p]});
    }
    seconds_ = team.run(kernel, blocks, threads, 0, args);
    u32 sum = 0;
    for (auto& e : errors) {
      u32 n = 0;
      e.download(&n, 1);
      sum += n;
    }
    return sum;
  }

  static constexpr pe_t most_ = 4;  ///< most PEs to test; if there are fewer devices, PEs share them
  double seconds_ = 0;
};

TEST_F(LockstepGpuTest, ThousandsOfBarriers) {
  for (pe_t pes = 1; pes <= most_; ++pes) {
    LockstepTeam team(devices(pes), "march", 20);
    for (const int threads : {32, 96, 512, 1024}) {
      EXPECT_EQ(run(team, 3000, threads, 1), 0u) << pes << " PEs, " << threads << " threads";
    }
    EXPECT_EQ(run(team, 1000, 128, 0), 0u) << "as many blocks as fit";
    for (u32 barriers = 1; barriers < 8; ++barriers) {
      EXPECT_EQ(run(team, barriers, 64, 1), 0u);
      EXPECT_EQ(team.outcome(0).barriers, barriers);
    }
  }
}

TEST_F(LockstepGpuTest, TimeOfABarrier) {
  for (pe_t pes = 1; pes <= most_; ++pes) {
    LockstepTeam team(devices(pes), "barriers", 20);
    const void* kernel =
        pes > 1 ? reinterpret_cast<const void*>(only_meet<true>) : reinterpret_cast<const void*>(only_meet<false>);
    for (int threads : {128, 1024}) {
      const std::vector<int> blocks = team.prepare(kernel, threads, 0, 1);
      u32 barriers = 20000;
      std::vector<DeviceArray<u32>> errors;
      std::vector<u32*> errors_at(pes);
      std::vector<KernelArgs> args;
      for (pe_t p = 0; p < pes; ++p) {
        DeviceGuard guard(team.device(p));
        errors.emplace_back(1, "errors");
        errors.back().fill_bytes(0);
        SHOAL_CUDA(cudaDeviceSynchronize());
        errors_at[p] = errors.back().data();
        args.push_back({const_cast<lockstep::View*>(&team.view(p)), &barriers, &errors_at[p]});
      }
      const double seconds = team.run(kernel, blocks, threads, 0, args);
      std::printf("%d PEs, %d blocks of %4d: %.2f us a barrier\n", pes, blocks[0], threads, seconds * 1e6 / barriers);
      for (auto& e : errors) {
        u32 n = 1;
        e.download(&n, 1);
        EXPECT_EQ(n, 0u);
      }
    }
  }
}

TEST_F(LockstepGpuTest, CountersAreQueues) {
  LockstepTeam team(devices(1), "queue", 20);
  const void* kernel = reinterpret_cast<const void*>(queue_up);
  const std::vector<int> blocks = team.prepare(kernel, 256, 0, 2);
  DeviceArray<u32> taken(blocks[0] * 256, "taken"), errors(1, "errors");
  taken.fill_bytes(0);
  errors.fill_bytes(0);
  u32 *taken_at = taken.data(), *errors_at = errors.data();
  team.run(kernel, blocks, 256, 0, {KernelArgs{const_cast<lockstep::View*>(&team.view(0)), &taken_at, &errors_at}});
  u32 n = 1;
  errors.download(&n, 1);
  EXPECT_EQ(n, 0u);
}

TEST_F(LockstepGpuTest, CountersOfTwoParts) {
  for (pe_t pes = 1; pes <= most_; ++pes) {
    LockstepTeam team(devices(pes), "parts", 20);
    const void* kernel =
        pes > 1 ? reinterpret_cast<const void*>(queue_parts<true>) : reinterpret_cast<const void*>(queue_parts<false>);
    std::vector<int> blocks = team.prepare(kernel, 256, 0, 1);
    std::fill(blocks.begin(), blocks.end(), *std::min_element(blocks.begin(), blocks.end()));
    std::vector<DeviceArray<u32>> taken, errors;
    std::vector<std::array<u32*, 2>> at(pes);
    std::vector<KernelArgs> args;
    for (pe_t p = 0; p < pes; ++p) {
      DeviceGuard guard(team.device(p));
      taken.emplace_back(blocks[p] * 257, "taken");
      errors.emplace_back(1, "errors");
      taken.back().fill_bytes(0);
      errors.back().fill_bytes(0);
      SHOAL_CUDA(cudaDeviceSynchronize());
      at[p] = {taken.back().data(), errors.back().data()};
      args.push_back({const_cast<lockstep::View*>(&team.view(p)), &at[p][0], &at[p][1]});
    }
    team.run(kernel, blocks, 256, 0, args);
    for (pe_t p = 0; p < pes; ++p) {
      u32 n = 1;
      errors[p].download(&n, 1);
      EXPECT_EQ(n, 0u) << pes << " PEs, PE " << p;
      std::vector<u32> host(taken[p].size());
      taken[p].download(host.data(), taken[p].size());
      EXPECT_LE(*std::max_element(host.begin(), host.end()), 50u) << "a slot was given twice in a round";
    }
  }
}

TEST_F(LockstepGpuTest, AStopEndsEveryPe) {
  for (pe_t pes = 1; pes <= most_; ++pes) {
    LockstepTeam team(devices(pes), "march", 20);
    for (const u32 at : {1u, 2u, 100u}) {
      EXPECT_EQ(run(team, 1000, 256, 1, at), 0u);
      EXPECT_LE(team.outcome(0).barriers, at);
      for (pe_t p = 0; p < pes; ++p) EXPECT_EQ(team.outcome(p).end, 17u);
      EXPECT_EQ(run(team, 10, 256, 1), 0u) << "the team serves again";
      EXPECT_EQ(team.outcome(0).end, 0u);
    }
  }
}

TEST_F(LockstepGpuTest, ABlockThatLeavesIsAnError) {
  for (pe_t pes = 1; pes <= most_; ++pes) {
    LockstepTeam team(devices(pes), "march", 0.2);
    try {
      run(team, 100, 64, 1, 0, 5);
      FAIL() << "not noticed";
    } catch (const DeviceError& e) {
      EXPECT_NE(std::string(e.what()).find("waited longer than"), std::string::npos) << e.what();
    }
    EXPECT_EQ(run(team, 10, 64, 1), 0u) << "the team serves again";
  }
}

TEST_F(LockstepGpuTest, RefusesWhatItCannotDo) {
  EXPECT_THROW(LockstepTeam({}, "test"), UsageError);
  EXPECT_THROW(LockstepTeam({0}, "test", 0), UsageError);
  LockstepTeam team({0}, "test");
  EXPECT_THROW(team.prepare(reinterpret_cast<const void*>(march<false>), 1024, 100000000), Error);
  EXPECT_EQ(run(team, 10, 64, 1), 0u) << "the error does not affect the next run";
}

}  // namespace
}  // namespace shoal
