#include "shoal/worklist/rendezvous.hpp"

#include <algorithm>

#include "shoal/core/text.hpp"

namespace shoal {

std::string missed_rendezvous(const std::vector<PeSnapshot>& pes, const std::vector<int>& devices,
                              double waited_seconds, double deadline_seconds) {
  if (waited_seconds <= deadline_seconds) return "";
  if (std::any_of(pes.begin(), pes.end(), [](const PeSnapshot& pe) { return pe.state != 0; })) return "";
  std::string missing;
  std::size_t most = 0;  // most PEs on any GPU on which a PE is missing
  for (std::size_t p = 0; p < pes.size(); ++p) {
    if (pes[p].begun) continue;
    missing += (missing.empty() ? "" : ", ") + std::string("PE ") + std::to_string(p) + " on GPU " +
               std::to_string(devices[p]);
    most = std::max<std::size_t>(most, std::count(devices.begin(), devices.end(), devices[p]));
  }
  if (missing.empty()) return "";
  return "kernels that had not begun after " + exact(deadline_seconds) + " s: " + missing +
         "; all kernels of a run must be on their GPUs at the same time; " +
         (most > 1 ? "use fewer PEs per GPU (--pes-per-gpu) or fewer --workers, and see with nvidia-smi"
                   : "see with nvidia-smi") +
         " whether other programs hold the GPU";
}

}  // namespace shoal
