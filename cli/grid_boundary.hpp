// The flag --boundary of grids.
#pragma once
#include <string>

namespace shoal::cli {

/// Reads "1", "x0=1" or "0,x1=1,y0=-2": a number without a face sets all faces, which later entries may override.
/// @param face  values of the cells outside x0, x1, y0, y1, z0, z1, in this order; faces without an entry keep theirs
/// @throws UsageError
void read_boundary(const std::string& text, double (&face)[6]);

}  // namespace shoal::cli
