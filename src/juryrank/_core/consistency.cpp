#include "consistency.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace juryrank {
namespace {

// Two items, and how often each was preferred.
struct Met {
  std::int32_t low, high;
  std::int64_t low_won, high_won;

  bool is_before(const Met& other) const {
    return low != other.low ? low < other.low : high < other.high;
  }
  bool low_is_better() const { return low_won > high_won; }
};

void add(Items winner, Items loser, std::vector<Met>& met) {
  for (std::size_t k = 0; k < winner.size(); ++k)
    met.push_back(winner[k] < loser[k] ? Met{winner[k], loser[k], 1, 0}
                                       : Met{loser[k], winner[k], 0, 1});
}

// In order, every two items once.
void merge(std::vector<Met>& met) {
  std::sort(met.begin(), met.end(), [](const Met& a, const Met& b) { return a.is_before(b); });
  std::size_t last = 0;
  for (std::size_t k = 1; k < met.size(); ++k) {
    if (met[last].is_before(met[k])) {
      met[++last] = met[k];
    } else {
      met[last].low_won += met[k].low_won;
      met[last].high_won += met[k].high_won;
    }
  }
  if (!met.empty()) met.resize(last + 1);
}

// Triads a < b < c, of pairs in order: for each pair (a, b), the items that both have met later.
void count_triads(const std::vector<Met>& met, Consistency& found) {
  const auto of = [&](std::int32_t item) {
    return std::lower_bound(met.begin(), met.end(), item,
                            [](const Met& pair, std::int32_t low) { return pair.low < low; });
  };
  for (auto ab = met.begin(); ab != met.end(); ++ab) {
    auto ac = ab + 1;
    auto bc = of(ab->high);
    while (ac != met.end() && ac->low == ab->low && bc != met.end() && bc->low == ab->high) {
      if (ac->high < bc->high) {
        ++ac;
      } else if (bc->high < ac->high) {
        ++bc;
      } else {
        ++found.triads;
        found.circular += ab->low_is_better() == bc->low_is_better() &&
                          ab->low_is_better() != ac->low_is_better();
        ++ac;
        ++bc;
      }
    }
  }
}

}  // namespace

Consistency consistency(Items winner, Items loser, Items better, Items worse) {
  Consistency found;
  std::vector<Met> met;
  add(winner, loser, met);
  merge(met);
  std::vector<Met> decided;
  std::copy_if(met.begin(), met.end(), std::back_inserter(decided),
               [](const Met& pair) { return pair.low_won != pair.high_won; });
  count_triads(decided, found);
  add(better, worse, met);
  merge(met);
  for (const Met& pair : met) {
    const std::int64_t same =
        pair.low_won * (pair.low_won - 1) / 2 + pair.high_won * (pair.high_won - 1) / 2;
    found.repeated += same;
    found.repeats += same + pair.low_won * pair.high_won;
  }
  return found;
}

}  // namespace juryrank
