#include "passes.hpp"

#include "list_integrals.hpp"
#include "noise_terms.hpp"
#include "pair_sums.hpp"

namespace juryrank::JURYRANK_LEVEL {

extern const Passes kPasses = {
    noise_terms, votes_sum, pair_derivatives, panel_chain, panel_hessian,
};

}  // namespace juryrank::JURYRANK_LEVEL
