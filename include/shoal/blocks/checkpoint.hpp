// Blocks in a file, whole or not at all: what a run goes on with after its process has ended, on as many PEs as one likes.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/mapping.hpp"

namespace shoal {

/// What a file holds.
struct CheckpointHead {
  std::string what;  ///< the program and all that its values depend on but the steps
  Size3 blocks;      ///< along each dimension
  std::int64_t steps = 0;
};

/// Writes a file in place of the one of its name, which stays until this one is whole and durable (io::PendingFile).
/// @param body  writes the blocks
/// @throws FileError
void write_checkpoint(const std::string& file, const CheckpointHead& head,
                      const std::function<void(const BytesOut&)>& body);

/// Reads it.
class CheckpointFile {
 public:
  /// @throws FileError; UsageError  not such a file
  explicit CheckpointFile(const std::string& file);
  ~CheckpointFile();
  const CheckpointHead& head() const { return head_; }
  /// Once. @param body  reads the blocks
  /// @throws UsageError  the file is shorter or longer, has other bits than were written, or does not fit, as `body` says; FileError
  void read(const std::function<void(const BytesIn&)>& body);

 private:
  struct Open;
  [[noreturn]] void fail(const std::string& reason);
  void take(void* to, std::size_t bytes);

  std::string file_;
  std::unique_ptr<Open> open_;
  CheckpointHead head_;
  bool failed_ = false;  ///< the error that is on its way names the file
};

}  // namespace shoal
