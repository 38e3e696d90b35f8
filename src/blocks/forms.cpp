#include "shoal/blocks/forms.hpp"

#include "shoal/core/error.hpp"
#include "shoal/core/kinds.hpp"

namespace shoal {
namespace {

constexpr Named<BlockForm> kForms[] = {{BlockForm::automatic, "auto"},
                                       {BlockForm::threads, "threads"},
                                       {BlockForm::resident, "resident"},
                                       {BlockForm::kernels, "kernels"}};
constexpr Named<Fusion> kFusions[] = {{Fusion::automatic, "auto"},
                                      {Fusion::none, "none"},
                                      {Fusion::a, "a"},
                                      {Fusion::b, "b"},
                                      {Fusion::c, "c"},
                                      {Fusion::d, "d"}};
constexpr Named<Halos> kHalos[] = {{Halos::direct, "direct"}, {Halos::staged, "staged"}, {Halos::copied, "copied"}};

/// The reason why `options` need the form `kernels`; empty: they do not need it.
std::string wants_kernels(const LaunchOptions& options) {
  if (options.urgent_packs) return "urgent packs need kernels of their own";
  return options.halos == Halos::direct ? ""
                                        : std::string("halos ") + name(options.halos) + " need copies between kernels";
}

}  // namespace

const char* name(BlockForm form) { return name_of(kForms, form); }
const char* name(Fusion fusion) { return name_of(kFusions, fusion); }
const char* name(Halos halos) { return name_of(kHalos, halos); }
BlockForm parse_block_form(const std::string& text) { return kind_of(kForms, "form", text); }
Fusion parse_fusion(const std::string& text) { return kind_of(kFusions, "fusion", text); }
Halos parse_halos(const std::string& text) { return kind_of(kHalos, "halos", text); }

LaunchOptions decide_launch(LaunchOptions options, const BlockSizes& sizes, Decisions& chosen) {
  std::string why;
  const std::string wanted = wants_kernels(options);
  const bool open = options.form == BlockForm::automatic;
  if (open) {
    // One H200 (docs/decisions/0043-blocks-side-by-side.md): if each tile has a worker of its own, resident blocks are a fifth
    // faster than kernels in graphs; if workers have several tiles, they are slower. Two H100
    // (docs/decisions/0045-blocks-between-gpus.md): kernels take 0.92 of the time of resident blocks if nearly every worker has a
    // tile (192^3), and 1.15 if few workers have one (64^3).
    const std::uint64_t kept = sizes.pes == 1 ? sizes.workers : sizes.workers / 4 * 3;
    const bool kernels = sizes.on_gpu && !options.weigh && (sizes.tiles > kept || !wanted.empty());
    options.form = !sizes.on_gpu ? BlockForm::threads : kernels ? BlockForm::kernels : BlockForm::resident;
    if (sizes.on_gpu) {
      why = !wanted.empty() && kernels ? wanted
            : options.weigh            ? "balancing needs the time of each block, which form kernels does not measure"
            : kernels                  ? "GPUs have many tiles: no form is faster than kernels in graphs"
            : sizes.pes == 1           ? "each tile has a worker of its own"
                                       : "several PEs synchronize without the host";
    }
  } else if ((options.form == BlockForm::threads) == sizes.on_gpu) {
    throw UsageError(std::string("form ") + name(options.form) + " is for " + (sizes.on_gpu ? "CPU threads" : "GPUs") +
                     ", but this run is on " + (sizes.on_gpu ? "GPUs" : "CPU threads") + "; use --form auto");
  } else if (options.weigh && options.form == BlockForm::kernels) {
    throw UsageError("form kernels does not measure the time of each block, which balancing needs; use --form auto");
  }
  chosen.push_back({"form", name(options.form), why});
  if (options.form != BlockForm::kernels) {
    if (wanted.empty()) return options;
    throw UsageError(wanted + ", but the form is " + name(options.form) +
                     (sizes.on_gpu ? "; use --form kernels" : ", the only one on CPU threads; use --device gpu"));
  }
  std::string why_fused;
  if (options.fusion == Fusion::automatic && options.urgent_packs) {
    options.fusion = Fusion::b;
    why_fused = "urgent packs need kernels of their own";
  }
  if (options.fusion == Fusion::automatic) {
    // One H200 (docs/decisions/0043-blocks-side-by-side.md): one kernel for all blocks needs one launch and ends once. A kernel
    // per block runs concurrently with those of other blocks, which fill the GPU while the last tiles of one of them finish.
    const bool one_turn = sizes.tiles <= sizes.workers;
    options.fusion = one_turn ? Fusion::d : Fusion::c;
    why_fused = one_turn ? "all tiles of a step run at the same time" : "blocks run concurrently";
  }
  chosen.push_back({"fusion", name(options.fusion), why_fused});
  if (options.urgent_packs) {
    if (options.fusion == Fusion::c || options.fusion == Fusion::d) {
      throw UsageError(std::string("urgent packs need kernels of their own, but fusion ") + name(options.fusion) +
                       " has none; use --fusion none, a or b");
    }
    chosen.push_back({"packs", "urgent", "in streams of their own"});
  }
  if (options.halos != Halos::direct) chosen.push_back({"halos", name(options.halos), "halos between PEs are copied"});
  const bool found = options.graph < 0;
  if (found) options.graph = open ? 20 : 0;
  chosen.push_back({"graph", options.graph > 0 ? std::to_string(options.graph) + " steps" : "none",
                    found && open ? "one launch for many kernels" : ""});
  return options;
}

}  // namespace shoal
