// The common part of a baseline's subcommands: options, checks of their values, and the beginning of the JSON.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "commands.hpp"
#include "json_output.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/types.hpp"
#include "shoal/program/run_flags.hpp"
#include "shoal/world/devices.hpp"

namespace shoal::baselines {

class SharedCommands : public Commands {
 protected:
  SharedCommands(const Kind& kind, Processes& processes) : kind_(kind), processes_(processes) {}

  /// @param verify, stats  the help texts of these flags
  void add_shared_options(CLI::App& command, const char* verify, const char* stats) {
    if (kind_.on_gpus) {
      command.add_option("--gpus", per_process_, "ranks of each process, one per GPU")
          ->check(whole_number<int>)
          ->type_name("N");
    }
    command.add_flag("--verify", verify_, verify);
    command.add_flag("--stats", stats_, stats);
    command.add_flag("--quiet", quiet_, "no table");
    json_.add_to(command, "options, machine, trials and times", "");
    command.footer(kind_.footer);
  }
  /// @throws UsageError
  void check_numbers(int trials) const {
    if (trials < 1 || trials > 1'000'000) throw UsageError("--trials is a number from 1 to 1,000,000");
    if (per_process_ < 1 || per_process_ > kMaxPes) {
      throw UsageError("--gpus is a number from 1 to " + std::to_string(kMaxPes));
    }
  }

  bool prints() const { return processes_.rank == 0 && !quiet_ && !json_.to_stdout(); }
  int num_ranks() const { return processes_.size * per_process_; }

  cli::Json begin_json(const char* command) const {
    cli::Json json = cli::Json::parse(machine_to_json());
    json["program"] = kind_.name;
    json["command"] = command;
    kind_.describe(json);
    json["ranks"] = num_ranks();
    json["ranks_on_this_machine"] = processes_.on_host * per_process_;
    if (kind_.on_gpus) json["processes"] = processes_.size;
    json["options"]["verify"] = verify_;
    if (kind_.on_gpus) json["options"]["gpus"] = per_process_;
    return json;
  }

  const Kind& kind_;
  Processes& processes_;
  int per_process_ = 1;  ///< ranks
  bool verify_ = false, stats_ = false, quiet_ = false;
  cli::JsonOutput json_;
};

}  // namespace shoal::baselines
