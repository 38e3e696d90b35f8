#include "zip.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>

#include "data/output.hpp"
#include "shoal/core/error.hpp"
#if defined(SHOAL_HAVE_LIBZIP)
#include <zip.h>
#endif

namespace shoal::io {

#if defined(SHOAL_HAVE_LIBZIP)

namespace {
constexpr std::uint64_t kMostRatio = 1100;  // deflate expands at most 1032 times
}

struct ZipReader::State {
  std::string name;
  zip_t* archive = nullptr;
  std::uint64_t memory_bytes = 0;
  [[noreturn]] void raise(const std::string& message) const { throw UsageError(name + ": " + message); }

  using File = std::unique_ptr<zip_file_t, int (*)(zip_file_t*)>;
  zip_uint64_t find(const std::string& member) const {
    const zip_int64_t index = zip_name_locate(archive, member.c_str(), 0);
    if (index < 0) raise("has no member " + member + "; save it with scipy.sparse.save_npz");
    return static_cast<zip_uint64_t>(index);
  }
  File open(const std::string& member) const {
    zip_file_t* opened = zip_fopen_index(archive, find(member), 0);
    if (opened == nullptr) raise(member + ": cannot be read (" + zip_strerror(archive) + ")");
    return {opened, zip_fclose};
  }
  /// Reads up to `bytes` more bytes. @return how many it has read; 0 at the end
  std::uint64_t take(const std::string& member, zip_file_t* file, char* to, std::uint64_t bytes) const {
    const zip_int64_t got = zip_fread(file, to, bytes);
    if (got >= 0) return static_cast<std::uint64_t>(got);
    raise(member + ": is damaged (" + zip_error_strerror(zip_file_get_error(file)) + "); save the file again");
  }
};

ZipReader::ZipReader(std::string_view bytes, const std::string& name, std::int64_t memory_bytes) {
  auto state = std::make_unique<State>();
  state->name = name;
  state->memory_bytes = static_cast<std::uint64_t>(memory_bytes);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source != nullptr) {
    state->archive = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (state->archive == nullptr) zip_source_free(source);
  }
  const std::string reason = state->archive == nullptr ? zip_error_strerror(&error) : "";
  zip_error_fini(&error);
  if (state->archive == nullptr) state->raise("is not an intact zip archive (" + reason + "); save the file again");
  state_ = state.release();
}

ZipReader::~ZipReader() {
  if (state_ != nullptr) zip_discard(state_->archive);
  delete state_;
}

bool ZipReader::has(const std::string& member) const {
  return zip_name_locate(state_->archive, member.c_str(), 0) >= 0;
}

std::uint64_t ZipReader::size(const std::string& member) const {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(state_->archive, state_->find(member), 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded)
    state_->raise(member + ": the archive's directory is damaged; save the file again");
  if (stat.size / kMostRatio > stat.comp_size + 1 || stat.size > state_->memory_bytes)
    state_->raise(member + ": would expand from " + std::to_string(stat.comp_size) + " to " +
                  std::to_string(stat.size) + " bytes, which is not possible here; the file is damaged or too large");
  return stat.size;
}

std::string ZipReader::front(const std::string& member, std::size_t most) const {
  const State::File file = state_->open(member);
  std::string out(most, '\0');
  std::size_t have = 0;
  while (have < most) {
    const std::uint64_t got = state_->take(member, file.get(), out.data() + have, most - have);
    if (got == 0) break;
    have += got;
  }
  out.resize(have);
  return out;
}

Bytes ZipReader::read(const std::string& member) const {
  const std::uint64_t size = this->size(member);
  const State::File file = state_->open(member);
  auto* data = static_cast<char*>(std::malloc(size + 1));
  if (data == nullptr) throw std::bad_alloc();
  Bytes out{data, 0, std::shared_ptr<void>(data, std::free)};
  while (true) {  // reads once more at the end, because libzip verifies the checksum then
    const std::uint64_t got = state_->take(member, file.get(), data + out.size, size + 1 - out.size);
    if (got == 0) break;
    out.size += got;
    if (out.size > size) state_->raise(member + ": is longer than the archive says; the file is damaged");
  }
  if (out.size != size) state_->raise(member + ": is shorter than the archive says; the file is damaged");
  return out;
}

namespace {

/// Lets libzip write to a PendingFile. If libzip were given a file name, it would make a temporary file of its own, which a signal
/// would leave behind.
class ZipOutput {
 public:
  explicit ZipOutput(const PendingFile& file) : fd_(file.descriptor()) { zip_error_init(&error_); }
  ~ZipOutput() { zip_error_fini(&error_); }
  ZipOutput(const ZipOutput&) = delete;
  ZipOutput& operator=(const ZipOutput&) = delete;

  /// The system's error at which writing stopped, or 0.
  int system_error() const { return zip_error_system_type(&error_) == ZIP_ET_SYS ? zip_error_code_system(&error_) : 0; }

  static zip_int64_t answer(void* self, void* data, zip_uint64_t bytes, zip_source_cmd_t command) {
    return static_cast<ZipOutput*>(self)->answer(data, bytes, command);
  }

 private:
  zip_int64_t answer(void* data, zip_uint64_t bytes, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE;
      case ZIP_SOURCE_STAT:
        zip_stat_init(static_cast<zip_stat_t*>(data));
        return sizeof(zip_stat_t);
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error_, data, bytes);
      case ZIP_SOURCE_WRITE:
        return put(static_cast<const char*>(data), bytes);
      case ZIP_SOURCE_SEEK_WRITE: {
        const zip_int64_t to = zip_source_seek_compute_offset(at_, end_, data, bytes, &error_);
        if (to < 0) return -1;
        at_ = static_cast<zip_uint64_t>(to);
        return 0;
      }
      case ZIP_SOURCE_TELL_WRITE:
        return static_cast<zip_int64_t>(at_);
      default:
        return 0;  // the file is empty at the start; its owner commits or drops it
    }
  }

  zip_int64_t put(const char* data, zip_uint64_t bytes) {
    for (zip_uint64_t done = 0; done < bytes;) {
      const ssize_t n = ::pwrite(fd_, data + done, bytes - done, static_cast<off_t>(at_));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        zip_error_set(&error_, ZIP_ER_WRITE, errno);
        return -1;
      }
      done += static_cast<zip_uint64_t>(n);
      at_ += static_cast<zip_uint64_t>(n);
    }
    end_ = std::max(end_, at_);
    return static_cast<zip_int64_t>(bytes);
  }

  int fd_;
  zip_uint64_t at_ = 0, end_ = 0;
  zip_error_t error_;
};

}  // namespace

void write_zip(const std::string& file, const std::vector<ZipMember>& members) {
  PendingFile pending(file);
  ZipOutput output(pending);
  zip_error_t refused;
  zip_error_init(&refused);
  zip_source_t* target = zip_source_function_create(&ZipOutput::answer, &output, &refused);
  if (target == nullptr) throw std::bad_alloc();
  std::unique_ptr<zip_t, void (*)(zip_t*)> archive(zip_open_from_source(target, ZIP_TRUNCATE, &refused), zip_discard);
  if (!archive) {
    zip_source_free(target);
    const std::string reason = zip_error_strerror(&refused);
    zip_error_fini(&refused);
    pending.fail(reason);
  }
  for (const ZipMember& member : members) {
    auto* head = reinterpret_cast<zip_uint8_t*>(const_cast<char*>(member.head.data()));
    auto* data = static_cast<zip_uint8_t*>(const_cast<void*>(member.data));
    const zip_buffer_fragment_t pieces[2] = {{head, member.head.size()}, {data, member.bytes}};
    zip_source_t* source = zip_source_buffer_fragment(archive.get(), pieces, member.bytes > 0 ? 2 : 1, 0);
    if (source == nullptr) pending.fail(zip_strerror(archive.get()));
    const zip_int64_t index = zip_file_add(archive.get(), member.name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      pending.fail(zip_strerror(archive.get()));
    }
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_DEFLATE, 1);
  }
  if (zip_close(archive.get()) != 0) {
    if (output.system_error() != 0) pending.fail(output.system_error());
    pending.fail(zip_strerror(archive.get()));
  }
  archive.release();
  pending.commit();
}

#else

struct ZipReader::State {};
ZipReader::ZipReader(std::string_view, const std::string& name, std::int64_t) {
  throw UsageError(name +
                   ": this build reads no .npz; write the matrix as .mtx (scipy.io.mmwrite), or build with "
                   "libzip (Debian: libzip-dev)");
}
ZipReader::~ZipReader() = default;
bool ZipReader::has(const std::string&) const { return false; }
std::uint64_t ZipReader::size(const std::string&) const { return 0; }
std::string ZipReader::front(const std::string&, std::size_t) const { return {}; }
Bytes ZipReader::read(const std::string&) const { return {}; }
void write_zip(const std::string& file, const std::vector<ZipMember>&) {
  throw UsageError(file + ": this build writes no .npz; write .mtx, or build with libzip (Debian: libzip-dev)");
}

#endif

}  // namespace shoal::io
