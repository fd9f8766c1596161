#include "position.hpp"

#include <cmath>

namespace juryrank {
namespace {

struct OneJudge {
  double excess = 0.0, information = 0.0, third = 0.0, won = 0.0;

  // With f the density at x: gain = f / F(x) and loss = f / F(-x).
  void add(double share, double weight, double gain, double loss) {
    excess += weight * (share * gain - (1.0 - share) * loss);
    information += weight * gain * loss;
    third += weight * gain * loss * (gain - loss);
  }
};

}  // namespace

void set_position_sums(const Noise& noise, const SidedVotes& votes, Numbers score, Numbers accuracy,
                       Numbers order, bool ties_count, const PositionSums& found) {
  with_family(noise, [&](const auto& family) {
    for (std::size_t u = 0; u + 1 < votes.start.size(); ++u) {
      OneJudge own;
      const auto end = static_cast<std::size_t>(votes.start[u + 1]);
      for (auto k = static_cast<std::size_t>(votes.start[u]); k < end; ++k) {
        const double share = 0.5 * (1.0 + votes.outcome[k]);
        const double weight = votes.weight ? (*votes.weight)[k] : 1.0;
        own.won += weight * share;
        if (votes.outcome[k] == 0 && !ties_count) continue;
        const double gap = score[static_cast<std::size_t>(votes.left[k])] -
                           score[static_cast<std::size_t>(votes.right[k])];
        const double x = accuracy[u] * gap + order[u];
        const Tail tail = family.tail(std::abs(x));
        own.add(share, weight, -gradient_of(x, tail), tail.first * (x >= 0.0 ? 1.0 : tail.odds));
      }
      found.excess[u] = own.excess;
      found.information[u] = own.information;
      found.third[u] = own.third;
      found.won[u] = own.won;
    }
  });
}

}  // namespace juryrank
