#include "shoal/program/grid_flags.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "shoal/core/error.hpp"
#include "shoal/program/run_flags.hpp"

namespace shoal {

void GridFlags::add_to(CLI::App& app) {
  const auto size = [&](const char* name, std::int64_t& value) {
    app.add_option(name, value, std::string("cells along ") + name)
        ->required()
        ->check(whole_number<std::int64_t>)
        ->type_name("N");
  };
  size("X", size_.x);
  size("Y", size_.y);
  size("Z", size_.z);
  add_where_and_how(app, true);
}

void GridFlags::add_where_and_how(CLI::App& app, bool of_grid) {
  const char* group = "Where it runs";
  const auto flag = [&](const char* name, const char* type, auto& value, const std::string& text) {
    CLI::Option* option = app.add_option(name, value, text)->group(group)->type_name(type);
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_integral_v<Value>) option->check(whole_number<Value>);
    return option;
  };
  flag("--device", "KIND", device_, "auto, cpu or gpu");
  flag("--pes", "N", machine_.pes,
       "processing elements of a process: GPUs, or groups of CPU threads (0: all GPUs, or one group)");
  flag("--pes-per-gpu", "N", machine_.pes_per_gpu,
       "PEs that share a GPU: more than one tries a run of many GPUs on few");
  flag(
      "--engine", "NAME", machine_.engine,
      "auto, self (one PE), threads (CPU), peer (GPUs of this process), openshmem (CPU threads of all processes that a "
      "launcher started)");
  flag("--threads", "N", machine_.threads, "CPU threads per PE (0: the machine's, shared among the PEs)");

  group = "How it runs";
  flag("--odf", "N", grid_.odf,
       std::string("overdecomposition factor: blocks per PE") +
           (of_grid ? ", of least surface; on GPUs a part of the grid for each, cut across X (0: 1, or on several GPUs "
                      "what was fastest for so many cells)"
                    : " (0: 1)"));
  if (of_grid) flag("--blocks", "AxBxC", blocks_, "blocks along each dimension, in place of --odf")->excludes("--odf");
  flag("--mapping", "KIND", mapping_,
       "which PE has which block: block (consecutive ones together; on GPUs as parts), round-robin, parts (each PE has "
       "those of a part of least surface), or file:PATH (one PE number per line)");
  flag("--form", "KIND", form_,
       "auto, threads (CPU), resident (one kernel per GPU for all steps), or kernels (some for each block and step)");
  flag("--fusion", "KIND", fusion_,
       "form kernels: auto, none, a (packs are one kernel), b (and unpacks are one), c (a block's step is one) or d "
       "(that of all of a PE's blocks is one)");
  flag("--halos", "KIND", halos_,
       "form kernels, between GPUs of a process: direct (who packs stores into the other GPU's memory), staged (copied "
       "by way of "
       "the host) or copied (from GPU to GPU)");
  app.add_flag(
         "--urgent-packs", grid_.launch.urgent_packs,
         "form kernels with fusion none, a or b: what packs and unpacks is in streams of its own, of high priority")
      ->group(group);
  flag("--graph", "N", grid_.launch.graph,
       "form kernels: so many steps are one CUDA graph, an even number (0: none; -1: none, or what auto finds)");
  flag("--stall-timeout", "SECONDS", machine_.stall_timeout_seconds,
       "seconds without progress that end a run on GPUs, or of several processes, in an error");
}

Options GridFlags::machine() const {
  Options options = machine_;
  options.device = parse_device(device_);
  check_options(options);
  return options;
}

GridOptions GridFlags::grid() const {
  GridOptions options = grid_;
  if (!blocks_.empty()) {
    long long x = 0, y = 0, z = 0;
    char more = 0;
    if (std::sscanf(blocks_.c_str(), "%lldx%lldx%lld%c", &x, &y, &z, &more) != 3 || x < 1 || y < 1 || z < 1) {
      throw UsageError("--blocks '" + blocks_ + "' is not three numbers from 1 on, such as 4x2x1");
    }
    options.blocks = {x, y, z};
  }
  options.mapping = parse_mapping(mapping_);
  mapping_file_ = options.mapping.file;
  options.launch.form = parse_block_form(form_);
  options.launch.fusion = parse_fusion(fusion_);
  options.launch.halos = parse_halos(halos_);
  options.launch.stall_timeout_seconds = machine_.stall_timeout_seconds;
  const int steps = options.launch.graph;
  if (steps != -1 && (steps < 0 || steps > 1000 || steps % 2 != 0)) {
    throw UsageError("--graph " + std::to_string(steps) + ": an even number of steps from 0 to 1000 is wanted, or -1");
  }
  return options;
}

}  // namespace shoal
