#include <algorithm>
#include <cstdlib>
#include <new>

#include "input.hpp"
#include "shoal/core/error.hpp"
#if defined(SHOAL_HAVE_ZLIB)
#include <zlib.h>
#endif
#if defined(SHOAL_HAVE_ZSTD)
#include <zstd.h>
#endif

namespace shoal::io {
namespace {

constexpr std::size_t kAlwaysFine = std::size_t{64} << 20;
constexpr std::size_t kMostRatio = 400;  // graphs as text expand 3 to 20 times

[[noreturn, maybe_unused]] void fail(const std::string& name, const std::string& message) {
  throw UsageError(name + ": " + message);
}

/// Memory that grows by doubling up to a limit.
class Growing {
 public:
  Growing(std::size_t packed, std::int64_t memory_bytes, const std::string& name)
      : name_(name),
        memory_(static_cast<std::size_t>(memory_bytes)),
        limit_(std::min(std::max(kAlwaysFine, packed * kMostRatio), memory_)) {
    resize(std::min(limit_, std::max<std::size_t>(packed * 4, 1 << 16)));
  }
  ~Growing() { std::free(data_); }
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;

  char* free_begin() { return data_ + used_; }
  std::size_t free_size() const { return room_ - used_; }
  void use(std::size_t n) { used_ += n; }
  /// Enlarges the memory. @throws UsageError, CapacityError at the limit
  void grow() {
    if (room_ == limit_ && limit_ == memory_)
      throw CapacityError(name_ + ": expands to more than the " + std::to_string(memory_ >> 20) +
                          " MB of memory that are available; use a machine with more memory");
    if (room_ == limit_)
      fail(name_, "expands to more than " + std::to_string(limit_) +
                      " bytes, which no graph of its packed size does; unpack it by hand if you trust it");
    resize(limit_ / 2 < room_ ? limit_ : room_ * 2);
  }
  Bytes take() {
    Bytes bytes{data_, used_, std::shared_ptr<void>(data_, std::free)};
    data_ = nullptr;
    return bytes;
  }

 private:
  void resize(std::size_t room) {
    auto* larger = static_cast<char*>(std::realloc(data_, std::max<std::size_t>(room, 1)));
    if (larger == nullptr) throw std::bad_alloc();
    data_ = larger;
    room_ = room;
  }
  const std::string& name_;
  std::size_t memory_, limit_, room_ = 0, used_ = 0;
  char* data_ = nullptr;
};

#if defined(SHOAL_HAVE_ZLIB)
Bytes expand_gzip(std::string_view bytes, const std::string& name, std::int64_t memory_bytes,
                  const std::function<void(double)>& progress) {
  Growing out(bytes.size(), memory_bytes, name);
  z_stream z{};
  if (inflateInit2(&z, 15 + 16) != Z_OK) throw std::bad_alloc();
  struct End {
    z_stream* z;
    ~End() { inflateEnd(z); }
  } end{&z};
  std::size_t taken = 0;
  while (true) {
    const std::size_t in = std::min<std::size_t>(bytes.size() - taken, std::size_t{8} << 20);
    if (out.free_size() == 0) out.grow();
    const std::size_t room = std::min<std::size_t>(out.free_size(), std::size_t{1} << 30);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
    z.avail_in = static_cast<uInt>(in);
    z.next_out = reinterpret_cast<Bytef*>(out.free_begin());
    z.avail_out = static_cast<uInt>(room);
    const int status = inflate(&z, Z_NO_FLUSH);
    taken += in - z.avail_in;
    out.use(room - z.avail_out);
    if (progress) progress(static_cast<double>(taken) / static_cast<double>(bytes.size()));
    if (status == Z_STREAM_END) {
      if (taken == bytes.size()) return out.take();
      inflateReset(&z);  // another gzip member follows; if not, the next call fails
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status == Z_BUF_ERROR || status == Z_OK) {
      if (taken == bytes.size() && z.avail_out != 0)
        fail(name, "the gzip data is cut off after " + std::to_string(taken) + " bytes; fetch or pack the file again");
    } else {
      fail(name, "the gzip data is damaged near byte " + std::to_string(taken) + " (" +
                     (z.msg != nullptr ? z.msg : "not gzip") + "); fetch or pack the file again");
    }
  }
}
#endif

#if defined(SHOAL_HAVE_ZSTD)
Bytes expand_zstd(std::string_view bytes, const std::string& name, std::int64_t memory_bytes,
                  const std::function<void(double)>& progress) {
  Growing out(bytes.size(), memory_bytes, name);
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (!context) throw std::bad_alloc();
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t wanted = 1;  // bytes that the current frame still expects; 0 between frames
  while (in.pos < in.size || wanted != 0) {
    if (out.free_size() == 0) out.grow();
    ZSTD_outBuffer to{out.free_begin(), std::min<std::size_t>(out.free_size(), std::size_t{16} << 20), 0};
    const std::size_t before = in.pos;
    wanted = ZSTD_decompressStream(context.get(), &to, &in);
    if (ZSTD_isError(wanted))
      fail(name, "the zstd data is damaged near byte " + std::to_string(in.pos) + " (" + ZSTD_getErrorName(wanted) +
                     "); fetch or pack the file again");
    out.use(to.pos);
    if (in.pos == in.size && wanted != 0 && to.pos == 0 && before == in.pos)
      fail(name, "the zstd data is cut off after " + std::to_string(in.pos) + " bytes; fetch or pack the file again");
    if (progress) progress(static_cast<double>(in.pos) / static_cast<double>(in.size));
  }
  return out.take();
}
#endif

}  // namespace

Bytes expand(Compression compression, std::string_view bytes, const std::string& name,
             [[maybe_unused]] std::int64_t memory_bytes, [[maybe_unused]] const std::function<void(double)>& progress) {
  if (compression == Compression::none) return {bytes.data(), bytes.size(), nullptr};
  if (bytes.empty()) throw UsageError(name + ": the file is empty; fetch or pack it again");
  const bool gzip = compression == Compression::gzip;
  const auto first = static_cast<unsigned char>(bytes[0]);
  if (gzip ? first != 0x1f : first != 0x28 && (first & 0xf0) != 0x50)  // 0x50 and up: a frame that is skipped
    throw UsageError(name + ": does not begin as " + (gzip ? "gzip" : "zstd") +
                     " data; fetch or pack it again, or if it is not packed, leave " + (gzip ? ".gz" : ".zst") +
                     " out of its name and of --format");
  if (compression == Compression::gzip) {
#if defined(SHOAL_HAVE_ZLIB)
    return expand_gzip(bytes, name, memory_bytes, progress);
#else
    throw UsageError(name + ": this build reads no gzip; unpack the file, or build with zlib (Debian: zlib1g-dev)");
#endif
  }
#if defined(SHOAL_HAVE_ZSTD)
  return expand_zstd(bytes, name, memory_bytes, progress);
#else
  throw UsageError(name + ": this build reads no zstd; unpack the file, or build with libzstd (Debian: libzstd-dev)");
#endif
}

}  // namespace shoal::io
