// Checkpoints: files of blocks with which a later process goes on, on any number of PEs. Each is written completely or not at
// all.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/mapping.hpp"

namespace shoal {

/// The header of a checkpoint.
struct CheckpointHead {
  std::string what;  ///< text: the program, and all that its values depend on except the number of steps
  Size3 blocks;      ///< along each dimension
  std::int64_t steps = 0;
};

/// Writes a checkpoint. An existing file of this name is replaced only when the new one is complete and durable
/// (io::PendingFile).
/// @param body  writes the blocks with the function that it is given
/// @throws FileError
void write_checkpoint(const std::string& file, const CheckpointHead& head,
                      const std::function<void(const BytesOut&)>& body);

/// Reads a checkpoint.
class CheckpointFile {
 public:
  /// Opens the file and reads its header. @throws FileError; UsageError  the file is not a checkpoint, or is damaged
  explicit CheckpointFile(const std::string& file);
  ~CheckpointFile();
  const CheckpointHead& head() const { return head_; }
  /// Reads the blocks and verifies the checksum. May be called once.
  /// @param body  reads the blocks with the function that it is given
  /// @throws FileError; UsageError  the file is too short, too long or damaged, or `body` threw UsageError because its data do
  ///   not fit
  void read(const std::function<void(const BytesIn&)>& body);

 private:
  struct Open;
  [[noreturn]] void fail(const std::string& reason);
  void take(void* to, std::size_t bytes);

  std::string file_;
  std::unique_ptr<Open> open_;
  CheckpointHead head_;
  bool failed_ = false;  ///< the error that is being thrown names the file already
};

}  // namespace shoal
