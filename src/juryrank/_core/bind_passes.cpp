// Sums over votes on pairs, for Python.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <utility>
#include <vector>

#include "bindings.hpp"
#include "bound_votes.hpp"
#include "pair_sums.hpp"
#include "passes.hpp"

namespace juryrank {
namespace {

void bound_noise_terms(const BoundNoise& noise, const Row<double>& x, const RoomRow& value,
                       const RoomRow& gradient, const RoomRow& curvature) {
  check_size("value", value.shape(0), x.shape(0));
  check_size("gradient", gradient.shape(0), x.shape(0));
  check_size("curvature", curvature.shape(0), x.shape(0));
  const nb::gil_scoped_release released;
  passes().noise_terms(noise.noise(), span_of(x), room_of(value), room_of(gradient),
                       room_of(curvature));
}

// Effects that are None decide nothing.
const Effects* effects_of(const BoundEffects* effects, std::size_t n_judges) {
  return effects ? &effects->of(n_judges) : nullptr;
}

// If `portable`, with the same bits on every CPU.
double bound_pairs_pass(const BoundNoise& noise, const AccuracyRule& rule,
                        const BoundPairVotes& pairs, const BoundEffects* effects, std::size_t first,
                        std::size_t last, const Row<double>& score, const RoomRow& accuracy,
                        const RoomRow& score_gradient, const RoomRow& judge_value,
                        const RoomRow& accuracy_gradient, const RoomMatrix& tie_gradient,
                        const RoomRow& order_gradient, bool portable) {
  const VotesSum sum =
      bound_votes_sum(noise, rule, pairs, effects_of(effects, pairs.n_judges()), {first, last},
                      {score, accuracy, score_gradient, judge_value, accuracy_gradient,
                       tie_gradient, order_gradient});
  const nb::gil_scoped_release released;
  const PortablePasses scope(portable);
  return passes().votes_sum(sum);
}

std::pair<Array, Array> bound_pair_derivatives(const BoundNoise& noise, const BoundPairVotes& pairs,
                                               const BoundEffects* effects,
                                               const Row<double>& score,
                                               const Row<double>& accuracy) {
  const std::size_t m = pairs.n_judges();
  const Effects* known = effects_of(effects, m);
  check_size("score", score.shape(0), pairs.n_items());
  check_size("accuracy", accuracy.shape(0), m);
  std::vector<double> first(m), second(m);
  {
    const nb::gil_scoped_release released;
    const PairVotes& votes = pairs.all();
    for (std::size_t u = 0; u < m; ++u) {
      const Derivatives own = passes().pair_derivatives(noise.noise(), votes, known, u,
                                                        span_of(score), accuracy.data()[u]);
      first[u] = own.first;
      second[u] = own.second;
    }
  }
  return {array_of(std::move(first)), array_of(std::move(second))};
}

}  // namespace

void bind_passes(nb::module_& m) {
  m.attr("cpu_level") = level();
  m.def("noise_terms", &bound_noise_terms, "noise"_a, "x"_a.noconvert(), "value"_a.noconvert(),
        "gradient"_a.noconvert(), "curvature"_a.noconvert());
  m.def("pairs_pass", &bound_pairs_pass, "noise"_a, "rule"_a, "pairs"_a, "effects"_a.none(),
        "first"_a, "last"_a, "score"_a.noconvert(), "accuracy"_a.noconvert(),
        "score_gradient"_a.noconvert(), "judge_value"_a.noconvert(),
        "accuracy_gradient"_a.noconvert(), "tie_gradient"_a.noconvert(),
        "order_gradient"_a.noconvert(), nb::kw_only(), "portable"_a = false);
  m.def("pair_derivatives", &bound_pair_derivatives, "noise"_a, "pairs"_a, "effects"_a.none(),
        "score"_a.noconvert(), "accuracy"_a.noconvert());
}

}  // namespace juryrank
