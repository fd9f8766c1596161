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

// A number in each lane. Where loops over lanes are inside of others, compilers no longer see that
// they are one operation.
#ifdef __GNUC__
typedef double EachLane
    __attribute__((vector_size(kLanes * sizeof(double)), aligned(alignof(double)), may_alias));
inline void set_lanes(EachLane& row, const double* from) {
  row = *reinterpret_cast<const EachLane*>(from);
}
inline void keep_lanes(const EachLane& row, double* to) { *reinterpret_cast<EachLane*>(to) = row; }
#else
struct EachLane {
  double lane[kLanes];
  friend EachLane operator*(double factor, EachLane row) {
    for (double& each : row.lane) each *= factor;
    return row;
  }
  friend EachLane operator*(EachLane row, const EachLane& other) {
    for (std::size_t l = 0; l < kLanes; ++l) row.lane[l] *= other.lane[l];
    return row;
  }
  EachLane& operator+=(const EachLane& other) {
    for (std::size_t l = 0; l < kLanes; ++l) lane[l] += other.lane[l];
    return *this;
  }
};
inline void set_lanes(EachLane& row, const double* from) {
  for (std::size_t l = 0; l < kLanes; ++l) row.lane[l] = from[l];
}
inline void keep_lanes(const EachLane& row, double* to) {
  for (std::size_t l = 0; l < kLanes; ++l) to[l] = row.lane[l];
}
#endif

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
