// What all bindings share: arrays of Python as spans, spans as arrays, and checks. Whatever is
// handed over is checked: a wrong call raises, and nothing is read outside of an array.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace juryrank {

namespace nb = nanobind;
using namespace nb::literals;

template <typename T>
using Row = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// What is set or added to in place.
using RoomRow = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using RoomMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using NumberMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::numpy, double>;

// --- to and from arrays --------------------------------------------------------------------------

template <typename T>
std::span<const T> span_of(const Row<T>& row) {
  return {row.data(), row.shape(0)};
}
inline Room room_of(const RoomRow& row) { return {row.data(), row.shape(0)}; }
inline Matrix room_of(const RoomMatrix& matrix) {
  return {matrix.data(), matrix.shape(0), matrix.shape(1)};
}
inline ConstMatrix view_of(const NumberMatrix& matrix) {
  return {matrix.data(), matrix.shape(0), matrix.shape(1)};
}

// An array that owns its values.
template <typename T>
nb::ndarray<nb::numpy, T> array_of(std::vector<T> values, std::vector<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

template <typename T>
nb::ndarray<nb::numpy, T> array_of(std::vector<T> values) {
  const std::size_t size = values.size();
  return array_of(std::move(values), {size});
}

inline Array array_of(Numbers values) {
  return array_of(std::vector<double>(values.begin(), values.end()));
}

// --- checks --------------------------------------------------------------------------------------

[[noreturn]] inline void refuse(const std::string& why) { throw nb::value_error(why.c_str()); }

inline void check_size(const char* name, std::size_t size, std::size_t wanted) {
  if (size != wanted)
    refuse(std::string(name) + " has " + std::to_string(size) + " entries, not " +
           std::to_string(wanted) + ".");
}

template <typename T>
void check_codes(const char* name, std::span<const T> codes, std::size_t count) {
  for (const T code : codes)
    if (code < 0 || static_cast<std::size_t>(code) >= count)
      refuse(std::string(name) + " has the code " + std::to_string(code) + ", of " +
             std::to_string(count) + ".");
}

inline void check_range(Range judges, std::size_t count) {
  if (judges.first > judges.last || judges.last > count)
    refuse("There are no judges from " + std::to_string(judges.first) + " to " +
           std::to_string(judges.last) + ", of " + std::to_string(count) + ".");
}

// Where runs begin, and the last one ends.
inline void check_starts(const char* name, Codes starts, std::size_t end) {
  if (starts.empty() || starts.front() != 0 || starts.back() != static_cast<std::int64_t>(end) ||
      !std::is_sorted(starts.begin(), starts.end()))
    refuse(std::string(name) + " must rise from 0 to " + std::to_string(end) + ".");
}

inline void check_finite(const char* name, Numbers values) {
  for (const double value : values)
    if (!std::isfinite(value)) refuse(std::string(name) + " has an entry that is not finite.");
}

inline void check_positive(const char* name, Numbers values) {
  for (const double value : values)
    if (!(value > 0.0) || !std::isfinite(value))
      refuse(std::string(name) + " must be positive, not " + std::to_string(value) + ".");
}

inline void check_not_negative(const char* name, Numbers values) {
  for (const double value : values)
    if (!(value >= 0.0) || !std::isfinite(value))
      refuse(std::string(name) + " has an entry that is negative or not finite.");
}

inline void check_positive(const char* name, double value) {
  check_positive(name, Numbers(&value, 1));
}

// --- what each file binds ------------------------------------------------------------------------

void bind_votes(nb::module_& m);
void bind_passes(nb::module_& m);
void bind_sums(nb::module_& m);
void bind_lists(nb::module_& m);
void bind_information(nb::module_& m);
void bind_cells(nb::module_& m);
void bind_chain(nb::module_& m);

}  // namespace juryrank
