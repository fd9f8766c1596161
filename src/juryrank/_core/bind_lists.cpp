// Lists, for Python.
#include <nanobind/stl/optional.h>

#include "bindings.hpp"
#include "bound_votes.hpp"
#include "list_sums.hpp"
#include "luce.hpp"
#include "passes.hpp"

namespace juryrank {
namespace {

double bound_lists_pass(const BoundNoise& noise, const AccuracyRule& rule,
                        const BoundPairVotes& pairs, const BoundListVotes& lists,
                        const BoundEffects& effects, const std::optional<Row<double>>& likeness,
                        std::size_t first, std::size_t last, const Row<double>& score,
                        const RoomRow& accuracy, const RoomRow& score_gradient,
                        const RoomRow& judge_value, const RoomRow& accuracy_gradient,
                        const RoomMatrix& tie_gradient, const RoomRow& order_gradient,
                        bool portable) {
  const std::size_t n = lists.n_items(), m = lists.n_judges();
  check_size("The pairs' items", pairs.n_items(), n);
  check_size("The pairs' judges", pairs.n_judges(), m);
  const Effects& known = effects.of(m);
  const VotesSum sum = bound_votes_sum(noise, rule, pairs, &known, {first, last},
                                       {score, accuracy, score_gradient, judge_value,
                                        accuracy_gradient, tie_gradient, order_gradient});
  if (sum.pairs.tied && known.sizes.empty())
    refuse("Pairs that can be tied need a weight of ties.");
  if (sum.pairs.side) check_size("order_gradient", order_gradient.shape(0), m);
  const bool gumbel = noise.noise().family == Family::gumbel;
  if (gumbel == likeness.has_value())
    refuse("likeness is for noise other than Gumbel, and needed there.");
  if (likeness) check_size("likeness", likeness->shape(0), lists.votes().number());
  const nb::gil_scoped_release released;
  const PortablePasses scope(portable);
  return lists_sum({sum, lists.votes(), likeness ? span_of(*likeness) : Numbers()});
}

ListTerms bound_terms(const BoundListVotes& lists, std::size_t first, std::size_t last,
                      const Row<double>& location, const RoomRow& value, const RoomRow& gradient) {
  const ListVotes& votes = lists.votes();
  if (first > last || last > votes.number()) refuse("There are no such lists.");
  check_size("location", location.shape(0), votes.item.size());
  check_size("value", value.shape(0), votes.number());
  check_size("gradient", gradient.shape(0), votes.item.size());
  return {votes, {first, last}, span_of(location), room_of(value), room_of(gradient)};
}

void bound_chain_terms(const BoundNoise& noise, const BoundListVotes& lists, std::size_t first,
                       std::size_t last, const Row<double>& location, const RoomRow& value,
                       const RoomRow& gradient) {
  const ListTerms terms = bound_terms(lists, first, last, location, value, gradient);
  const nb::gil_scoped_release released;
  chain_terms(noise.noise(), terms);
}

void bound_chain_hessians(const BoundNoise& noise, const BoundListVotes& lists, std::size_t first,
                          std::size_t last, const Row<double>& location, const RoomRow& value,
                          const RoomRow& gradient, const Row<std::int64_t>& begin,
                          const RoomRow& hessian) {
  const ListTerms terms = bound_terms(lists, first, last, location, value, gradient);
  check_size("begin", begin.shape(0), terms.lists.number() + 1);
  check_starts("begin", span_of(begin), hessian.shape(0));
  for (std::size_t k = first; k < last; ++k) {
    const Range in = terms.lists.entries_of(k);
    const std::size_t length = in.last - in.first;
    check_size("The Hessian of a list",
               static_cast<std::size_t>(begin.data()[k + 1] - begin.data()[k]), length * length);
  }
  const nb::gil_scoped_release released;
  chain_terms(noise.noise(), terms);
  chain_hessians(noise.noise(), terms, span_of(begin), room_of(hessian));
}

double bound_chain_pass(const BoundNoise& noise, const Row<double>& location, std::size_t ranked,
                        const RoomRow& gradient) {
  check_size("gradient", gradient.shape(0), location.shape(0));
  if (ranked > location.shape(0)) refuse("More items are ranked than there are.");
  const nb::gil_scoped_release released;
  return chain_pass(noise.noise(), span_of(location), ranked, room_of(gradient));
}

double bound_luce_pass(const Row<double>& location, std::size_t ranked, const RoomRow& gradient) {
  check_size("gradient", gradient.shape(0), location.shape(0));
  if (ranked > location.shape(0)) refuse("More items are ranked than there are.");
  return luce_pass(span_of(location), ranked, room_of(gradient));
}

void bound_list_agreement(const BoundListVotes& lists, const Row<double>& score,
                          const RoomRow& agreement, const RoomRow& variance) {
  check_size("score", score.shape(0), lists.n_items());
  check_size("agreement", agreement.shape(0), lists.votes().number());
  check_size("variance", variance.shape(0), lists.votes().number());
  const nb::gil_scoped_release released;
  list_agreement(lists.votes(), span_of(score), room_of(agreement), room_of(variance));
}

void bound_list_losses(const BoundListVotes& lists, const BoundEffects& effects,
                       const Row<double>& score, const Row<double>& accuracy,
                       const Row<double>& taste, const RoomRow& loss) {
  const Effects& known = effects.of(lists.n_judges());
  check_size("score", score.shape(0), lists.n_items());
  check_size("accuracy", accuracy.shape(0), lists.n_judges());
  check_size("taste", taste.shape(0), lists.n_items());
  check_size("loss", loss.shape(0), lists.votes().number());
  const nb::gil_scoped_release released;
  list_losses(lists.votes(), known, span_of(score), span_of(accuracy), span_of(taste),
              room_of(loss));
}

// Of one list, in its locations and, after them, its weights of ties.
void bound_list_hessian(const Row<double>& location, const Row<std::int32_t>& level,
                        std::size_t ranked, const BoundEffects& effects, const RoomRow& gradient,
                        const RoomMatrix& hessian) {
  const std::size_t count = location.shape(0);
  const Effects& known = effects.of(1);
  check_size("level", level.shape(0), count);
  check_codes("level", span_of(level), count);
  if (ranked > count) refuse("More items are ranked than there are.");
  check_size("gradient", gradient.shape(0), count);
  check_size("hessian", hessian.shape(0), count + known.sizes.size());
  check_size("A row of hessian", hessian.shape(1), count + known.sizes.size());
  list_hessian({span_of(location), span_of(level), ranked}, known, known.tie_of(0),
               room_of(gradient), room_of(hessian));
}

}  // namespace

void bind_lists(nb::module_& m) {
  m.def("lists_pass", &bound_lists_pass, nb::kw_only(), "noise"_a, "rule"_a, "pairs"_a, "lists"_a,
        "effects"_a, "likeness"_a.noconvert().none(), "first"_a, "last"_a, "score"_a.noconvert(),
        "accuracy"_a.noconvert(), "score_gradient"_a.noconvert(), "judge_value"_a.noconvert(),
        "accuracy_gradient"_a.noconvert(), "tie_gradient"_a.noconvert(),
        "order_gradient"_a.noconvert(), "portable"_a = false);
  m.def("chain_terms", &bound_chain_terms, "noise"_a, "lists"_a, nb::kw_only(), "first"_a, "last"_a,
        "location"_a.noconvert(), "value"_a.noconvert(), "gradient"_a.noconvert());
  m.def("chain_hessians", &bound_chain_hessians, "noise"_a, "lists"_a, nb::kw_only(), "first"_a,
        "last"_a, "location"_a.noconvert(), "value"_a.noconvert(), "gradient"_a.noconvert(),
        "begin"_a.noconvert(), "hessian"_a.noconvert());
  m.def("chain_pass", &bound_chain_pass, "noise"_a, "location"_a.noconvert(), "ranked"_a,
        "gradient"_a.noconvert());
  m.def("luce_pass", &bound_luce_pass, "location"_a.noconvert(), "ranked"_a,
        "gradient"_a.noconvert());
  m.def("list_agreement", &bound_list_agreement, "lists"_a, "score"_a.noconvert(),
        "agreement"_a.noconvert(), "variance"_a.noconvert());
  m.def("list_losses", &bound_list_losses, "lists"_a, "effects"_a, nb::kw_only(),
        "score"_a.noconvert(), "accuracy"_a.noconvert(), "taste"_a.noconvert(),
        "loss"_a.noconvert());
  m.def("list_hessian", &bound_list_hessian, "location"_a.noconvert(), "level"_a.noconvert(),
        "ranked"_a, "effects"_a, "gradient"_a.noconvert(), "hessian"_a.noconvert());
}

}  // namespace juryrank
