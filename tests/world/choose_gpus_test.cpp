// Which GPUs a run gets, on machines whose pairs of GPUs differ in their peer access.
#include "world/choose_gpus.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shoal/core/error.hpp"

namespace shoal {
namespace {

/// One row for each GPU, as `shoal doctor` prints them. A: loads, stores and atomics; y: loads and stores; -: no peer access.
std::vector<DeviceInfo> gpus(const std::vector<std::string>& rows) {
  std::vector<DeviceInfo> found;
  for (const std::string& row : rows) {
    DeviceInfo info;
    info.index = static_cast<int>(found.size());
    for (const char c : row) {
      info.reaches.push_back(c != '-');
      info.reaches_atomics.push_back(c == 'A');
    }
    found.push_back(info);
  }
  return found;
}

using Devices = std::vector<int>;

void expect(const GpuChoice& choice, const Devices& devices, const std::string& why) {
  EXPECT_EQ(choice.devices, devices);
  EXPECT_EQ(choice.why, why);
}

void expect_refused(const std::vector<std::string>& rows, pe_t pes, pe_t pes_per_gpu, const std::string& message) {
  try {
    choose_gpus(gpus(rows), pes, pes_per_gpu, false);
    ADD_FAILURE() << "taken, in place of: " << message;
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

const std::vector<std::string> kNvlink = {"AAAA", "AAAA", "AAAA", "AAAA"};  // GPUs on one switch
const std::vector<std::string> kPcie = {"Ay", "yA"};                        // peers whose link has no atomics
const std::vector<std::string> kStrangers = {"A-", "-A"};
const std::vector<std::string> kPairs = {"AA--", "AA--", "--AA", "--AA"};  // two pairs, each with a bridge
const std::vector<std::string> kOneWay = {"AA", "yA"};

TEST(ChooseGpus, AllThatAreThereUnlessTheWorkIsSmall) {
  expect(choose_gpus(gpus(kNvlink), 0, 1, false), {0, 1, 2, 3}, "all GPUs");
  expect(choose_gpus(gpus(kNvlink), 0, 1, true), {0}, "several GPUs would take longer than one on this graph");
  expect(choose_gpus(gpus({"A"}), 0, 1, false), {0}, "all GPUs");
  expect(choose_gpus(gpus({"A"}), 0, 1, true), {0}, "all GPUs");
}

TEST(ChooseGpus, AsManyAsWereAskedFor) {
  expect(choose_gpus(gpus(kNvlink), 3, 1, false), {0, 1, 2}, "asked for");
  expect(choose_gpus(gpus(kNvlink), 3, 1, true), {0, 1, 2}, "asked for");
  expect(choose_gpus(gpus(kPairs), 2, 1, false), {0, 1}, "asked for");
  for (const auto& rows : {kNvlink, kPcie, kStrangers, kPairs, kOneWay}) {
    expect(choose_gpus(gpus(rows), 1, 1, false), {0}, "asked for");
  }
  expect_refused(kNvlink, 5, 1,
                 "5 PEs wanted, 4 GPUs found; use --pes 4, --pes-per-gpu 2 to let PEs share a GPU, or "
                 "--device cpu");
  expect_refused({"A"}, 8, 2, "8 PEs wanted, 1 GPU found for 2 PEs each; use --pes 2 or --device cpu");
}

TEST(ChooseGpus, PesThatShareAGpu) {
  expect(choose_gpus(gpus(kNvlink), 6, 2, false), {0, 1, 2, 0, 1, 2}, "asked for, up to 2 on each");
  expect(choose_gpus(gpus(kPairs), 3, 2, false), {0, 1, 0}, "asked for, up to 2 on each");
  expect(choose_gpus(gpus({"A"}), 0, 4, true), {0, 0, 0, 0}, "all GPUs, up to 4 on each");
  expect(choose_gpus(gpus(kStrangers), 2, 2, false), {0, 0}, "asked for, up to 2 on each");
}

TEST(ChooseGpus, GpusThatCannotMeetAreLeftOut) {
  const std::string need = ", which PEs on several GPUs need";
  expect(choose_gpus(gpus(kStrangers), 0, 1, false), {0}, "GPU 0 has no access to the memory of GPU 1" + need);
  expect(choose_gpus(gpus(kPcie), 0, 1, false), {0}, "GPU 0 has no native atomics in the memory of GPU 1" + need);
  expect(choose_gpus(gpus(kOneWay), 0, 1, false), {0}, "GPU 1 has no native atomics in the memory of GPU 0" + need);
  expect(choose_gpus(gpus(kPairs), 0, 1, false), {0}, "GPU 0 has no access to the memory of GPU 2" + need);
  expect(choose_gpus(gpus(kPcie), 0, 3, false), {0, 0, 0},
         "GPU 0 has no native atomics in the memory of GPU 1" + need + ", up to 3 on each");
  expect(choose_gpus(gpus(kPcie), 0, 1, true), {0}, "several GPUs would take longer than one on this graph");
}

TEST(ChooseGpus, SeveralThatCannotMeetAreRefusedWithTheCure) {
  const std::string ours = " or name GPUs that have it in CUDA_VISIBLE_DEVICES (`shoal doctor` shows which)";
  expect_refused(kPcie, 2, 1,
                 "GPU 0 has no native atomics in the memory of GPU 1, which PEs on several GPUs need; use --pes 1, "
                 "--pes-per-gpu 2 to let the PEs share a GPU," +
                     ours);
  expect_refused(kStrangers, 2, 1,
                 "GPU 0 has no access to the memory of GPU 1, which PEs on several GPUs need; use --pes 1, "
                 "--pes-per-gpu 2 to let the PEs share a GPU," +
                     ours);
  expect_refused(kOneWay, 3, 2,
                 "GPU 1 has no native atomics in the memory of GPU 0, which PEs on several GPUs need; use --pes 2, "
                 "--pes-per-gpu 3 to let the PEs share a GPU," +
                     ours);
  expect_refused(kPairs, 8, 2,
                 "GPU 0 has no access to the memory of GPU 2, which PEs on several GPUs need; use --pes 2" + ours);
}

GpuChoice of_process(const std::vector<std::string>& rows, pe_t pes, pe_t pes_per_gpu, int process, int processes) {
  return choose_gpus(gpus(rows), pes, pes_per_gpu, ProcessOfHost{process, processes});
}

TEST(ChooseGpus, EachProcessTakesTheNext) {
  expect(of_process(kNvlink, 0, 1, 0, 4), {0}, "one for each process");
  expect(of_process(kNvlink, 0, 1, 3, 4), {3}, "one for each process");
  expect(of_process(kNvlink, 2, 1, 1, 2), {2, 3}, "asked for");
  expect(of_process(kNvlink, 1, 1, 1, 2), {1}, "asked for");
  expect(of_process(kPairs, 1, 1, 1, 2), {1}, "asked for");  // the GPUs that are used reach each other
}

TEST(ChooseGpus, ProcessesShareAGpuOnlyWhereTheyMust) {
  const std::string turns = ", on a GPU that processes take turns on";
  expect(of_process({"A"}, 0, 2, 0, 2), {0}, "one for each process" + turns);
  expect(of_process({"A"}, 0, 2, 1, 2), {0}, "one for each process" + turns);
  expect(of_process(kNvlink, 2, 2, 1, 2), {1, 1}, "asked for");  // one GPU for each process
  expect(of_process(kNvlink, 3, 2, 0, 2), {0, 0, 1}, "asked for" + turns);
  expect(of_process(kNvlink, 3, 2, 1, 2), {1, 2, 2}, "asked for" + turns);
}

TEST(ChooseGpus, ProcessesThatAreTooManyOrCannotMeetAreRefused) {
  const auto refused = [](const std::vector<std::string>& rows, pe_t pes, pe_t pes_per_gpu, int processes,
                          const std::string& message) {
    for (int process = 0; process < processes; ++process) {
      try {
        of_process(rows, pes, pes_per_gpu, process, processes);
        ADD_FAILURE() << "taken, in place of: " << message;
      } catch (const UsageError& error) {
        EXPECT_EQ(std::string(error.what()), message);
      }
    }
  };
  refused({"A"}, 0, 1, 2,
          "2 processes with 1 PE each need 2 GPUs, but this host has 1; use fewer processes, or --device cpu, or "
          "--pes-per-gpu 2 to let them share a GPU (they take turns)");
  refused(kNvlink, 2, 1, 4,
          "4 processes with 2 PEs each need 8 GPUs, but this host has 4; use fewer processes, or --device cpu, or "
          "--pes-per-gpu 2 to let them share a GPU (they take turns)");
  refused({"A"}, 3, 4, 2,
          "2 processes with 3 PEs each need 2 GPUs, but this host has 1; use fewer processes, or --device cpu");
  refused(
      kStrangers, 0, 1, 2,
      "GPU 0 has no access to the memory of GPU 1, which 2 processes with 1 PE each need; use --device cpu, or "
      "--pes-per-gpu 2 to let them share a GPU (they take turns); with SHOAL_GPU_WIRE=nccl, bfs and pagerank do not "
      "need it");
  refused(
      kPairs, 2, 1, 2,
      "GPU 0 has no access to the memory of GPU 2, which 2 processes with 2 PEs each need; use --device cpu, or "
      "--pes-per-gpu 4 to let them share a GPU (they take turns); with SHOAL_GPU_WIRE=nccl, bfs and pagerank do not "
      "need it");
}

TEST(ChooseGpus, WhereProcessesAreApartOnlyThoseOfEachMustMeet) {
  const auto apart = [](const std::vector<std::string>& rows, pe_t pes, pe_t pes_per_gpu, int process) {
    return choose_gpus(gpus(rows), pes, pes_per_gpu, ProcessOfHost{process, 2, /*apart=*/true});
  };
  expect(apart(kStrangers, 0, 1, 0), {0}, "one for each process");
  expect(apart(kStrangers, 1, 1, 1), {1}, "asked for");
  expect(apart(kPairs, 2, 1, 1), {2, 3}, "asked for");
  const auto refused = [&](const std::vector<std::string>& rows, pe_t pes, pe_t pes_per_gpu,
                           const std::string& message) {
    try {
      apart(rows, pes, pes_per_gpu, 0);
      ADD_FAILURE() << "taken, in place of: " << message;
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()), message);
    }
  };
  refused({"A"}, 0, 1,
          "2 processes with 1 PE each need 2 GPUs, but this host has 1; use fewer processes, or --device cpu");
  refused(kNvlink, 2, 2,
          "--pes-per-gpu 2: NCCL, which connects the GPUs of several processes, refuses PEs that share a GPU; leave it "
          "out");
  refused(
      {"A---", "-A--", "--AA", "--AA"}, 2, 1,
      "GPU 0 has no access to the memory of GPU 1, which PEs of one process need; use more processes, with --pes 1");
}

}  // namespace
}  // namespace shoal
