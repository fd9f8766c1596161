#include "pair_curvature.hpp"

#include <cmath>

#include "noise.hpp"
#include "pair_terms.hpp"

namespace juryrank::JURYRANK_LEVEL {
namespace {

void set_gaps(const PairVotes& pairs, Range votes, Numbers score, double* gap) {
  const std::int32_t* winner = pairs.winner.data() + votes.first;
  const std::int32_t* loser = pairs.loser.data() + votes.first;
  const std::size_t count = votes.last - votes.first;
  for (std::size_t i = 0; i < count; ++i)
    gap[i] =
        score[static_cast<std::uint32_t>(winner[i])] - score[static_cast<std::uint32_t>(loser[i])];
}

template <typename F>
void set_plain(const F& family, std::size_t count, double accuracy, PairBlock& block) {
  for (std::size_t i = 0; i < count; ++i) {
    const double x = accuracy * block.gap[i];
    const Tail tail = family.tail(std::abs(x));
    block.gradient[i] = gradient_of(x, tail);
    block.curvature[i] = family.curvature(x, tail);
  }
}

// x, where sides matter.
void set_arguments(const LikelihoodAt& at, std::size_t judge, Range votes, const double* gap,
                   double* x) {
  const double accuracy = at.accuracy[judge], order = at.effects->order_of(judge);
  const std::size_t count = votes.last - votes.first;
  for (std::size_t i = 0; i < count; ++i) x[i] = accuracy * gap[i];
  if (!at.pairs.side) return;
  const std::int8_t* side = at.pairs.side->data() + votes.first;
  for (std::size_t i = 0; i < count; ++i) x[i] += side[i] * order;
}

template <typename F>
void set_with_effects(const F& family, const LikelihoodAt& at, std::size_t judge, Range votes,
                      PairBlock& block) {
  const std::size_t count = votes.last - votes.first;
  double x[PairBlock::kMost];
  set_arguments(at, judge, votes, block.gap, x);
  if (!at.pairs.tied) {
    for (std::size_t i = 0; i < count; ++i) {
      const Tail tail = family.tail(std::abs(x[i]));
      block.gradient[i] = gradient_of(x[i], tail);
      block.curvature[i] = family.curvature(x[i], tail);
    }
    return;
  }
  const bool* tied = at.pairs.tied->data() + votes.first;
  const double tie = at.effects->pair_tie_of(judge);
  for (std::size_t i = 0; i < count; ++i) {
    const PairTerms terms = pair_terms(family, x[i], tied[i], tie);
    block.gradient[i] = terms.x;
    block.curvature[i] = terms.xx;
    block.x_tie[i] = terms.x_tie;
    block.tie_tie[i] = terms.tie_tie;
  }
}

void weigh(const PairVotes& pairs, Range votes, bool with_ties, PairBlock& block) {
  if (!pairs.weight) return;
  const double* weight = pairs.weight->data() + votes.first;
  const std::size_t count = votes.last - votes.first;
  for (std::size_t i = 0; i < count; ++i) block.gradient[i] *= weight[i];
  for (std::size_t i = 0; i < count; ++i) block.curvature[i] *= weight[i];
  if (!with_ties) return;
  for (std::size_t i = 0; i < count; ++i) block.x_tie[i] *= weight[i];
  for (std::size_t i = 0; i < count; ++i) block.tie_tie[i] *= weight[i];
}

}  // namespace

void pair_curvature(const LikelihoodAt& at, std::size_t judge, Range votes, PairBlock& block) {
  const std::size_t count = votes.last - votes.first;
  const double accuracy = at.accuracy[judge];
  const bool plain = at.pairs_are_plain();
  set_gaps(at.pairs, votes, at.score, block.gap);
  with_family(at.noise, [&](const auto& family) {
    if (plain)
      set_plain(family, count, accuracy, block);
    else
      set_with_effects(family, at, judge, votes, block);
  });
  weigh(at.pairs, votes, !plain && at.pairs.tied.has_value(), block);
  for (std::size_t i = 0; i < count; ++i)
    block.mixed[i] = block.gradient[i] + accuracy * block.gap[i] * block.curvature[i];
}

}  // namespace juryrank::JURYRANK_LEVEL
