#include "wrong_flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace shoal::cli {
namespace {

/// Letters to insert, drop, replace or swap with their neighbour to make b of a.
std::size_t edits_between(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = std::exchange(last, now);
  }
  return last[b.size()];
}

/// The word that was probably meant, as "; did you mean WORD?", or nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) {
    return edits_between(word, a) < edits_between(word, b);
  });
  if (nearest == known.end() || edits_between(word, *nearest) > std::max<std::size_t>(1, nearest->size() / 3))
    return "";
  return "; did you mean " + *nearest + "?";
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::string unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  std::string list;
  for (const CLI::App* each : app.get_subcommands(nullptr)) {
    names.push_back(each->get_name());
    list += (list.empty() ? "" : ", ") + each->get_name();
  }
  const std::string nearest = did_you_mean(word, names);
  return "'" + word + "' is not a command" + (nearest.empty() ? "; there are " + list : nearest);
}

}  // namespace

std::string explain_flags(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  std::string what = error.what();
  const std::vector<std::string> extras = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extras.empty()) {
    const std::string& word = extras.front();
    const bool flag = word.size() > 1 && word[0] == '-';
    if (chosen.empty() && !flag) {
      what = unknown_command(app, word);
    } else if (flag) {
      const std::string name = word.substr(0, word.find('='));
      const std::string as_long = name[1] == '-' ? name : "-" + name;
      what = name + " is not an option" + did_you_mean(as_long, flags_of(command));
    } else {
      what = "'" + word + "' is one word too many; values that may be left out are written with =, such as --json=FILE";
    }
  } else if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const std::string head = "Could not convert: ";
    if (what.rfind(head, 0) == 0) what = what.substr(head.size()) + " is not a number that fits";
  }
  return what + " (see shoal" + (chosen.empty() ? "" : " " + command.get_name()) + " --help)";
}

}  // namespace shoal::cli
