// Everything that a program with a task of its own needs.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/span.hpp"
#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/program/context.hpp"
#include "shoal/program/program.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worker/worker.hpp"
