#include "wrong_flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace shoal::cli {
namespace {

/// The number of letters to insert, drop, replace or swap with their neighbour to turn a into b.
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
  return "'" + word + "' is not a command" + (nearest.empty() ? "; the commands are " + list : nearest);
}

/// The first word that was left over and looks like a flag, else the first.
std::string left_over(const CLI::App& app) {
  std::vector<std::string> words = app.remaining(true);
  std::erase(words, "--");
  const auto flag =
      std::find_if(words.begin(), words.end(), [](const std::string& w) { return w.size() > 1 && w[0] == '-'; });
  return flag != words.end() ? *flag : words.empty() ? "" : words.front();
}

}  // namespace

std::string explain_options(const CLI::App& app, const CLI::ParseError& error) {
  const std::string word = left_over(app);
  std::string what = error.what();
  // A missing command is worse than a flag that may be one of the command's.
  const bool flag_left = word.size() > 1 && word[0] == '-' && app.get_require_subcommand_min() == 0 &&
                         dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if ((dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !word.empty()) || flag_left) {
    if (word[0] != '-' || word.size() == 1) {
      return "'" + word + "' is one word too many; an optional value is written with =, such as --json=FILE";
    }
    const std::string name = word.substr(0, word.find('='));
    const std::string as_long = name[1] == '-' ? name : "-" + name;
    return name + " is not an option" + did_you_mean(as_long, flags_of(app));
  }
  const std::string head = "Could not convert: ";
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr && what.rfind(head, 0) == 0) {
    what = what.substr(head.size());
    const CLI::Option* const option = app.get_option_no_throw(what.substr(0, what.find(' ')));
    const bool takes_none = option != nullptr && option->get_items_expected_max() == 0;
    what = takes_none ? option->get_name() + " takes no value; leave out what follows it"
                      : what + " is not a valid number";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::size_t colon = what.find(": ");
    const std::string name = what.substr(0, colon);
    if (what.find(": At Most 1 required") == colon) what = name + " is given more than once; leave out all but one";
    if (what.find(": 1 required ") == colon && what.ends_with(" missing"))
      what = name + " needs a value: " + name + " " + what.substr(colon + 13, what.size() - colon - 21);
  }
  return what;
}

std::string explain_flags(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string word = left_over(app);
  const bool no_command =
      chosen.empty() && !word.empty() && word[0] != '-' && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const auto follows = [&] {  // `shoal run -n 2 bfs kron:8 --verify`
    const bool of_command =
        command.get_name() == "run" && command.count("command") > 0 && word.size() > 1 && word[0] == '-';
    return of_command ? "; write -- before a command that has options: shoal run -n 2 -- bfs kron:8 --verify" : "";
  };
  return (no_command ? unknown_command(app, word) : explain_options(command, error) + follows()) + " (see " +
         app.get_name() + (chosen.empty() ? "" : " " + command.get_name()) + " --help)";
}

}  // namespace shoal::cli
