// The values that a grid begins with: the flag --boundary, and what any value must fit.
#pragma once
#include <string>

namespace shoal::cli {

/// Reads "1", "x0=1" or "0,x1=1,y0=-2": a number without a face sets all faces, which later entries may override.
/// @param face  values of the cells outside x0, x1, y0, y1, z0, z1, in this order; faces without an entry keep theirs
/// @throws UsageError
void read_boundary(const std::string& text, double (&face)[6]);

/// Checks that six cells can be added up. Averages hardly leave the range of the values that a grid begins with.
/// @param dtype  of the cells: float64 or float32
/// @throws UsageError  |value| is more than an eighth of the largest value of that type
void check_sums(const std::string& flag, double value, const std::string& dtype);

}  // namespace shoal::cli
