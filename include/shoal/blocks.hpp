// Everything that a program of blocks needs: on a grid, or any other.
#pragma once
#include "shoal/program/block_program.hpp"
#include "shoal/program/grid_program.hpp"
