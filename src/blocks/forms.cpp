#include "shoal/blocks/forms.hpp"

#include "shoal/core/error.hpp"
#include "shoal/core/kinds.hpp"

namespace shoal {
namespace {

constexpr Named<BlockForm> kForms[] = {{BlockForm::automatic, "auto"},
                                       {BlockForm::threads, "threads"},
                                       {BlockForm::resident, "resident"},
                                       {BlockForm::kernels, "kernels"}};
constexpr Named<Fusion> kFusions[] = {{Fusion::none, "none"}, {Fusion::a, "a"}, {Fusion::b, "b"}, {Fusion::c, "c"}};

}  // namespace

const char* name(BlockForm form) { return name_of(kForms, form); }
const char* name(Fusion fusion) { return name_of(kFusions, fusion); }
BlockForm parse_block_form(const std::string& text) { return kind_of(kForms, "form", text); }
Fusion parse_fusion(const std::string& text) { return kind_of(kFusions, "fusion", text); }

LaunchOptions decide_launch(LaunchOptions options, const BlockSizes& sizes, Decisions& chosen) {
  std::string why;
  const bool open = options.form == BlockForm::automatic;
  if (open) {
    // On one H200 kernels in graphs are as fast as resident ones where blocks are large, and faster where they are small
    // (bench/results/blocks_1xh200.txt). On several GPUs neither has been timed.
    const bool kernels = sizes.on_gpu && sizes.pes == 1;
    options.form = !sizes.on_gpu ? BlockForm::threads : kernels ? BlockForm::kernels : BlockForm::resident;
    if (sizes.on_gpu)
      why =
          kernels ? "in graphs as fast as any, and faster where blocks are small" : "several PEs meet without the host";
  } else if ((options.form == BlockForm::threads) == sizes.on_gpu) {
    throw UsageError(std::string("form ") + name(options.form) + " is for " + (sizes.on_gpu ? "CPU threads" : "GPUs") +
                     ", and this run is on " + (sizes.on_gpu ? "GPUs" : "CPU threads") + "; use --form auto");
  }
  chosen.push_back({"form", name(options.form), why});
  if (options.form != BlockForm::kernels) return options;
  chosen.push_back({"fusion", name(options.fusion), ""});
  const bool found = options.graph < 0;
  if (found) options.graph = open ? 20 : 0;
  chosen.push_back({"graph", options.graph > 0 ? std::to_string(options.graph) + " steps" : "none",
                    found && open ? "one launch for many kernels" : ""});
  return options;
}

}  // namespace shoal
