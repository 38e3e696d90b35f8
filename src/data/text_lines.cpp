#include "text_lines.hpp"

#include <istream>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/io.hpp"
#include "text.hpp"

namespace shoal::io {

TextLines::TextLines(const std::string& file, const std::string& what) : file_(file), in_(open_text_file(file, what)) {}

TextLines::~TextLines() = default;

bool TextLines::next() {
  char buffer[kMostBytes + 1];
  ++number_;
  in_->getline(buffer, sizeof buffer);
  if (in_->bad()) fail("cannot be read further; check the disk");
  line_.assign(buffer, static_cast<std::size_t>(in_->gcount()));
  const bool last = in_->eof();
  if (!last && in_->fail()) fail("the line is longer than " + grouped(kMostBytes) + " bytes; is this the right file?");
  if (!last) line_.pop_back();  // removes one byte: the count that was read includes the line ending
  if (number_ == 1 && line_.starts_with(kTextMark)) line_.erase(0, kTextMark.size());
  return !last || !line_.empty();
}

void TextLines::fail(const std::string& what) const {
  throw UsageError(file_ + ":" + std::to_string(number_) + ": " + what);
}

}  // namespace shoal::io
