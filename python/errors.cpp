// The four errors, and their words in Python: the library's messages name flags of the command line ("use --device cpu"), a
// Python program has arguments (device='cpu').
#include <nanobind/stl/string.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <string_view>

#include "module.hpp"
#include "shoal/core/error.hpp"

namespace shoal::python {
namespace {

/// Arguments that are True or False, where the command line has a flag alone.
constexpr std::string_view kSwitches[] = {"cache", "dedup", "parents", "predecessors", "undirected"};
/// Words that follow a flag as its value. Any other word goes on with the sentence: "leave --engine out".
constexpr std::string_view kValues[] = {"async",  "auto",       "block",   "cpu",     "delta",    "discrete", "edges",
                                        "fifo",   "file",       "float32", "float64", "gpu",      "hash255",  "hook",
                                        "levels", "metis",      "modulo",  "off",     "on",       "one",      "owner",
                                        "peer",   "persistent", "pull",    "random",  "priority", "remote",   "self",
                                        "thread", "threads",    "unit",    "warp"};

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// The word that begins at `at`, without the punctuation that ends a clause.
std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] != ' ' && text[end] != ',' && text[end] != ';' && text[end] != ')') ++end;
  while (end > at && (text[end - 1] == '.' || text[end - 1] == ':')) --end;
  return text.substr(at, end - at);
}

bool is_number(std::string_view word) {
  double value = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && rest == word.data() + word.size();
}

/// `word` as a Python value; empty when it is none.
std::string value_of(std::string_view word) {
  if (is_number(word)) return std::string(word);
  const std::string_view kind = word.substr(0, word.find(':'));  // block:256, file:PATH
  if (std::find(std::begin(kValues), std::end(kValues), kind) == std::end(kValues)) return "";
  return "'" + std::string(word) + "'";
}

/// The errors' classes, which the module holds.
struct Classes {
  nb::handle usage, capacity, transport, device, any;
};
Classes classes;

void set(const nb::handle& type, const Error& error) {
  PyErr_SetString(type.ptr(), name_arguments(error.what()).c_str());
}

}  // namespace

std::string name_arguments(const std::string& message) {
  const std::string_view text = message;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool flag = text.substr(at, 2) == "--" && at + 2 < text.size() && is_letter(text[at + 2]) &&
                      (at == 0 || (text[at - 1] != '-' && !is_letter(text[at - 1])));
    if (!flag) {
      out += text[at++];
      continue;
    }
    std::size_t end = at += 2;
    while (end < text.size() && (is_letter(text[end]) || (text[end] == '-' && is_letter(text[end - 1])))) ++end;
    std::string name(text.substr(at, end - at));
    std::replace(name.begin(), name.end(), '-', '_');
    out += name;
    at = end;
    if (std::find(std::begin(kSwitches), std::end(kSwitches), name) != std::end(kSwitches)) {
      out += "=True";
      continue;
    }
    for (std::string_view before = " "; text.substr(at, before.size()) == before; before = " or ") {
      const std::string_view word = word_at(text, at + before.size());
      const std::string value = value_of(word);
      if (value.empty()) break;
      out += (before == " " ? "=" : " or ") + value;
      at += before.size() + word.size();
    }
  }
  return out;
}

void bind_errors(nb::module_& module) {
  nb::exception<Error> error(module, "Error", PyExc_Exception);
  const auto add = [&]<class E>(const char* name, PyObject* builtin) -> nb::handle {
    return nb::exception<E>(module, name, nb::make_tuple(error, nb::handle(builtin)));
  };
  classes.any = error;
  classes.usage = add.operator()<UsageError>("UsageError", PyExc_ValueError);
  classes.capacity = add.operator()<CapacityError>("CapacityError", PyExc_MemoryError);
  classes.transport = add.operator()<TransportError>("TransportError", PyExc_ConnectionError);
  classes.device = add.operator()<DeviceError>("DeviceError", PyExc_RuntimeError);
  // The translator that was added last is asked first.
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const UsageError& e) {
      set(classes.usage, e);
    } catch (const CapacityError& e) {
      set(classes.capacity, e);
    } catch (const TransportError& e) {
      set(classes.transport, e);
    } catch (const DeviceError& e) {
      set(classes.device, e);
    } catch (const Error& e) {
      set(classes.any, e);
    }
  });
  module.def("_name_arguments", &name_arguments, nb::arg("message"));
}

}  // namespace shoal::python
