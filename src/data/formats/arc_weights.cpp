// Reads weights in text, collects them as int32 or float64, and records the places of those that deserve a remark.
#include <cmath>

#include "arc_lines.hpp"

namespace shoal::io {
namespace {

/// The number at p, as it was written.
std::string written(const char* p, const char* end) {
  const char* stop = p;
  while (stop < end && !is_blank(*stop) && *stop != ',' && *stop != '\n' && *stop != '\r') ++stop;
  return {p, stop};
}

}  // namespace

void to_real(ArcList& arcs) {
  arcs.real_weights.assign(arcs.int_weights.begin(), arcs.int_weights.end());
  arcs.int_weights = {};
  arcs.weight_kind = WeightKind::float64;
}

const char* read_weight(const char* p, const char* end, bool commas, WeightRule rule, WeightValue& value) {
  if (p == end) throw ParseError{p, "the line ends where a weight is expected; is the file complete?"};
  const char* digits = *p == '+' && p + 1 < end && p[1] != '-' ? p + 1 : p;
  std::int64_t whole = 0;
  const auto integer = std::from_chars(digits, end, whole);
  if (integer.ptr != digits && ends_field(integer.ptr, end, commas)) {
    if (rule != WeightRule::real) {
      if (integer.ec != std::errc() || whole > kMostWholeWeight || whole < -kMostWholeWeight)
        throw ParseError{p,
                         "whole weight " + quoted(p, end, commas) + " cannot be kept exactly; the largest is " +
                             std::to_string(kMostWholeWeight) + " (2^53): scale the weights down" +
                             (rule == WeightRule::any ? ", or write it with a decimal point to have it rounded" : "")};
      value.is_whole = true;
      value.is_int32 = whole >= INT32_MIN && whole <= INT32_MAX;
      value.whole = value.is_int32 ? static_cast<std::int32_t>(whole) : 0;
      value.real = static_cast<double>(whole);
      return integer.ptr;
    }
  } else if (rule == WeightRule::integer) {
    const auto real = std::from_chars(digits, end, value.real);
    const bool number = real.ec == std::errc() && ends_field(real.ptr, end, commas) && std::isfinite(value.real);
    throw ParseError{
        p, "expected an integer weight, found " + quoted(p, end, commas) +
               (number ? "; this file's weights are whole: scale them, or write .wel, or .mtx with the field real"
                       : "; write it in digits")};
  }
  const auto real = std::from_chars(digits, end, value.real);
  if (real.ptr == digits || !ends_field(real.ptr, end, commas))
    throw ParseError{p, "expected a weight, found " + quoted(p, end, commas) + "; weights are decimal numbers"};
  if (real.ec != std::errc())
    throw ParseError{p, "weight " + quoted(p, end, commas) + " does not fit a 64-bit float; scale the weights"};
  if (!std::isfinite(value.real))
    throw ParseError{p, "weight " + quoted(p, end, commas) + " is not finite; weights must be numbers"};
  value.is_int32 = value.is_whole = false;
  return real.ptr;
}

const char* read_attributes(const char* p, const char* end, WeightRule rule, WeightValue& value) {
  const ParseError mixed{p, "some edges have a weight and others have none, " + quoted({p, end}) +
                                "; give every edge one, or none (networkx.write_edgelist with data=False)"};
  const char* close = end;
  while (close > p && is_blank(close[-1])) --close;
  if (close - p >= 2 && *p == '{' && *--close == '}') {
    const char* key = skip_blanks(p + 1, close);
    if (key == close) {
      if (rule != WeightRule::none) throw mixed;
      return end;
    }
    const std::string_view inner(key, static_cast<std::size_t>(close - key));
    if (inner.starts_with("'weight':") || inner.starts_with("\"weight\":")) {
      if (rule == WeightRule::none) throw mixed;
      const char* number = skip_blanks(key + inner.find(':') + 1, close);
      if (skip_blanks(read_weight(number, close, true, rule, value), close) == close) return end;
    }
  }
  throw ParseError{p, "expected {} or {'weight': NUMBER} behind the ends of an edge, found " + quoted({p, end}) +
                          "; write the file with networkx.write_weighted_edgelist, or with write_edgelist and "
                          "data=False"};
}

void append_weight(ArcList& arcs, const WeightValue& value, const char* at, bool reals_only) {
  WeightSpots& spots = arcs.spots;
  if (!value.is_whole || reals_only) spots.fractions = true;
  if (value.is_whole && !value.is_int32 && spots.wide == nullptr) spots.wide = at;
  if (value.real < 0 && spots.negative == nullptr) {
    spots.negative = at;
    spots.negative_arc = arcs.size() - 1;
  }
  if (arcs.weight_kind == WeightKind::none) arcs.weight_kind = reals_only ? WeightKind::float64 : WeightKind::int32;
  if (arcs.weight_kind == WeightKind::int32 && !value.is_int32) to_real(arcs);
  if (arcs.weight_kind == WeightKind::int32) {
    arcs.int_weights.push_back(value.whole);
  } else {
    arcs.real_weights.push_back(value.real);
  }
}

WeightRemarks remarks_of(const Text& text, const std::vector<ArcList>& pieces) {
  WeightRemarks remarks;
  bool fractions = false;
  for (const ArcList& piece : pieces) {
    const WeightSpots& spots = piece.spots;
    fractions = fractions || spots.fractions;
    if (spots.wide != nullptr && remarks.wide.empty())
      remarks.wide = "the whole weight " + written(spots.wide, text.end()) + " on line " +
                     std::to_string(text.line(spots.wide)) + kBeyondInt32;
    if (spots.negative != nullptr && remarks.negative.empty())
      remarks.negative = text.name + ":" + std::to_string(text.line(spots.negative)) + ": the edge from vertex " +
                         std::to_string(piece.sources[spots.negative_arc]) + " to vertex " +
                         std::to_string(piece.targets[spots.negative_arc]) + " (numbered from 0) has weight " +
                         written(spots.negative, text.end());
  }
  if (fractions) remarks.wide.clear();
  return remarks;
}

}  // namespace shoal::io
