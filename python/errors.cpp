// The exception classes, and the translation of messages: the library's messages name flags of the command line
// ("use --device cpu"), where a Python program has arguments (device='cpu').
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "module.hpp"
#include "shoal/core/error.hpp"

namespace shoal::python {
namespace {

/// Arguments that are True or False in Python; on the command line they are flags without a value.
constexpr std::string_view kSwitches[] = {"cache", "dedup", "parents", "predecessors", "undirected"};
/// Words that can be the value of a flag. Any other word after a flag continues the sentence: "leave --engine out".
constexpr std::string_view kValues[] = {"async",  "auto",       "block",   "cpu",     "delta",    "discrete", "edges",
                                        "fifo",   "file",       "float32", "float64", "gpu",      "hash255",  "hook",
                                        "levels", "metis",      "modulo",  "off",     "on",       "one",      "owner",
                                        "peer",   "persistent", "pull",    "random",  "priority", "remote",   "self",
                                        "strips", "thread",     "threads", "unit",    "warp"};

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

/// `word` as a Python value, or an empty text if it is not a value.
std::string value_of(std::string_view word) {
  if (is_number(word)) return std::string(word);
  const std::string_view kind = word.substr(0, word.find(':'));  // block:256, file:PATH
  if (std::find(std::begin(kValues), std::end(kValues), kind) == std::end(kValues)) return "";
  return "'" + std::string(word) + "'";
}

/// The exception classes. The module keeps them alive.
struct Classes {
  nb::handle usage, capacity, transport, device, any;
  nb::handle file, not_found, is_directory, not_permitted;
};
Classes classes;

/// The message as a Python text. It may contain the name of a file, which may hold any bytes.
nb::object line_of(const Error& error) {
  const std::string line = name_arguments(error.what());
  return nb::steal(PyUnicode_DecodeUTF8(line.data(), static_cast<Py_ssize_t>(line.size()), "backslashreplace"));
}

void set(const nb::handle& type, const Error& error) { PyErr_SetObject(type.ptr(), line_of(error).ptr()); }

nb::handle class_of(const FileError& error) {
  switch (error.code()) {
    case ENOENT:
      return classes.not_found;
    case EISDIR:
      return classes.is_directory;
    case EACCES:
    case EPERM:
      return classes.not_permitted;
    default:
      return classes.file;
  }
}

void set(const FileError& error) {
  const nb::handle type = class_of(error);
  const nb::object made = type(line_of(error));
  made.attr("errno") = error.code();
  made.attr("strerror") = std::strerror(error.code());
  made.attr("filename") = file_name_to_python(error.file());
  PyErr_SetObject(type.ptr(), made.ptr());
}

/// Adds a class with two bases: `ours`, the library's error, and `python`, the error that Python's own file functions raise.
nb::handle add_file_error(nb::module_& module, const char* name, nb::handle ours, PyObject* python) {
  nb::dict members;
  members["__module__"] = module.attr("__name__");
  members["__str__"] = nb::handle(PyExc_BaseException).attr("__str__");  // not the errno and file of OSError
  nb::object type = nb::handle(&PyType_Type)(name, nb::make_tuple(ours, nb::handle(python)), members);
  module.attr(name) = type;
  return type;  // the module keeps it alive
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
    if (name == "vertices") name = "num_vertices";
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
  classes.file = add_file_error(module, "FileError", classes.usage, PyExc_OSError);
  classes.not_found = add_file_error(module, "FileNotFoundError", classes.file, PyExc_FileNotFoundError);
  classes.is_directory = add_file_error(module, "IsADirectoryError", classes.file, PyExc_IsADirectoryError);
  classes.not_permitted = add_file_error(module, "PermissionError", classes.file, PyExc_PermissionError);
  // nanobind asks the translator that was registered last first.
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const FileError& e) {
      set(e);
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
    } catch (const std::bad_alloc&) {
      set(classes.capacity, CapacityError("out of memory; use a smaller graph, or a machine with more memory"));
    }
  });
  module.def("_name_arguments", &name_arguments, nb::arg("message"));
}

}  // namespace shoal::python
