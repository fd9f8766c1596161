// Views of arrays that others own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace juryrank {

using Numbers = std::span<const double>;
using Codes = std::span<const std::int64_t>;
using Items = std::span<const std::int32_t>;
using Room = std::span<double>;  // numbers to be set or added to

// A matrix, row after row.
template <typename T>
struct MatrixView {
  T* data;
  std::size_t rows, columns;

  T* row(std::size_t i) const { return data + i * columns; }
  T& at(std::size_t i, std::size_t j) const { return data[i * columns + j]; }
};
using Matrix = MatrixView<double>;
using ConstMatrix = MatrixView<const double>;

// From ... to, the last not included.
struct Range {
  std::size_t first, last;
};

// A code that is known to be right.
inline std::size_t index(std::int32_t code) { return static_cast<std::size_t>(code); }

}  // namespace juryrank
