// The kinds of an option (its legal values) and their names: one table serves to convert in both directions and to list the legal
// names in an error.
#pragma once
#include <cstddef>
#include <string>

#include "shoal/core/error.hpp"

namespace shoal {

template <class Kind>
struct Named {
  Kind kind;
  const char* name;
};

/// The name of `kind`.
/// @param all  every kind, in the order in which an error lists them
template <class Kind, std::size_t N>
const char* name_of(const Named<Kind> (&all)[N], Kind kind) {
  for (const Named<Kind>& known : all) {
    if (known.kind == kind) return known.name;
  }
  return "?";
}

/// The kind that `text` names. @param option  the name of the option, for the error: "strategy"
/// @param after  text for the error, after the last legal name: ", block:THREADS"
/// @throws UsageError naming the option, the text and the legal names
template <class Kind, std::size_t N>
Kind kind_of(const Named<Kind> (&all)[N], const char* option, const std::string& text, const char* after = "") {
  std::string legal;
  for (const Named<Kind>& known : all) {
    if (text == known.name) return known.kind;
    legal += std::string(legal.empty() ? "" : ", ") + known.name;
  }
  throw UsageError(std::string(option) + " '" + text + "' is not known; legal: " + legal + after);
}

}  // namespace shoal
