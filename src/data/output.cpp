#include "output.hpp"

#include <new>

#include "shoal/core/error.hpp"
#if defined(SHOAL_HAVE_ZLIB)
#include <zlib.h>
#endif
#if defined(SHOAL_HAVE_ZSTD)
#include <zstd.h>
#endif

namespace shoal::io {
namespace {

#if defined(SHOAL_HAVE_ZLIB)
class GzipPacker : public Packer {
 public:
  explicit GzipPacker(PendingFile& file) : file_(file), out_(1 << 18) {
    if (deflateInit2(&z_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~GzipPacker() override { deflateEnd(&z_); }
  void put(const char* data, std::size_t bytes) override { run(data, bytes, Z_NO_FLUSH); }
  void finish() override { run(nullptr, 0, Z_FINISH); }

 private:
  void run(const char* data, std::size_t bytes, int flush) {
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data));
    z_.avail_in = static_cast<uInt>(bytes);  // the text buffer is far below 4 GiB
    do {
      z_.next_out = out_.data();
      z_.avail_out = static_cast<uInt>(out_.size());
      deflate(&z_, flush);
      file_.write(out_.data(), out_.size() - z_.avail_out);
    } while (z_.avail_out == 0);
  }
  PendingFile& file_;
  std::vector<Bytef> out_;
  z_stream z_{};
};
#endif

#if defined(SHOAL_HAVE_ZSTD)
class ZstdPacker : public Packer {
 public:
  explicit ZstdPacker(PendingFile& file)
      : file_(file), out_(ZSTD_CStreamOutSize()), context_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
    if (!context_) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }
  void put(const char* data, std::size_t bytes) override { run(data, bytes, ZSTD_e_continue); }
  void finish() override { run(nullptr, 0, ZSTD_e_end); }

 private:
  void run(const char* data, std::size_t bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{data, bytes, 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer to{out_.data(), out_.size(), 0};
      left = ZSTD_compressStream2(context_.get(), &to, &in, directive);
      if (ZSTD_isError(left)) throw std::bad_alloc();  // the only way compression fails
      file_.write(out_.data(), to.pos);
    } while (directive == ZSTD_e_end ? left != 0 : in.pos < in.size);
  }
  PendingFile& file_;
  std::vector<char> out_;
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context_;
};
#endif

std::unique_ptr<Packer> make_packer(Compression compression, [[maybe_unused]] PendingFile& out,
                                    [[maybe_unused]] const std::string& file) {
  if (compression == Compression::none) return nullptr;
  if (compression == Compression::gzip) {
#if defined(SHOAL_HAVE_ZLIB)
    return std::make_unique<GzipPacker>(out);
#else
    throw UsageError(file + ": this build writes no gzip; drop .gz, or build with zlib (Debian: zlib1g-dev)");
#endif
  }
#if defined(SHOAL_HAVE_ZSTD)
  return std::make_unique<ZstdPacker>(out);
#else
  throw UsageError(file + ": this build writes no zstd; drop .zst, or build with libzstd (Debian: libzstd-dev)");
#endif
}

}  // namespace

TextFile::TextFile(const std::string& file, Compression compression)
    : file_(file), packer_(make_packer(compression, file_, file)) {
  buffer_.reserve(kBuffer);
}
TextFile::~TextFile() = default;

void TextFile::flush() {
  packer_ ? packer_->put(buffer_.data(), buffer_.size()) : file_.write(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void TextFile::commit() {
  flush();
  if (packer_) packer_->finish();
  file_.commit();
}

}  // namespace shoal::io
