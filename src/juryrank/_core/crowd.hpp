// CrowdBT and CrowdTCV: a judge of reliability eta votes as the items say with probability eta,
//
//   P(winner beats loser) = eta F(d) + (1 - eta) F(-d),   d = s_winner - s_loser.
#pragma once

#include "arrays.hpp"
#include "noise.hpp"
#include "votes.hpp"

namespace juryrank {

// -sum w log P; adds its gradient in the scores.
double crowd_scores_pass(const Noise& noise, const PairVotes& pairs, Numbers score,
                         Numbers reliability, Room score_gradient);

// Sets each judge's eta in [0, 1] to where its likelihood is largest, the scores held; what stands
// there is where the search starts.
void set_reliabilities(const Noise& noise, const PairVotes& pairs, Numbers score, Room reliability);

}  // namespace juryrank
