// How far each judge's votes lean to the left or to the right side.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "arrays.hpp"
#include "noise.hpp"

namespace juryrank {

// Votes on pairs by what stood on which side, sorted by judge.
struct SidedVotes {
  Codes start;
  Items left, right;
  std::span<const std::int8_t> outcome;  // 1: left won; -1: right won; 0: a tie
  std::optional<Numbers> weight;         // all are 1
};

// Of each judge, if the left item wins with probability F(a (s_left - s_right) + order + d): at
// d = 0, the gradient of log P in d, its variance and its third central moment; and how often the
// left item won. A tie is half a win in the last.
struct PositionSums {
  Room excess, information, third, won;
};

// Ties count as half a win, or not at all: where they are an outcome, this is the probability given
// that there is no tie.
void set_position_sums(const Noise& noise, const SidedVotes& votes, Numbers score, Numbers accuracy,
                       Numbers order, bool ties_count, const PositionSums& found);

}  // namespace juryrank
