// How the commands write answers: NumPy arrays or text.
#pragma once
#include <cstdint>
#include <string>

#include "algo/algorithm.hpp"
#include "program/output_file.hpp"

namespace shoal::cli {

/// An answer is written as .npy or as text. @throws UsageError  the name promises something else: .npz .gz .zst
void refuse_other_form(const std::string& flag, const std::string& name);

/// The header of a .npy file of little-endian values in C order. Source: numpy.lib.format, version 1.0.
/// @param type   NumPy's, such as "f8"
/// @param shape  as Python writes a tuple's inside: "3, 4", or "5,"
std::string npy_header(const char* type, const std::string& shape);

/// Writes rows of n values each: as a NumPy array if the name ends in .npy (one row: shape (n,); more: (rows, n), of the widest of
/// the rows' types, int32, int64 or float64), else as text, one line per vertex with a space between the rows' values.
/// Real numbers are written so that reading them gives the same number; infinity is `inf`.
void write_rows(OutputFile& file, const Rows& rows, std::int64_t n);

}  // namespace shoal::cli
