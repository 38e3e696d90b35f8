#include "algo_matrix_inputs.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>

#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal::matrix {
namespace {

/// A graph that is not generated or read yet.
struct Source {
  std::string name;
  std::function<Input()> make;
};

std::vector<Source> sources_of(const std::string& data) {
  std::vector<Source> sources;
  for (const char* spec : {"kron:10", "kron:13", "road:48", "road:150", "uniform:10", "uniform:9,directed",
                           "community:10", "chain:1", "chain:3", "chain:700", "star:400", "complete:65"}) {
    sources.push_back({spec, [spec] { return Input{spec, generate(parse_generator(spec))}; }});
  }
  const char* lonely = "two vertices, no arcs";
  sources.push_back({lonely, [lonely] { return Input{lonely, csr_from_arcs(2, {}, {})}; }});
  if (data.empty() || !std::filesystem::exists(data)) {
    std::printf("real graphs skipped: no folder '%s'\n", data.c_str());
    return sources;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.path().filename().string().ends_with(".el.gz")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {  // small files first
    return std::filesystem::file_size(a) < std::filesystem::file_size(b);
  });
  for (const auto& file : files) {
    const std::string name = file.filename().string();
    sources.push_back(
        {name, [file, name] {
           ReadOptions reading;  // the names tell which lists are directed; both readings give a valid graph
           reading.undirected = name.find("bremen") == std::string::npos && name.find("cnr") == std::string::npos &&
                                name.find("wiki") == std::string::npos;
           return Input{name, read_graph(file.string(), reading), std::filesystem::file_size(file) > 250'000};
         }});
  }
  return sources;
}

}  // namespace

Prepared::Prepared(Input made, const std::vector<Subject>& chosen, const Wanted& wanted, bool count_only)
    : input(std::move(made)), files(input.graph, wanted.seed) {
  // References take seconds on large graphs, so those of all algorithms are computed at the same time.
  std::vector<std::future<Part>> making;
  for (const Subject& subject : chosen) {
    making.push_back(std::async(std::launch::async, [&, count_only] {
      Part part{&subject, {}, {}, wanted.quick && input.large && !subject.large};
      if (!part.skipped) part.ways = all_ways(subject, input, wanted, files, count_only);
      if (part.ways.empty()) return part;
      for (const std::string& manner : subject.manners(input)) {
        part.checks.emplace_back(manner, count_only ? Check{} : subject.check(input, manner, wanted.seed));
      }
      return part;
    }));
  }
  for (std::future<Part>& part : making) parts.push_back(part.get());
}

void for_inputs(const std::string& data, const std::vector<std::string>& texts, const std::vector<Subject>& chosen,
                const Wanted& wanted, const std::function<bool()>& over, const std::function<void(Prepared&)>& f) {
  std::vector<Source> sources = sources_of(data);
  if (!texts.empty()) {
    std::erase_if(sources, [&](const Source& source) {
      return std::none_of(texts.begin(), texts.end(),
                          [&](const std::string& text) { return source.name.find(text) != std::string::npos; });
    });
  }
  const auto prepare = [&](std::size_t i) {
    return std::async(std::launch::async,
                      [&, i] { return std::make_unique<Prepared>(sources[i].make(), chosen, wanted, over()); });
  };
  std::future<std::unique_ptr<Prepared>> next;
  if (!sources.empty()) next = prepare(0);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::unique_ptr<Prepared> ready = next.get();
    if (i + 1 < sources.size()) next = prepare(i + 1);
    f(*ready);
  }
}

}  // namespace shoal::matrix
