// JSON as the command writes it: members stay in the order in which they were added.
#pragma once
#include <nlohmann/json.hpp>

namespace shoal::cli {

using Json = nlohmann::ordered_json;

}  // namespace shoal::cli
