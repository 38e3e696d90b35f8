#include "npy.hpp"

#include <charconv>
#include <functional>
#include <numeric>

#include "data/formats.hpp"
#include "data/text.hpp"
#include "shoal/core/error.hpp"

namespace shoal::io {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& message) { throw UsageError(name + ": " + message); }

/// The small part of Python's literals that a header is made of:
/// {'descr': '<i4', 'fortran_order': False, 'shape': (3,), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void parse(std::string& descr, bool& fortran, std::vector<std::int64_t>& shape) {
    int seen = 0;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && (seen & 1) == 0) {
        seen |= 1;
        skip();
        if (at_ < text_.size() && text_[at_] == '[') fail(name_, "the array is structured; store plain numbers");
        descr = string();
      } else if (key == "fortran_order" && (seen & 2) == 0) {
        seen |= 2;
        fortran = boolean();
      } else if (key == "shape" && (seen & 4) == 0) {
        seen |= 4;
        expect('(');
        while (!accept(')')) {
          shape.push_back(integer());
          if (!accept(',')) {
            expect(')');
            break;
          }
        }
      } else {
        wrong();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ != text_.size() || seen != 7) wrong();
  }

 private:
  [[noreturn]] void wrong() const {
    fail(name_, "the array's header is damaged at " + quoted(text_.substr(std::min(at_, text_.size()))) +
                    "; save the file again");
  }
  void skip() {
    while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) wrong();
  }
  std::string_view string() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') wrong();
    const std::size_t stop = text_.find(quote, at_ + 1);
    if (stop == std::string_view::npos) wrong();
    const std::string_view out = text_.substr(at_ + 1, stop - at_ - 1);
    at_ = stop + 1;
    return out;
  }
  bool boolean() {
    skip();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    wrong();
  }
  std::int64_t integer() {
    skip();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [rest, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (rest == begin || status != std::errc() || value < 0) wrong();
    at_ += static_cast<std::size_t>(rest - begin);
    return value;
  }
  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

std::int64_t NpyArray::count() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t NpyArray::integer(std::int64_t i) const {
  const char* at = data.data() + i * item_bytes;
  if (kind == 'b') return *at != 0;
  // Separate statements, because the common type of a `? :` expression would be unsigned.
  if (kind == 'i') {
    if (item_bytes == 1) return load<std::int8_t>(at);
    if (item_bytes == 2) return load<std::int16_t>(at);
    if (item_bytes == 4) return load<std::int32_t>(at);
  } else {
    if (item_bytes == 1) return load<std::uint8_t>(at);
    if (item_bytes == 2) return load<std::uint16_t>(at);
    if (item_bytes == 4) return load<std::uint32_t>(at);
  }
  return load<std::int64_t>(at);
}

double NpyArray::real(std::int64_t i) const {
  const char* at = data.data() + i * item_bytes;
  return item_bytes == 4 ? load<float>(at) : load<double>(at);
}

NpyArray parse_npy(std::string_view bytes, const std::string& name) {
  return parse_npy_front(bytes, bytes.size(), name);
}

NpyArray parse_npy_front(std::string_view bytes, std::uint64_t file_bytes, const std::string& name) {
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY")) fail(name, "is not a NumPy array; save the file again");
  const int major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3)
    fail(name, "has NumPy format version " + std::to_string(major) + "; versions 1 to 3 are read");
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  std::size_t length = 0;
  if (bytes.size() < 8 + length_bytes) fail(name, "the array's header is cut off; save the file again");
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[8 + i]);
  if (length > bytes.size() - 8 - length_bytes) fail(name, "the array's header is cut off; save the file again");
  NpyArray array;
  std::string descr;
  bool fortran = false;
  HeaderParser(bytes.substr(8 + length_bytes, length), name).parse(descr, fortran, array.shape);
  if (fortran && array.shape.size() > 1) fail(name, "the array is in Fortran order; save it in C order");
  if (descr.find('O') != std::string::npos)
    fail(name, "the array holds Python objects, which are never unpickled; save it as numbers");
  if (!descr.empty() && descr[0] == '>') fail(name, "the array is big-endian; save it with dtype.newbyteorder('<')");
  if (descr.size() < 3 || std::string_view("<|=").find(descr[0]) == std::string_view::npos)
    fail(name, "the array's type " + quoted(descr) + " is not known; save it as numbers");
  array.kind = descr[1];
  const char* end = descr.data() + descr.size();
  const auto [rest, status] = std::from_chars(descr.data() + 2, end, array.item_bytes);
  const int b = array.item_bytes;
  const bool number = array.kind == 'b'   ? b == 1
                      : array.kind == 'f' ? b == 4 || b == 8
                                          : b == 1 || b == 2 || b == 4 || b == 8;
  const bool known = std::string_view("biuf").find(array.kind) != std::string_view::npos
                         ? number
                         : (array.kind == 'S' || array.kind == 'U') && b >= 1 && b <= 64;
  if (rest != end || status != std::errc() || !known)
    fail(name, "the array's type " + quoted(descr) + " is not read; save it as bool, integers, float32 or float64");
  if (array.kind == 'U') array.item_bytes *= 4;
  array.data = bytes.substr(8 + length_bytes + length);
  const std::uint64_t data_bytes = file_bytes - (8 + length_bytes + length);
  std::int64_t wanted = array.item_bytes;
  for (const std::int64_t extent : array.shape)
    if (__builtin_mul_overflow(wanted, extent, &wanted)) fail(name, "the array's shape overflows; the file is damaged");
  if (wanted != static_cast<std::int64_t>(data_bytes))
    fail(name, "the array's shape takes " + std::to_string(wanted) + " bytes, but " + std::to_string(data_bytes) +
                   " follow its header; the file is damaged");
  return array;
}

namespace {
std::string header_for(const std::string& descr, const std::string& shape) {
  std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  dict.append((64 - (10 + dict.size() + 1) % 64) % 64, ' ');
  dict += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dict.size() & 255);
  out += static_cast<char>(dict.size() >> 8);
  return out + dict;
}
}  // namespace

std::string npy_header(const std::string& descr, std::int64_t count) {
  return header_for(descr, "(" + std::to_string(count) + ",)");
}
std::string npy_scalar_header(const std::string& descr) { return header_for(descr, "()"); }

}  // namespace shoal::io
