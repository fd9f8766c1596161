#include "passes.hpp"

#include "noise_terms.hpp"

namespace juryrank::JURYRANK_LEVEL {

extern const Passes kPasses = {
    noise_terms,        pair_curvature, add_profile_product,
    add_profile_energy, add_mixed_sum,  set_mixed_squares,
};

}  // namespace juryrank::JURYRANK_LEVEL
