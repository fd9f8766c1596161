#include "passes.hpp"

#include "noise_terms.hpp"
#include "pair_sums.hpp"

namespace juryrank::JURYRANK_LEVEL {

extern const Passes kPasses = {
    noise_terms,
    votes_sum,
    pair_derivatives,
};

}  // namespace juryrank::JURYRANK_LEVEL
