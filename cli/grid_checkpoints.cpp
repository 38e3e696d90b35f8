#include "grid_checkpoints.hpp"

#include <utility>

#include "shoal/core/error.hpp"
#include "shoal/data/pending_file.hpp"
#include "shoal/program/run_flags.hpp"

namespace shoal::cli {

void GridCheckpoints::add_to(CLI::App& app, const char* group) {
  app.add_option("--checkpoint", file_,
                 "write states for --restart to this file; a new one replaces the old one only when it is complete")
      ->group(group)
      ->type_name("FILE")
      ->check(not_empty);
  app.add_option("--checkpoint-every", every_, "write one every N iterations, and one at the end (0: only at the end)")
      ->group(group)
      ->check(whole_number<std::int64_t>)
      ->type_name("N")
      ->capture_default_str();
  app.add_option(
         "--restart", restart_,
         "continue from this checkpoint, on any number of PEs; --iterations includes those before the checkpoint")
      ->group(group)
      ->type_name("FILE")
      ->check(not_empty);
}

void GridCheckpoints::read(int trials) const {
  if (every_ < 0) throw UsageError("--checkpoint-every " + std::to_string(every_) + " is negative; use 0 or more");
  if (every_ > 0 && file_.empty()) {
    throw UsageError("--checkpoint-every says how often to write a checkpoint, but not where; add --checkpoint FILE");
  }
  if (trials > 1 && !(file_.empty() && restart_.empty())) {
    throw UsageError("--trials " + std::to_string(trials) +
                     " begins again each time, but --checkpoint and --restart continue one run; leave out --trials");
  }
}

void GridCheckpoints::open(const std::string& what, std::int64_t iterations, Size3& blocks) {
  what_ = what;
  if (!restart_.empty()) {
    from_.emplace(restart_);
    const CheckpointHead& head = from_->head();
    if (head.what != what) {
      throw UsageError("checkpoint " + restart_ + " is of " + head.what + ", but this run is of " + what +
                       "; use the same size and values");
    }
    if (blocks.x > 0 && !(blocks == head.blocks)) {
      throw UsageError("--blocks: checkpoint " + restart_ +
                       " has other blocks, which a restart keeps; leave out --blocks");
    }
    if (head.steps > iterations) {
      throw UsageError("checkpoint " + restart_ + " has taken " + std::to_string(head.steps) +
                       " iterations, more than --iterations " + std::to_string(iterations) + "; use a larger number");
    }
    blocks = head.blocks;
  }
  if (!file_.empty() && speaks_) io::PendingFile{file_};  // a place that cannot be written is found now
}

std::optional<std::int64_t> GridCheckpoints::restarted_after() const {
  return from_ ? std::optional(from_->head().steps) : std::nullopt;
}

template <class T>
void GridCheckpoints::begin(GridSteps<T>& grid) {
  if (!from_) return grid.start();
  from_->read([&](const BytesIn& in) { grid.load(from_->head().steps, in); });
}
template void GridCheckpoints::begin(GridSteps<float>&);
template void GridCheckpoints::begin(GridSteps<double>&);

template <class T>
void GridCheckpoints::store(const GridSteps<T>& grid) const {
  if (file_.empty()) return;
  if (!speaks_) return grid.save([](const void*, std::size_t) {});
  write_checkpoint(file_, {what_, grid.cut(), grid.steps()}, [&](const BytesOut& out) { grid.save(out); });
}
template void GridCheckpoints::store(const GridSteps<float>&) const;
template void GridCheckpoints::store(const GridSteps<double>&) const;

}  // namespace shoal::cli
