// Second derivatives of some votes on pairs.
#pragma once

#include <cstddef>

#include "arrays.hpp"
#include "levels.hpp"
#include "likelihood.hpp"

namespace juryrank {

// Of some votes of one judge, with w their weight, a its accuracy and x = a gap + side order.
struct PairBlock {
  static constexpr std::size_t kMost = 256;

  double gap[kMost];                    // score of the winner - score of the loser
  double gradient[kMost];               // w g', in x
  double curvature[kMost];              // w g'', in x
  double mixed[kMost];                  // in gap and accuracy: w (g' + a gap g'')
  double x_tie[kMost], tie_tie[kMost];  // times w; only set where votes can be tied
};

}  // namespace juryrank

JURYRANK_BEGIN_LEVEL

// Fills a block with at most so many of a judge's votes.
void pair_curvature(const LikelihoodAt& at, std::size_t judge, Range votes, PairBlock& block);

// The block of a judge's own votes from one of them on.
inline Range block_from(std::size_t vote, Range own) {
  const std::size_t left = own.last - vote;
  return {vote, vote + (left < PairBlock::kMost ? left : PairBlock::kMost)};
}

// All of a judge's votes, one block after the other: `fill` is `pair_curvature` of some level, and
// `work` is told which votes are in the block.
template <typename Fill, typename Work>
inline void over_blocks(const LikelihoodAt& at, std::size_t judge, Fill&& fill, Work&& work) {
  PairBlock block;
  const Range own = at.pairs.of(judge);
  for (std::size_t k = own.first; k < own.last; k += PairBlock::kMost) {
    const Range votes = block_from(k, own);
    fill(at, judge, votes, block);
    work(votes, static_cast<const PairBlock&>(block));
  }
}

JURYRANK_END_LEVEL
