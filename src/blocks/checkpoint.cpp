#include "shoal/blocks/checkpoint.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "shoal/core/error.hpp"
#include "shoal/data/pending_file.hpp"

namespace shoal {

namespace {

constexpr char kMagic[16] = "shoal blocks 1\n";

/// A checksum of a sequence of bytes. It does not depend on the pieces in which they are added.
class Sum {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (; bytes > 0 && filled_ > 0; --bytes) one(*at++);
    for (; bytes >= sizeof(word_); bytes -= sizeof(word_), at += sizeof(word_)) {
      std::memcpy(&word_, at, sizeof(word_));
      mix();
    }
    for (; bytes > 0; --bytes) one(*at++);
  }
  std::uint64_t value() const { return sum_ ^ word_ ^ filled_; }

 private:
  void one(unsigned char byte) {
    if (filled_ == 0) word_ = 0;
    word_ |= std::uint64_t{byte} << (8 * filled_);
    if (++filled_ == sizeof(word_)) mix();
  }
  void mix() {
    sum_ = (sum_ ^ word_) * 0x9E3779B97F4A7C15ull;
    sum_ ^= sum_ >> 29;
    filled_ = 0;
    word_ = 0;
  }
  std::uint64_t sum_ = 0x2545F4914F6CDD1Dull, word_ = 0, filled_ = 0;
};

struct Fixed {  // follows kMagic in the file, and is followed by `what`
  std::int64_t x, y, z, steps;
  std::uint64_t what_bytes;
};

}  // namespace

void write_checkpoint(const std::string& file, const CheckpointHead& head,
                      const std::function<void(const BytesOut&)>& body) {
  io::PendingFile out(file);
  Sum sum;
  const BytesOut write = [&](const void* data, std::size_t bytes) {
    sum.add(data, bytes);
    out.write(data, bytes);
  };
  const Fixed fixed{head.blocks.x, head.blocks.y, head.blocks.z, head.steps, head.what.size()};
  write(kMagic, sizeof(kMagic));
  write(&fixed, sizeof(fixed));
  write(head.what.data(), head.what.size());
  body(write);
  const std::uint64_t all = sum.value();
  out.write(&all, sizeof(all));
  out.commit();
}

struct CheckpointFile::Open {
  std::FILE* file = nullptr;
  Sum sum;
  ~Open() {
    if (file != nullptr) std::fclose(file);
  }
};

CheckpointFile::CheckpointFile(const std::string& file) : file_(file), open_(std::make_unique<Open>()) {
  open_->file = std::fopen(file.c_str(), "rbe");  // e: closed in programs that this process starts
  if (open_->file == nullptr) {
    const int code = errno;
    throw FileError(code, file, file + " cannot be opened: " + std::generic_category().message(code));
  }
  char magic[sizeof(kMagic)] = {};
  if (std::fread(magic, 1, sizeof(magic), open_->file) != sizeof(magic) ||
      std::memcmp(magic, kMagic, sizeof(magic)) != 0) {
    fail("is not a checkpoint of blocks");
  }
  open_->sum.add(magic, sizeof(magic));
  Fixed fixed{};
  take(&fixed, sizeof(fixed));
  constexpr std::uint64_t kMostText = 1 << 16;
  const bool good = fixed.x > 0 && fixed.y > 0 && fixed.z > 0 && fixed.x <= (1 << 20) && fixed.y <= (1 << 20) &&
                    fixed.z <= (1 << 20) && fixed.steps >= 0 && fixed.what_bytes <= kMostText;
  if (!good) fail("is damaged");
  head_.blocks = {fixed.x, fixed.y, fixed.z};
  head_.steps = fixed.steps;
  head_.what.resize(fixed.what_bytes);
  take(head_.what.data(), head_.what.size());
}
CheckpointFile::~CheckpointFile() = default;

void CheckpointFile::read(const std::function<void(const BytesIn&)>& body) {
  try {
    body([this](void* to, std::size_t bytes) { take(to, bytes); });
  } catch (const UsageError& error) {
    if (failed_) throw;
    fail(std::string("does not fit: ") + error.what());
  }
  const std::uint64_t want = open_->sum.value();
  std::uint64_t has = 0;
  take(&has, sizeof(has));
  if (has != want || std::fgetc(open_->file) != EOF) fail("is damaged");
}

void CheckpointFile::fail(const std::string& reason) {
  failed_ = true;
  throw UsageError("checkpoint " + file_ + " " + reason + "; start from the beginning, or from another one");
}

void CheckpointFile::take(void* to, std::size_t bytes) {
  if (std::fread(to, 1, bytes, open_->file) != bytes) {
    const int code = errno;
    if (std::ferror(open_->file) == 0) fail("ends early");
    failed_ = true;
    throw FileError(code, file_, file_ + " cannot be read: " + std::generic_category().message(code));
  }
  open_->sum.add(to, bytes);
}

}  // namespace shoal
