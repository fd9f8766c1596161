// Which unknowns of the state a judge's votes are about.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "likelihood.hpp"

namespace juryrank {

// Where an effect stands in the state: for all judges, and for one of them.
struct Touched {
  std::size_t at[2];
  std::size_t count = 0;

  Touched(std::optional<std::size_t> common, std::optional<std::size_t> own, std::size_t judge) {
    if (common) at[count++] = *common;
    if (own) at[count++] = *own + judge;
  }
  const std::size_t* begin() const { return at; }
  const std::size_t* end() const { return at + count; }
};

inline Touched touched_order(const EffectIndex& index, std::size_t judge) {
  return {index.order, index.own_order, judge};
}

// The weight of ties of the t-th size.
inline Touched touched_tie(const EffectIndex& index, std::size_t t, std::size_t judge) {
  return {index.tie ? std::optional(*index.tie + t) : std::nullopt, index.own_tie, judge};
}

// A set of indices below `size`, which is emptied as it is read.
class IndexSet {
 public:
  explicit IndexSet(std::size_t size) : word_((size + 63) / 64) {}

  void add(std::size_t index) {
    std::uint64_t& word = word_[index / 64];
    if (!word) used_.push_back(index / 64);
    word |= std::uint64_t{1} << (index % 64);
  }

  // What was added, each once and ascending.
  template <typename Work>
  void take(Work&& work) {
    std::sort(used_.begin(), used_.end());
    for (const std::size_t w : used_) {
      for (std::uint64_t left = word_[w]; left; left &= left - 1)
        work(64 * w + static_cast<std::size_t>(std::countr_zero(left)));
      word_[w] = 0;
    }
    used_.clear();
  }

 private:
  std::vector<std::uint64_t> word_;
  std::vector<std::size_t> used_;  // words that are not 0
};

// Adds the items of a judge's votes, and the effects that they are about.
void add_touched(const LikelihoodAt& at, std::size_t judge, IndexSet& set);

// Adds the items alone.
void add_items(const PairVotes& pairs, const ListVotes* lists, std::size_t judge, IndexSet& set);

}  // namespace juryrank
