// The worklist as a task and its workers see it. docs/contract.md states what it promises.
//
// Each PE has a ring of accepted items, a channel from every other PE, and spill (view.hpp). A worker pushes through
// its `Out` (out.hpp).
#pragma once
#include "shoal/core/span.hpp"  // a range to push from
#include "shoal/worklist/out.hpp"
#include "shoal/worklist/view.hpp"
