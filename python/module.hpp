// What the parts of the Python module share.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "shoal/core/array.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::python {

namespace nb = nanobind;

/// A graph that Python holds; arrays and searches made from it keep it alive.
struct Graph {
  std::shared_ptr<const Csr> csr;
};

/// Moves an array of the host into a NumPy array that owns it.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(HostArray<T>&& array) {
  auto* held = new HostArray<T>(std::move(array));
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<HostArray<T>*>(p); });
  return {held->data(), {static_cast<std::size_t>(held->size())}, owner};
}

/// Calls f without Python's lock. Called in Python's main thread, f runs on another one, and what a handler of signals raises
/// meanwhile (Ctrl-C: KeyboardInterrupt) calls f off, is thrown once f has ended, and reaches Python.
void call_unlocked(const std::function<void()>& f);

/// The same, for what f returns.
template <class F>
auto unlocked(F&& f) {
  using Result = std::invoke_result_t<F>;
  if constexpr (std::is_void_v<Result>) {
    call_unlocked(f);
  } else {
    std::optional<Result> result;
    call_unlocked([&] { result.emplace(f()); });
    return std::move(*result);
  }
}

/// @throws Interrupted  what waits was called off before the mutex was free
std::unique_lock<std::timed_mutex> lock_unless_called_off(std::timed_mutex& mutex);

/// A file's name may be any bytes; Python's own functions for files take the text back.
inline nb::object file_name_to_python(const std::string& name) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
}

/// The same message with arguments of Python in the place of flags: "use --device cpu" is "use device='cpu'".
std::string name_arguments(const std::string& message);

void bind_errors(nb::module_& module);
void bind_graph(nb::module_& module);
void bind_edges(nb::class_<Graph>& graph);
void bind_runs(nb::module_& module);

}  // namespace shoal::python
