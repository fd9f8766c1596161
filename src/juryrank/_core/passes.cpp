#include "passes.hpp"

#include "list_integrals.hpp"
#include "noise_terms.hpp"
#include "pair_curvature.hpp"
#include "pair_sums.hpp"
#include "products.hpp"

namespace juryrank::JURYRANK_LEVEL {

extern const Passes kPasses = {
    .noise_terms = noise_terms,
    .votes_sum = votes_sum,
    .pair_derivatives = pair_derivatives,
    .panel_chain = panel_chain,
    .panel_hessian = panel_hessian,
    .pair_curvature = pair_curvature,
    .add_profile_product = add_profile_product,
    .add_profile_energy = add_profile_energy,
    .add_mixed_sum = add_mixed_sum,
    .set_mixed_squares = set_mixed_squares,
};

}  // namespace juryrank::JURYRANK_LEVEL
