// Sums in a fixed number of lanes: they vectorise, and their order depends on nothing but the data.
#pragma once

#include <cstddef>

#include "levels.hpp"

// For functions that are a loop over votes: made part of a larger one, compilers no longer see how
// to vectorise it.
#ifdef _MSC_VER
#define JURYRANK_LOOP __declspec(noinline)
#else
#define JURYRANK_LOOP __attribute__((noinline))
#endif

JURYRANK_BEGIN_LEVEL

inline constexpr std::size_t kLanes = 8;

// So many, and what is missing to whole rows of lanes.
inline std::size_t whole_rows(std::size_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

inline double sum_of_lanes(const double (&lane)[kLanes]) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// The sum of what `term` gives for 0, 1, ... up to `count`, which are whole rows.
template <typename Term>
inline double sum_over(std::size_t count, const Term& term) {
  double lane[kLanes] = {};
  for (std::size_t k = 0; k < count; k += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) lane[l] += term(k + l);
  return sum_of_lanes(lane);
}

JURYRANK_END_LEVEL
