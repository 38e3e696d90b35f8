#include "shoal/program/grid_flags.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "shoal/core/error.hpp"
#include "shoal/program/run_flags.hpp"

namespace shoal {

void GridFlags::add_to(CLI::App& app) {
  const auto size = [&](const char* name, std::int64_t& value) {
    app.add_option(name, value, std::string("number of cells along ") + name)
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
  flag("--device", "KIND", device_, "auto (GPUs if there are any; in several processes CPU threads), cpu or gpu");
  flag("--pes", "N", machine_.pes,
       "processing elements (PEs) per process: GPUs, or groups of CPU threads (0: all GPUs, or one group of all "
       "threads)");
  flag("--pes-per-gpu", "N", machine_.pes_per_gpu,
       "most PEs that share a GPU (default: 1); more than 1 tests a run of many GPUs on few");
  flag("--engine", "NAME", machine_.engine,
       "how PEs reach each other: auto, self (one PE), threads (CPU threads of this process), peer (GPUs of this "
       "process) or openshmem (CPU threads, or GPUs of one host, of all processes that a launcher started)");
  flag("--threads", "N", machine_.threads, "CPU threads per PE (0: all threads of the machine, divided among the PEs)");

  group = "How it runs";
  flag("--odf", "N", grid_.odf,
       std::string("overdecomposition factor: number of blocks per PE (0: 1") +
           (of_grid ? ", or 2 for small grids on several GPUs), cut for least surface; on GPUs each PE has one part of "
                      "the grid, which is cut across X if possible"
                    : ")"));
  if (of_grid)
    flag("--blocks", "AxBxC", blocks_, "number of blocks along each dimension, in place of --odf")->excludes("--odf");
  flag("--mapping", "KIND", mapping_,
       "which PE has which blocks: block (the default: consecutive ones; grids on GPUs: as parts), round-robin, parts "
       "(each PE has one part of the whole, of least surface), or file:PATH (one PE number per line)");
  flag("--form", "KIND", form_,
       "auto, threads (on the CPU), resident (one kernel per GPU runs all steps) or kernels (the host launches kernels "
       "for each block and step)");
  flag("--fusion", "KIND", fusion_,
       "form kernels: what is fused into one kernel: auto, none, a (all packs of a block), b (also all unpacks of a "
       "block), c (the whole step of a block) or d (the whole step of all blocks of a PE)");
  flag("--halos", "KIND", halos_,
       "how halos reach other GPUs: direct (the default: packing stores into the other GPU's memory), or, in form "
       "kernels within one process, staged (copied through the host) or copied (copied from GPU to GPU)");
  app.add_flag("--urgent-packs", grid_.launch.urgent_packs,
               "form kernels with fusion none, a or b: pack and unpack in streams of their own, of high priority")
      ->group(group);
  flag("--graph", "N", grid_.launch.graph,
       "form kernels: steps per CUDA graph, an even number (0: no graphs; -1: chosen if the form is chosen, else no "
       "graphs)");
  flag("--stall-timeout", "SECONDS", machine_.stall_timeout_seconds,
       "end a run on GPUs, or of several processes, with an error after this time without progress (default: 10)");
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
      throw UsageError("--blocks '" + blocks_ + "' is not three numbers of at least 1, such as 4x2x1");
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
    throw UsageError("--graph " + std::to_string(steps) +
                     " is out of range: an even number of steps from 0 to 1000, or -1");
  }
  return options;
}

}  // namespace shoal
