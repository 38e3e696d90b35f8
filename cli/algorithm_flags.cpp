#include "algorithm_flags.hpp"

#include <CLI/CLI.hpp>

#include "shoal/core/error.hpp"
#include "shoal/program/run_flags.hpp"
#include "wrong_flags.hpp"

namespace shoal::cli {
namespace {

class AddFlags : public OptionVisitor {
 public:
  AddFlags(CLI::App& app, const char* group) : app_(app), group_(group) {}
  void text(const char* name, std::string& value, const char* says) override { add(name, value, says, "KIND"); }
  void file(const char* name, std::string& value, const char* says) override { add(name, value, says, "FILE"); }
  void number(const char* name, double& value, const char* says) override {
    add(name, value, says, "X")->capture_default_str();
  }
  void flag(const char* name, bool& value, const char* says) override {
    app_.add_flag(dashed(name), value, says)->group(group_);
  }

 private:
  static std::string dashed(const char* name) { return std::string("--") + name; }
  template <class T>
  CLI::Option* add(const char* name, T& value, const char* says, const char* type) {
    return app_.add_option(dashed(name), value, says)->group(group_)->type_name(type);
  }

  CLI::App& app_;
  const char* group_;
};

struct ListOptions : OptionVisitor {
  void text(const char* name, std::string& value, const char*) override { options[name] = value; }
  void file(const char* name, std::string& value, const char*) override {
    if (value.empty()) return;
    options[name] = value;
    files.push_back({std::string("--") + name, value});
  }
  void number(const char* name, double& value, const char*) override { options[name] = value; }
  void flag(const char* name, bool& value, const char*) override { options[name] = value; }

  Json options = Json::object();
  std::vector<NamedFile> files;
};

}  // namespace

void add_flags(CLI::App& app, const char* group, Algorithm& algorithm) {
  AddFlags visitor(app, group);
  algorithm.visit(visitor);
}

Json own_options(Algorithm& algorithm) {
  ListOptions list;
  algorithm.visit(list);
  return list.options;
}

std::vector<NamedFile> own_files(Algorithm& algorithm) {
  ListOptions list;
  algorithm.visit(list);
  return list.files;
}

std::unique_ptr<Algorithm> configure(const AlgorithmInfo& info, const std::vector<std::string>& flags) {
  std::unique_ptr<Algorithm> algorithm = info.make();
  RunFlags shared;
  CLI::App app;
  add_flags(app, "", *algorithm);
  shared.add_to(app);
  try {
    app.parse(std::vector<std::string>(flags.rbegin(), flags.rend()));  // CLI11 takes them from the back
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string("options of ") + info.name + ": " + explain_options(app, error) + " (see shoal " +
                     info.name + " --help)");
  }
  Options options;
  shared.read(options);
  algorithm->read(options);
  return algorithm;
}

}  // namespace shoal::cli
