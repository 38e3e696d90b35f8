#include "choose_gpus.hpp"

#include <algorithm>

#include "shoal/core/error.hpp"

namespace shoal {
namespace {

/// Describes an access that one of GPUs [first, end) does not have to another; empty if each can access every other.
std::string lacking(const std::vector<DeviceInfo>& found, pe_t first, pe_t end) {
  for (pe_t gpu = first; gpu < end; ++gpu) {
    for (pe_t other = first; other < end; ++other) {
      if (found[gpu].reaches_atomics[other]) continue;
      const char* what = found[gpu].reaches[other] ? " has no native atomics in the memory of GPU "
                                                   : " has no access to the memory of GPU ";
      return "GPU " + std::to_string(gpu) + what + std::to_string(other);
    }
  }
  return "";
}

[[noreturn]] void too_many(pe_t pes, pe_t gpus, pe_t pes_per_gpu) {
  const pe_t share = (pes + gpus - 1) / gpus;
  throw UsageError(
      std::to_string(pes) + " PEs wanted, " + std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs") + " found" +
      (pes_per_gpu > 1 ? " for " + std::to_string(pes_per_gpu) + " PEs each" : "") + "; use --pes " +
      std::to_string(gpus * pes_per_gpu) +
      (share <= kMaxPesPerGpu ? ", --pes-per-gpu " + std::to_string(share) + " to let PEs share a GPU," : "") +
      " or --device cpu");
}

[[noreturn]] void cannot_meet(pe_t pes, pe_t pes_per_gpu, const std::string& lack) {
  throw UsageError(
      lack + ", which PEs on several GPUs need; use --pes " + std::to_string(pes_per_gpu) +
      (pes <= kMaxPesPerGpu ? ", --pes-per-gpu " + std::to_string(pes) + " to let the PEs share a GPU," : "") +
      " or name GPUs that have it in CUDA_VISIBLE_DEVICES (`shoal doctor` shows which)");
}

}  // namespace

GpuChoice choose_gpus(const std::vector<DeviceInfo>& found, pe_t pes, pe_t pes_per_gpu, bool one_gpu) {
  const pe_t gpus = static_cast<pe_t>(found.size()), most = gpus * pes_per_gpu;
  if (pes > most) too_many(pes, gpus, pes_per_gpu);
  GpuChoice choice;
  pe_t n_pes = pes > 0 ? pes : std::min(most, kMaxPes);
  const auto used = [&] { return (n_pes + pes_per_gpu - 1) / pes_per_gpu; };
  const std::string lack = lacking(found, 0, used());
  if (pes > 0) {
    if (!lack.empty()) cannot_meet(pes, pes_per_gpu, lack);
    choice.why = "asked for";
  } else if (one_gpu && pes_per_gpu == 1 && gpus > 1) {
    n_pes = 1;
    choice.why = "several GPUs would take longer than one on this graph";
  } else if (!lack.empty()) {
    n_pes = pes_per_gpu;
    choice.why = lack + ", which PEs on several GPUs need";
  } else {
    choice.why = "all GPUs";
  }
  for (pe_t p = 0; p < n_pes; ++p) choice.devices.push_back(p % used());
  const auto sharing = std::count(choice.devices.begin(), choice.devices.end(), 0);  // the first GPU has the most
  if (sharing > 1) choice.why += ", up to " + std::to_string(sharing) + " on each";
  return choice;
}

GpuChoice choose_gpus(const std::vector<DeviceInfo>& found, pe_t pes, pe_t pes_per_gpu, const ProcessOfHost& process) {
  const pe_t each = std::max<pe_t>(pes, 1), gpus = static_cast<pe_t>(found.size());
  const pe_t all = each * static_cast<pe_t>(process.processes), used = (all + pes_per_gpu - 1) / pes_per_gpu;
  const std::string they = std::to_string(process.processes) + " processes with " + std::to_string(each) +
                           (each == 1 ? " PE each" : " PEs each");
  if (process.apart && pes_per_gpu > 1) {
    throw UsageError(
        "--pes-per-gpu " + std::to_string(pes_per_gpu) +
        ": NCCL, which connects the GPUs of several processes, refuses PEs that share a GPU; leave it out");
  }
  const auto share = [&](pe_t on) {
    return on <= kMaxPesPerGpu && !process.apart
               ? ", or --pes-per-gpu " + std::to_string(on) + " to let them share a GPU (they take turns)"
               : std::string();
  };
  if (used > gpus) {
    throw UsageError(they + " need " + std::to_string(used) + " GPUs, but this host has " + std::to_string(gpus) +
                     "; use fewer processes, or --device cpu" + share((all + gpus - 1) / gpus));
  }
  const pe_t first = each * static_cast<pe_t>(process.process);
  if (process.apart) {
    const std::string lack = lacking(found, first, first + each);
    if (!lack.empty()) throw UsageError(lack + ", which PEs of one process need; use more processes, with --pes 1");
  } else if (const std::string lack = lacking(found, 0, used); !lack.empty()) {
    throw UsageError(lack + ", which " + they + " need; use --device cpu" + share(all) +
                     "; with SHOAL_GPU_WIRE=nccl, bfs and pagerank do not need it");
  }
  GpuChoice choice;
  choice.why = pes > 0 ? "asked for" : "one for each process";
  for (pe_t p = first; p < first + each; ++p) choice.devices.push_back(p / pes_per_gpu);
  const bool before = first > 0 && (first - 1) / pes_per_gpu == choice.devices.front();
  const bool after = first + each < all && (first + each) / pes_per_gpu == choice.devices.back();
  if (before || after) choice.why += ", on a GPU that processes take turns on";
  return choice;
}

}  // namespace shoal
