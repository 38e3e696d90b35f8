// What the parts of the Python module share.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>

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

/// The same message with arguments of Python in the place of flags: "use --device cpu" is "use device='cpu'".
std::string name_arguments(const std::string& message);

void bind_errors(nb::module_& module);
void bind_graph(nb::module_& module);
void bind_edges(nb::class_<Graph>& graph);
void bind_runs(nb::module_& module);

}  // namespace shoal::python
