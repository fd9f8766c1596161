#include "counts.hpp"

#include <algorithm>
#include <vector>

namespace juryrank {
namespace {}  // namespace

void add_to_both(const PairVotes& pairs, Range judges, Numbers factor, Room total) {
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    const Range own = pairs.of(u);
    for (std::size_t k = own.first; k < own.last; ++k) {
      const double added = factor[u] * pairs.weight_of(k);
      total[index(pairs.winner[k])] += added;
      total[index(pairs.loser[k])] += added;
    }
  }
}

void count_wins(const PairVotes& pairs, Range judges, Matrix counts) {
  if (judges.first == judges.last) return;
  const Range votes{pairs.of(judges.first).first, pairs.of(judges.last - 1).last};
  for (std::size_t k = votes.first; k < votes.last; ++k)
    counts.at(index(pairs.winner[k]), index(pairs.loser[k])) += pairs.weight_of(k);
}

Agreement pair_agreement(const PairVotes& pairs, Range judges, Numbers counts, Numbers say,
                         Numbers score) {
  Agreement found{0.0, 0.0};
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    const Range own = pairs.of(u);
    double sum = 0.0, square = 0.0;
    for (std::size_t k = own.first; k < own.last; ++k) {
      const double half = 0.5 * (score[index(pairs.winner[k])] - score[index(pairs.loser[k])]);
      const double weight = pairs.weight_of(k);
      const bool tied = pairs.tied && (*pairs.tied)[k];
      sum += tied ? 0.0 : weight * half;
      square += weight * half * half;
    }
    found.sum += counts[u] * say[u] * sum;
    found.variance += counts[u] * say[u] * say[u] * square;
  }
  return found;
}

void set_elsewhere(const PairVotes& pairs, Range judges, std::size_t n_items, Room share) {
  std::vector<double> seen(n_items);
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    const Range own = pairs.of(u);
    double most = 0.0, total = 0.0;
    for (std::size_t k = own.first; k < own.last; ++k) {
      const double weight = pairs.weight_of(k);
      double &winner = seen[index(pairs.winner[k])], &loser = seen[index(pairs.loser[k])];
      winner += weight;
      loser += weight;
      total += weight;
      most = std::max({most, winner, loser});
    }
    for (std::size_t k = own.first; k < own.last; ++k)
      seen[index(pairs.winner[k])] = seen[index(pairs.loser[k])] = 0.0;
    share[u] = total > 0.0 ? 1.0 - most / total : 1.0;
  }
}

}  // namespace juryrank
