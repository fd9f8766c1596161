#include "touched.hpp"

namespace juryrank {

void add_items(const PairVotes& pairs, const ListVotes* lists, std::size_t judge, IndexSet& set) {
  const Range own = pairs.of(judge);
  for (std::size_t k = own.first; k < own.last; ++k) {
    set.add(static_cast<std::size_t>(pairs.winner[k]));
    set.add(static_cast<std::size_t>(pairs.loser[k]));
  }
  if (!lists) return;
  const Range entries = lists->entries_of_judge(judge);
  for (std::size_t e = entries.first; e < entries.last; ++e)
    set.add(static_cast<std::size_t>(lists->item[e]));
}

void add_touched(const LikelihoodAt& at, std::size_t judge, IndexSet& set) {
  add_items(at.pairs, at.lists, judge, set);
  const std::size_t sizes = at.effects ? at.effects->sizes.size() : 0;
  for (std::size_t t = 0; t < sizes; ++t)
    for (const std::size_t index : touched_tie(at.index, t, judge)) set.add(index);
  for (const std::size_t index : touched_order(at.index, judge)) set.add(index);
}

}  // namespace juryrank
