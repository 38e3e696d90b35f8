// Everything that a program on a grid in blocks needs.
#pragma once
#include "shoal/program/grid_program.hpp"
