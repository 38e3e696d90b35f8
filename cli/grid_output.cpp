#include "grid_output.hpp"

#include <functional>

#include "plot.hpp"
#include "shoal/core/error.hpp"
#include "shoal/program/run_flags.hpp"

namespace shoal::cli {
namespace {

using Bytes = std::function<void(const void*, std::size_t)>;

GridSlice read_slice(const std::string& text, Size3 size) {
  const std::int64_t cells[] = {size.x, size.y, size.z};
  const std::size_t across = text.size() > 2 && text[1] == '=' ? std::string("xyz").find(text[0]) : std::string::npos;
  if (across == std::string::npos) throw UsageError("--slice '" + text + "' is not x=N, y=N or z=N");
  const std::string wrong = whole_number<std::int64_t>(text.substr(2));
  if (!wrong.empty()) throw UsageError("--slice " + text + ": " + wrong);
  const std::int64_t at = std::stoll(text.substr(2));
  if (at < 0 || at >= cells[across]) {
    throw UsageError("--slice " + text + ": " + text[0] + " is from 0 to " + std::to_string(cells[across] - 1));
  }
  return {static_cast<int>(across), at};
}

std::string npy_shape(Size3 n, const std::optional<GridSlice>& slice) {
  const std::int64_t cells[] = {n.x, n.y, n.z};
  std::string text;
  for (int i = 0; i < 3; ++i) {
    if (!slice || slice->across != i) text += (text.empty() ? "" : ", ") + std::to_string(cells[i]);
  }
  return text;
}

/// Writes the grid, or a slice of it, as .npy, one plane of equal x at a time.
template <class T>
void write_npy(const GridSteps<T>& grid, const char* npy_type, const std::optional<GridSlice>& slice, const Bytes& to) {
  const Size3 n = grid.size();
  const std::string header = npy_header(npy_type, npy_shape(n, slice));
  to(header.data(), header.size());
  const int across = slice ? slice->across : -1;
  const std::int64_t y0 = across == 1 ? slice->at : 0, y1 = across == 1 ? y0 + 1 : n.y;
  std::vector<T> plane(static_cast<std::size_t>((y1 - y0) * n.z)), some;
  for (std::int64_t x = 0; x < n.x; ++x) {
    if (across == 0 && x != slice->at) continue;
    grid.read(x, y0, y1, plane.data());
    if (across == 2) {
      some.clear();
      for (std::int64_t y = 0; y < n.y; ++y) some.push_back(plane[y * n.z + slice->at]);
    }
    const std::vector<T>& out = across == 2 ? some : plane;
    to(out.data(), out.size() * sizeof(T));
  }
}

}  // namespace

void GridOutput::add_to(CLI::App& app, const char* group) {
  app.add_option("--output", output_, "write the grid as a NumPy array (.npy) of shape (X, Y, Z)")
      ->group(group)
      ->type_name("FILE")
      ->check(not_empty);
  app.add_option("--plot", plot_,
                 "draw one plane (that of --slice, else z=Z/2) as .png, .svg or .pdf; needs python3 with matplotlib")
      ->group(group)
      ->type_name("FILE")
      ->check(not_empty);
  app.add_option("--slice", slice_, "write and draw only this plane of the grid: x=N, y=N or z=N")
      ->group(group)
      ->type_name("WHERE");
}

void GridOutput::read(Size3 size) {
  drawn_ = {2, size.z / 2};
  if (!slice_.empty()) {
    where_ = drawn_ = read_slice(slice_, size);
    if (output_.empty() && plot_.empty()) {
      throw UsageError("--slice selects what --output and --plot write; add --output FILE.npy, or --plot FILE.png");
    }
  }
  if (!output_.empty() && !output_.ends_with(".npy")) {
    throw UsageError("--output " + output_ + ": a grid is written as a NumPy array; use a name that ends in .npy");
  }
}

void GridOutput::open() {
  if (!speaks_) return;
  if (!plot_.empty()) {
    check_plot(plot_, "or write --output FILE.npy, and draw it elsewhere with scripts/plot_grid.py");
  }
  if (!output_.empty()) file_.emplace(output_);
}

template <class T>
void GridOutput::write(const GridSteps<T>& grid, const char* npy_type) {
  if (!output_.empty()) {
    write_npy(grid, npy_type, where_, [this](const void* data, std::size_t bytes) {
      if (file_) file_->write(data, bytes);
    });
    if (file_) file_->commit();
  }
  if (plot_.empty()) return;
  std::string plane;
  write_npy(grid, npy_type, std::optional(drawn_),
            [&](const void* data, std::size_t bytes) { plane.append(static_cast<const char*>(data), bytes); });
  if (!speaks_) return;
  const Size3 n = grid.size();
  const std::string names = "xyz", across(1, names[drawn_.across]);
  std::string axes = names;
  axes.erase(static_cast<std::size_t>(drawn_.across), 1);
  const std::string cells = std::to_string(n.x) + " x " + std::to_string(n.y) + " x " + std::to_string(n.z);
  draw_plot("plot_grid.py", plane, plot_,
            {"--axes", axes, "--title",
             across + " = " + std::to_string(drawn_.at) + " of " + cells + ", after " + std::to_string(grid.steps()) +
                 " iterations"},
            "FILE.npy (of --output FILE.npy --slice " + across + "=" + std::to_string(drawn_.at) + ")");
}
template void GridOutput::write(const GridSteps<float>&, const char*);
template void GridOutput::write(const GridSteps<double>&, const char*);

}  // namespace shoal::cli
