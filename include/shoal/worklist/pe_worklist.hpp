// The worklist: where items wait, on all PEs together. docs/contract.md states what it promises.
//
// Per PE: one ring of accepted items, one channel from every other PE, and spill (worklist_view.hpp). A worker's `Out` is its
// door (out.hpp).
#pragma once
#include "shoal/core/span.hpp"  // a range to push from
#include "shoal/worklist/out.hpp"
#include "shoal/worklist/view.hpp"
