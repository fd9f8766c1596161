// Whether a judge agrees with itself: circular triads and repeated answers.
#pragma once

#include <cstdint>

#include "arrays.hpp"

namespace juryrank {

struct Consistency {
  std::int64_t triads = 0;    // three items of which every pair was decided
  std::int64_t circular = 0;  // of them, a over b, b over c and c over a
  std::int64_t repeats = 0;   // pairs of answers to the same question
  std::int64_t repeated = 0;  // of them, those that agree
};

// Of one judge's votes on pairs and, where `better` and `worse` are, on pairs that rankings imply,
// of which only repeats count. Pairs that were won as often as lost are not decided.
Consistency consistency(Items winner, Items loser, Items better, Items worse);

}  // namespace juryrank
