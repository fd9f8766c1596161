// Passes over votes that are worth a version for each level of CPU. Each hot file has a header that
// says what its functions do; here they are gathered, one table for each level.
//
// To add one: declare it in the header of its file, between JURYRANK_BEGIN_LEVEL and
// JURYRANK_END_LEVEL, and add it to `Passes` and to passes.cpp. It takes spans, and structs of
// spans, of namespace juryrank, and calls nothing that another level might share: tests/core looks
// for such symbols.
#pragma once

#include <string>

#include "arrays.hpp"
#include "likelihood.hpp"
#include "list_integrals.hpp"
#include "noise.hpp"
#include "pair_curvature.hpp"
#include "pair_sums.hpp"
#include "products.hpp"
#include "votes.hpp"

namespace juryrank {

struct Passes {
  void (*noise_terms)(const Noise& noise, Numbers x, Room value, Room gradient, Room curvature);
  double (*votes_sum)(const VotesSum& sum);
  Derivatives (*pair_derivatives)(const Noise& noise, const PairVotes& pairs,
                                  const Effects* effects, std::size_t judge, Numbers score,
                                  double accuracy);
  double (*panel_chain)(const PanelChain& chain, Room gradient);
  double (*panel_hessian)(const PanelChain& chain, Room gradient, Matrix hessian);
  void (*pair_curvature)(const LikelihoodAt& at, std::size_t judge, Range votes, PairBlock& block);
  void (*add_profile_product)(const ProfileProduct& wanted, Matrix product);
  void (*add_profile_energy)(const ProfileProduct& wanted, Room energy);
  void (*add_mixed_sum)(const LikelihoodAt& at, Range judges, Numbers factor, Room total);
  void (*set_mixed_squares)(const LikelihoodAt& at, Range judges, const SparseRows* of_lists,
                            Numbers variance, Room column, Room square);
};

namespace baseline {
extern const Passes kPasses;
}
#ifdef JURYRANK_HAS_LEVELS
namespace v3 {
extern const Passes kPasses;
}
namespace v4 {
extern const Passes kPasses;
}
#endif

// Those for this CPU, or for the level that the environment variable JURYRANK_CPU names: v2, v3,
// v4.
const Passes& passes();
// While it lives, `passes()` are those whose bits are the same on every CPU, for this thread.
class PortablePasses {
 public:
  explicit PortablePasses(bool wanted);
  ~PortablePasses();
  PortablePasses(const PortablePasses&) = delete;
  PortablePasses& operator=(const PortablePasses&) = delete;
};
// The name of their level.
const std::string& level();
// Chooses them. Called once, when the module is loaded; throws if JURYRANK_CPU names no level, or
// one that this CPU does not have.
void choose_level();

}  // namespace juryrank
