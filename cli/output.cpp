#include "output.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <type_traits>

#include "shoal/core/error.hpp"

namespace shoal::cli {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

void refuse_other_form(const std::string& flag, const std::string& name) {
  for (const char* const other : {".npz", ".gz", ".zst"}) {
    if (!ends_with(name, other)) continue;
    throw UsageError(flag + " " + name + ": " + other +
                     " files are not written; a name that ends in .npy gives a NumPy array, any other name gives text");
  }
}

std::string npy_header(const char* type, const std::string& shape) {
  static_assert(std::endian::native == std::endian::little, "the header says little-endian");
  std::string header = std::string("{'descr': '<") + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ');  // the data begin at a multiple of 64 bytes
  header += '\n';
  const char start[] = {'\x93',
                        'N',
                        'U',
                        'M',
                        'P',
                        'Y',
                        1,
                        0,
                        static_cast<char>(header.size() & 255),
                        static_cast<char>(header.size() >> 8)};
  return std::string(start, sizeof start) + header;
}

namespace {

template <class Out, class In>
void write_as(OutputFile& file, const In* row, std::int64_t n) {
  if constexpr (std::is_same_v<In, Out>) {
    file.write(row, static_cast<std::size_t>(n) * sizeof *row);
  } else {
    Out some[1024];
    for (std::int64_t begin = 0; begin < n; begin += std::ssize(some)) {
      const std::int64_t count = std::min<std::int64_t>(std::ssize(some), n - begin);
      for (std::int64_t i = 0; i < count; ++i) some[i] = static_cast<Out>(row[begin + i]);
      file.write(some, static_cast<std::size_t>(count) * sizeof *some);
    }
  }
}

}  // namespace

void write_rows(OutputFile& file, const Rows& rows, std::int64_t n) {
  if (ends_with(file.name(), ".npy")) {
    std::size_t widest = 0;  // types of Row are in order of width
    for (const Row& row : rows) widest = std::max(widest, row.index());
    const char* const types[] = {"i4", "i8", "f8"};
    file.write(npy_header(types[widest], rows.size() == 1 ? std::to_string(n) + ","
                                                          : std::to_string(rows.size()) + ", " + std::to_string(n)));
    for (const Row& row : rows) {
      std::visit(
          [&](const auto& values) {
            if (widest == 0) write_as<std::int32_t>(file, values.data(), n);
            if (widest == 1) write_as<std::int64_t>(file, values.data(), n);
            if (widest == 2) write_as<double>(file, values.data(), n);
          },
          row);
    }
    return;
  }
  char line[32];
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i > 0) file.write(" ", 1);
      const char* end = std::visit(
          [&](const auto& values) { return std::to_chars(line, line + sizeof line, values[v]).ptr; }, rows[i]);
      file.write(line, static_cast<std::size_t>(end - line));
    }
    file.write("\n", 1);
  }
}

}  // namespace shoal::cli
