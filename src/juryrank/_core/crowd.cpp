#include "crowd.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "elementary.hpp"

namespace juryrank {
namespace {

constexpr double kLeastChance = 1e-300;
constexpr double kEtaTolerance = 1e-12;
constexpr int kMostSteps = 60;

// One vote: F(d), F(-d) and the density at d.
struct Chances {
  double won, lost, density;
};

template <typename Family>
Chances chances(const Family& family, double d) {
  const Tail tail = family.tail(std::abs(d));
  const double more = 1.0 / (1.0 + tail.odds), less = tail.odds * more;
  return {d > 0.0 ? more : less, d > 0.0 ? less : more, tail.first * less};
}

double difference(const PairVotes& pairs, std::size_t k, Numbers score) {
  return score[index(pairs.winner[k])] - score[index(pairs.loser[k])];
}

// Of -sum w log P in eta.
struct EtaDerivatives {
  double first, second;
};

EtaDerivatives derivatives_at(double eta, const std::vector<Chances>& votes, const PairVotes& pairs,
                              std::size_t begin) {
  EtaDerivatives found{0.0, 0.0};
  for (std::size_t k = 0; k < votes.size(); ++k) {
    const double chance = eta * votes[k].won + (1.0 - eta) * votes[k].lost;
    const double ratio = (votes[k].won - votes[k].lost) / std::max(chance, kLeastChance);
    const double weight = pairs.weight_of(begin + k);
    found.first -= weight * ratio;
    found.second += weight * ratio * ratio;
  }
  return found;
}

// Newton steps within a shrinking bracket; the problem is convex.
double best_reliability(double eta, const std::vector<Chances>& votes, const PairVotes& pairs,
                        std::size_t begin) {
  double low = 0.0, high = 1.0;
  for (int step = 0; step < kMostSteps; ++step) {
    const auto [first, second] = derivatives_at(eta, votes, pairs, begin);
    if (first == 0.0 || (first < 0.0 && eta == 1.0) || (first > 0.0 && eta == 0.0)) return eta;
    (first > 0.0 ? high : low) = eta;
    double next = eta - first / second;
    if (next >= high)
      next = high == 1.0 ? 1.0 : 0.5 * (eta + high);
    else if (next <= low)
      next = low == 0.0 ? 0.0 : 0.5 * (eta + low);
    if (std::abs(next - eta) < kEtaTolerance) return next;
    eta = next;
  }
  return eta;
}

}  // namespace

double crowd_scores_pass(const Noise& noise, const PairVotes& pairs, Numbers score,
                         Numbers reliability, Room score_gradient) {
  return with_family(noise, [&](const auto& family) {
    double total = 0.0;
    for (std::size_t u = 0; u < pairs.judges(); ++u) {
      const double eta = reliability[u];
      const Range own = pairs.of(u);
      for (std::size_t k = own.first; k < own.last; ++k) {
        const Chances vote = chances(family, difference(pairs, k, score));
        const double chance = std::max(eta * vote.won + (1.0 - eta) * vote.lost, kLeastChance);
        const double weight = pairs.weight_of(k);
        const double gradient = -weight * (2.0 * eta - 1.0) * vote.density / chance;
        total -= weight * log_of(chance);
        score_gradient[index(pairs.winner[k])] += gradient;
        score_gradient[index(pairs.loser[k])] -= gradient;
      }
    }
    return total;
  });
}

void set_reliabilities(const Noise& noise, const PairVotes& pairs, Numbers score,
                       Room reliability) {
  with_family(noise, [&](const auto& family) {
    std::vector<Chances> votes;
    for (std::size_t u = 0; u < pairs.judges(); ++u) {
      const Range own = pairs.of(u);
      votes.clear();
      for (std::size_t k = own.first; k < own.last; ++k)
        votes.push_back(chances(family, difference(pairs, k, score)));
      reliability[u] = best_reliability(reliability[u], votes, pairs, own.first);
    }
  });
}

}  // namespace juryrank
