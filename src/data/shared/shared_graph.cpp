#include "shared.hpp"

namespace shoal {
namespace {

io::FileKind kind(const std::string& file, const ReadOptions& options) {
  return options.format.empty() ? io::kind_of(file) : io::kind_named(options.format);
}

}  // namespace

void SharedGraph::agree(const std::function<void()>& work) const { io::in_all(together_, work); }

bool can_share(const std::string& file, const ReadOptions& options) {
  if (file == io::kStandardInput || options.use_cache) return false;
  const io::FileKind found = kind(file, options);
  if (found.compression != io::Compression::none) return false;
  return found.format == io::Format::shoal || found.format == io::Format::edge_list ||
         found.format == io::Format::weighted_edge_list || found.format == io::Format::tsv ||
         found.format == io::Format::csv;
}

std::unique_ptr<SharedGraph> open_shared(const std::string& file, const ReadOptions& options,
                                         const Together& together) {
  const io::FileKind found = kind(file, options);
  if (found.format == io::Format::shoal) return io::share_shoal(file, options, together);
  return io::share_edge_list(file, options, found.format, together);
}

}  // namespace shoal
