#include "passes.hpp"

#include "noise_terms.hpp"

namespace juryrank::JURYRANK_LEVEL {

extern const Passes kPasses = {
    noise_terms,
};

}  // namespace juryrank::JURYRANK_LEVEL
