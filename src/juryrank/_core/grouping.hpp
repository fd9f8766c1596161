// Values of rows, put in groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arrays.hpp"

namespace juryrank {

// The stable order that sorts codes, which lie in 0 ... groups - 1.
template <typename Code>
std::vector<std::int64_t> counting_order(std::span<const Code> codes, std::size_t groups) {
  std::vector<std::size_t> next(groups + 1);
  for (const Code code : codes) ++next[static_cast<std::size_t>(code) + 1];
  for (std::size_t g = 0; g < groups; ++g) next[g + 1] += next[g];
  std::vector<std::int64_t> order(codes.size());
  for (std::size_t k = 0; k < codes.size(); ++k)
    order[next[static_cast<std::size_t>(codes[k])]++] = static_cast<std::int64_t>(k);
  return order;
}

// Writes what `value_of` gives for each row to the next free entry of its group, of which the first
// is `next`; rows of the group -1 are left out. False, where that would be outside of `out`.
template <typename Value, typename ValueOf>
bool scatter_by_group(Items group, std::vector<std::int64_t> next, std::span<Value> out,
                      const ValueOf& value_of) {
  for (std::size_t k = 0; k < group.size(); ++k) {
    if (group[k] < 0) continue;
    const std::int64_t at = next[static_cast<std::size_t>(group[k])]++;
    if (at < 0 || static_cast<std::size_t>(at) >= out.size()) return false;
    out[static_cast<std::size_t>(at)] = value_of(k);
  }
  return true;
}

}  // namespace juryrank
