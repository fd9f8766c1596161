// The sampler, random numbers, and functions that tests look at, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>

#include "accuracies.hpp"
#include "bindings.hpp"
#include "bound_votes.hpp"
#include "chain.hpp"
#include "elementary.hpp"
#include "pairs.hpp"
#include "random.hpp"
#include "rankings.hpp"

namespace juryrank {
namespace {

using AnyMatrix = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Found = std::tuple<Array, Array, Array>;

Found arrays_of(const VotesAt& votes) {
  return {array_of(Numbers(votes.value)), array_of(Numbers(votes.state)),
          array_of(Numbers(votes.accuracy))};
}

// --- votes ---------------------------------------------------------------------------------------

// Pairs, and what they are about.
struct BoundPairs {
  Pairs pairs;
  std::size_t n_judges, n_opinions, n_effects;

  Found at(const Row<double>& state, const Row<double>& accuracy) {
    check_size("state", state.shape(0), n_opinions + n_effects);
    check_size("accuracy", accuracy.shape(0), n_judges);
    VotesAt found{std::vector<double>(n_judges), std::vector<double>(n_opinions + n_effects),
                  std::vector<double>(n_judges)};
    pairs.at(span_of(state), span_of(accuracy), true, found);
    return arrays_of(found);
  }
};

// Where an effect stands in the state, a negative number meaning nowhere.
std::optional<std::size_t> bound_index(const char* name, std::int64_t at, std::size_t length,
                                       std::size_t n_opinions, std::size_t n_effects) {
  if (at < 0) return {};
  const auto begin = static_cast<std::size_t>(at);
  if (begin < n_opinions || begin - n_opinions + length > n_effects)
    refuse(std::string(name) + " stands outside of the effects.");
  return begin;
}

BoundPairs bound_pairs(const Row<std::int64_t>& start, const Row<std::int32_t>& winner,
                       const Row<std::int32_t>& loser, const std::optional<Row<double>>& weight,
                       const std::optional<Row<bool>>& tied,
                       const std::optional<Row<std::int8_t>>& side, std::size_t n_opinions,
                       std::size_t n_effects, std::array<std::int64_t, 4> effects) {
  const Codes starts = span_of(start);
  const std::size_t votes = winner.shape(0);
  check_size("loser", loser.shape(0), votes);
  if (weight) check_size("weight", weight->shape(0), votes);
  if (tied) check_size("tied", tied->shape(0), votes);
  if (side) check_size("side", side->shape(0), votes);
  check_starts("start", starts, votes);
  check_codes("winner", span_of(winner), n_opinions);
  check_codes("loser", span_of(loser), n_opinions);
  if (weight) check_not_negative("weight", span_of(*weight));
  const std::size_t judges = starts.size() - 1;
  const auto index = [&](const char* name, std::size_t which, std::size_t length) {
    return bound_index(name, effects[which], length, n_opinions, n_effects);
  };
  const EffectIndex at{index("tie", 0, 1), index("own_tie", 1, judges), index("order", 2, 1),
                       index("own_order", 3, judges)};
  PairVotes pairs{starts, span_of(winner), span_of(loser), {}, {}, {}};
  if (weight) pairs.weight = span_of(*weight);
  if (tied) pairs.tied = span_of(*tied);
  if (side) pairs.side = span_of(*side);
  return {Pairs(pairs, n_opinions, at), judges, n_opinions, n_effects};
}

// Lists with pairs beside them, if there are any, and what they are about.
struct BoundRankings {
  Rankings rankings;
  std::size_t n_judges, n_opinions, n_effects;

  Found at(const Row<double>& state, const Row<double>& accuracy) {
    check_size("state", state.shape(0), n_opinions + n_effects);
    check_size("accuracy", accuracy.shape(0), n_judges);
    VotesAt found = room();
    rankings.at(span_of(state), span_of(accuracy), true, found);
    return arrays_of(found);
  }

  // By how much the values of the judges of these opinions are higher if the opinions are raised.
  Array rise(const Row<double>& state, const Row<double>& accuracy, const Row<std::int64_t>& cells,
             const Row<std::int64_t>& judge, double by) {
    check_size("state", state.shape(0), n_opinions + n_effects);
    check_size("accuracy", accuracy.shape(0), n_judges);
    check_size("judge", judge.shape(0), cells.shape(0));
    check_codes("cells", span_of(cells), n_opinions);
    check_codes("judge", span_of(judge), n_judges);
    std::vector<double> change(cells.shape(0));
    rankings.rise(room(), span_of(state), span_of(accuracy), {span_of(cells), span_of(judge), by},
                  change);
    return array_of(std::move(change));
  }

  VotesAt room() const {
    return {std::vector<double>(n_judges), std::vector<double>(n_opinions + n_effects),
            std::vector<double>(n_judges)};
  }
};

using EffectBegins = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

BoundRankings bound_rankings(const BoundListVotes& lists, const BoundPairs* pairs,
                             std::size_t n_effects, const Row<std::int64_t>& sizes, bool as_one,
                             EffectBegins effects) {
  const std::size_t n = lists.n_items(), m = lists.n_judges(), kinds = sizes.shape(0);
  if (pairs) {
    check_size("The pairs' judges", pairs->n_judges, m);
    check_size("The pairs' opinions", pairs->n_opinions, n);
    check_size("The pairs' effects", pairs->n_effects, n_effects);
  }
  for (const std::int64_t size : span_of(sizes))
    if (size < 2) refuse("A tie is of two items at least.");
  if (as_one && kinds != 1) refuse("Where tied items count as one, there is one weight of ties.");
  check_not_negative("weight", lists.votes().weight);
  const auto [tie, own_tie, order, own_order] = effects;
  const EffectIndex at{bound_index("tie", tie, kinds, n, n_effects),
                       bound_index("own_tie", own_tie, m, n, n_effects),
                       bound_index("order", order, 1, n, n_effects),
                       bound_index("own_order", own_order, m, n, n_effects)};
  std::optional<Pairs> beside;
  if (pairs) beside = pairs->pairs;
  return {Rankings(lists.votes(), std::move(beside), n,
                   {{sizes.data(), sizes.data() + kinds}, as_one}, at),
          m, n, n_effects};
}

// Votes of any other kind: a callable gives values by judge and gradients in state and accuracies.
class CalledVotes final : public VotesPass {
 public:
  explicit CalledVotes(nb::callable votes) : votes_(std::move(votes)) {}

  void at(Numbers state, Numbers accuracy, bool, VotesAt& found) override {
    const nb::object result = votes_(array_of(state), array_of(accuracy));
    take(result, 0, found.value);
    take(result, 1, found.state);
    take(result, 2, found.accuracy);
  }

  void rise(const VotesAt& here, Numbers state, Numbers accuracy, const Raise& raise,
            std::span<double> change) override {
    std::vector<double> raised(state.begin(), state.end());
    for (const std::int64_t cell : raise.cells) raised[static_cast<std::size_t>(cell)] += raise.by;
    VotesAt found = here;
    at(raised, accuracy, true, found);
    for (std::size_t c = 0; c < raise.judge.size(); ++c) {
      const auto judge = static_cast<std::size_t>(raise.judge[c]);
      change[c] = found.value[judge] - here.value[judge];
    }
  }

 private:
  static void take(const nb::object& result, std::size_t which, std::vector<double>& found) {
    const auto row = nb::cast<Row<double>>(result[which], false);
    check_size("What the votes give", row.shape(0), found.size());
    std::copy_n(row.data(), found.size(), found.begin());
  }

  nb::callable votes_;
};

// --- the chain -----------------------------------------------------------------------------------

using Shape = std::pair<double, double>;

Priors bound_priors(Shape score, Shape accuracy, Shape taste, Shape own, Shape backwards,
                    const Row<double>& degrees, double effect_sd) {
  for (const Shape& each : {score, accuracy, taste, own, backwards}) {
    check_positive("A prior's shape", each.first);
    check_positive("A prior's rate", each.second);
  }
  if (!degrees.shape(0)) refuse("There must be some degrees of freedom.");
  check_positive("degrees", span_of(degrees));
  check_positive("effect_sd", effect_sd);
  const Numbers all = span_of(degrees);
  return {{score.first, score.second},
          {accuracy.first, accuracy.second},
          {taste.first, taste.second},
          {own.first, own.second},
          backwards.first,
          backwards.second,
          {all.begin(), all.end()},
          effect_sd};
}

Scales bound_scales(double score, double accuracy, double taste, const Row<double>& own,
                    double degrees, double backwards) {
  for (const double scale : {score, accuracy, taste, degrees, backwards, 1.0 - backwards})
    check_positive("A scale", scale);
  check_positive("own", span_of(own));
  return {score, accuracy, taste, {own.data(), own.data() + own.shape(0)}, degrees, backwards};
}

Opinions bound_opinions(const Row<std::int64_t>& item, const Row<std::int64_t>& judge,
                        std::size_t n_items, std::size_t n_judges) {
  const Codes items = span_of(item), judges = span_of(judge);
  check_codes("item", items, n_items);
  check_codes("judge", judges, n_judges);
  if (judges.empty()) {
    check_size("item", items.size(), n_items);
    for (std::size_t i = 0; i < n_items; ++i)
      if (items[i] != static_cast<std::int64_t>(i))
        refuse("Without tastes, item must count items.");
  } else {
    check_size("judge", judges.size(), items.size());
    for (std::size_t c = 1; c < judges.size(); ++c)
      if (judges[c] < judges[c - 1] || (judges[c] == judges[c - 1] && items[c] <= items[c - 1]))
        refuse("Opinions must be sorted by judge and item, each but once.");
  }
  return Opinions(items, judges, n_items, n_judges);
}

Juries bound_juries(const Row<std::int64_t>& item, const Row<std::int64_t>& judge,
                    std::size_t number) {
  check_codes("The jury of an item", span_of(item), number);
  check_codes("The jury of a judge", span_of(judge), number);
  return {{item.data(), item.data() + item.shape(0)},
          {judge.data(), judge.data() + judge.shape(0)},
          number};
}

EffectLayout bound_layout(std::size_t size, const Row<std::int64_t>& common,
                          const Row<std::int64_t>& own, std::size_t n_judges) {
  check_codes("common", span_of(common), size);
  for (const std::int64_t first : span_of(own))
    if (first < 0 || static_cast<std::size_t>(first) > size ||
        size - static_cast<std::size_t>(first) < n_judges)
      refuse("own begins where there is not one effect for each judge.");
  return {size,
          {common.data(), common.data() + common.shape(0)},
          {own.data(), own.data() + own.shape(0)}};
}

class BoundChain {
 public:
  BoundChain(const std::variant<BoundPairs*, BoundRankings*, nb::callable>& votes,
             Opinions opinions, Juries juries, EffectLayout effects,
             const std::optional<Row<double>>& fixed_accuracy, const Row<double>& say,
             Priors priors, const Row<double>& score, const Row<double>& start_effects,
             const Row<double>& accuracy, Scales scales, std::uint64_t seed)
      : native_(!std::holds_alternative<nb::callable>(votes)) {
    const std::size_t n = score.shape(0), m = accuracy.shape(0);
    if (!n || !m) refuse("There must be items and judges.");
    check_size("The opinions' judges", opinions.begin.size() - 1, m);
    check_codes("item", Codes(opinions.item), n);
    if (!opinions.tastes()) check_size("item", opinions.size(), n);
    check_size("The juries of items", juries.item.size(), n);
    check_size("The juries of judges", juries.judge.size(), m);
    check_size("effects", start_effects.shape(0), effects.size);
    check_size("own", scales.own.size(), effects.own.size());
    for (const std::int64_t first : effects.own)
      if (effects.size - static_cast<std::size_t>(first) < m)
        refuse("own begins where there is not one effect for each judge.");
    check_size("say", say.shape(0), m);
    check_not_negative("say", span_of(say));
    check_finite("score", span_of(score));
    check_finite("effects", span_of(start_effects));
    check_finite("accuracy", span_of(accuracy));
    std::vector<double> fixed;
    if (fixed_accuracy) {
      check_size("fixed_accuracy", fixed_accuracy->shape(0), m);
      check_finite("fixed_accuracy", span_of(*fixed_accuracy));
      fixed.assign(fixed_accuracy->data(), fixed_accuracy->data() + m);
    }
    std::unique_ptr<VotesPass> pass;
    if (const auto* pairs = std::get_if<BoundPairs*>(&votes)) {
      check_votes(**pairs, (*pairs)->pairs, opinions, effects, m);
      pass = std::make_unique<Pairs>((*pairs)->pairs);
    } else if (const auto* rankings = std::get_if<BoundRankings*>(&votes)) {
      check_votes(**rankings, (*rankings)->rankings, opinions, effects, m);
      pass = std::make_unique<Rankings>((*rankings)->rankings);
    } else {
      pass = std::make_unique<CalledVotes>(std::get<nb::callable>(votes));
    }
    const Numbers says = span_of(say);
    chain_.emplace(
        Setting{n,
                m,
                std::move(opinions),
                std::move(juries),
                std::move(effects),
                std::move(fixed),
                {says.begin(), says.end()},
                std::move(priors)},
        std::move(pass),
        Start{span_of(score), span_of(start_effects), span_of(accuracy), std::move(scales)}, seed);
  }

  void measure(const Row<double>& own, const Row<double>& common, const AnyMatrix& score) {
    const Busy busy(*this);
    const std::size_t n = chain_->setting().n_items;
    check_size("own", own.shape(0), chain_->n_own());
    check_size("common", common.shape(0), chain_->setting().effects.common.size());
    const bool diagonal = score.ndim() == 1 && score.shape(0) == n;
    const bool dense = score.ndim() == 2 && score.shape(0) == n && score.shape(1) == n;
    if (!diagonal && !dense) refuse("score must be a diagonal or a square of items.");
    check_not_negative("own", span_of(own));
    check_not_negative("common", span_of(common));
    check_finite("score", {score.data(), score.size()});
    chain_->measure({span_of(own), span_of(common), {score.data(), score.size()}});
    measured_ = true;
  }

  void rounds(std::size_t count) {
    const Busy busy(*this);
    go(count, [](std::size_t) {});
  }

  // So many rounds, a draw after each: scores, accuracies, tastes, effects, scales (of scores,
  // accuracies, tastes; degrees; share of backwards judges; own scales), -log P.
  std::tuple<Array, Array, Array, Array, Array, Array> draws(std::size_t count) {
    const Busy busy(*this);
    const Setting& setting = chain_->setting();
    const std::size_t n = setting.n_items, m = setting.n_judges;
    const std::size_t cells = setting.opinions.tastes(), effects = setting.effects.size;
    const std::size_t scales = 5 + chain_->scales().own.size();
    std::vector<double> score, accuracy, taste, effect, scale, loss;
    score.reserve(count * n);
    accuracy.reserve(count * m);
    taste.reserve(count * cells);
    const auto add = [](std::vector<double>& all, const auto& some) {
      all.insert(all.end(), some.begin(), some.end());
    };
    go(count, [&](std::size_t) {
      add(score, chain_->score());
      add(accuracy, chain_->accuracy());
      add(taste, chain_->taste());
      add(effect, chain_->effects());
      const Scales& now = chain_->scales();
      add(scale, std::array{now.score, now.accuracy, now.taste, now.degrees, now.backwards});
      add(scale, now.own);
      loss.push_back(chain_->loss());
    });
    return {
        array_of(std::move(score), {count, n}),      array_of(std::move(accuracy), {count, m}),
        array_of(std::move(taste), {count, cells}),  array_of(std::move(effect), {count, effects}),
        array_of(std::move(scale), {count, scales}), array_of(std::move(loss))};
  }

  void stop_adapting() {
    const Busy busy(*this);
    chain_->stop_adapting();
  }

  std::size_t number() const { return chain_->rounds(); }
  Array opinion() const { return array_of(chain_->opinion()); }
  Array accuracy() const { return array_of(chain_->accuracy()); }
  Found known_votes() const { return arrays_of(chain_->here()); }
  Found votes_anew() {
    const Busy busy(*this);
    return arrays_of(chain_->votes_anew());
  }

  nb::dict accepted() const {
    static constexpr std::array<const char*, kMoves> kNames{"judges",
                                                            "scores",
                                                            "jumps",
                                                            "camps",
                                                            "units",
                                                            "scales",
                                                            "together",
                                                            "gauge",
                                                            "all turned",
                                                            "juries turned",
                                                            "turned with opinions",
                                                            "turned"};
    nb::dict found;
    for (std::size_t k = 0; k < kMoves; ++k) {
      const Tally& tally = chain_->tallies()[k];
      if (tally.tried > 0.0) found[kNames[k]] = tally.accepted / tally.tried;
    }
    return found;
  }

  Array position_together() const { return array_of(chain_->position_together()); }

  std::pair<double, Array> potential_together(const Row<double>& position) {
    const Busy busy(*this);
    check_size("position", position.shape(0), chain_->position_together().size());
    std::vector<double> gradient(position.shape(0));
    const double potential = chain_->potential_together(span_of(position), gradient);
    return {potential, array_of(std::move(gradient))};
  }

 private:
  // A chain that runs without Python's lock must not be used by another thread.
  class Busy {
   public:
    explicit Busy(BoundChain& chain) : flag_(chain.busy_) {
      if (flag_.test_and_set()) throw std::runtime_error("The chain is in use by another thread.");
    }
    ~Busy() { flag_.clear(); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    std::atomic_flag& flag_;
  };

  template <typename Bound, typename Votes>
  static void check_votes(const Bound& bound, const Votes& votes, const Opinions& opinions,
                          const EffectLayout& effects, std::size_t n_judges) {
    check_size("start", bound.n_judges, n_judges);
    check_size("opinions", bound.n_opinions, opinions.size());
    check_size("effects", bound.n_effects, effects.size);
    if (opinions.tastes() && !votes.are_of(opinions))
      refuse("A judge votes on an opinion of another.");
  }

  template <typename After>
  void go(std::size_t count, After after) {
    if (!measured_) throw std::runtime_error("The metric must be measured first.");
    std::optional<nb::gil_scoped_release> released;
    if (native_) released.emplace();
    for (std::size_t k = 0; k < count; ++k) {
      chain_->round();
      after(k);
    }
  }

  bool native_, measured_ = false;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::optional<Chain> chain_;
};

// --- what tests look at --------------------------------------------------------------------------

template <typename Draw>
Array filled(std::size_t count, Draw draw) {
  std::vector<double> found(count);
  for (double& number : found) number = draw();
  return array_of(std::move(found));
}

template <double (*kFunction)(double)>
Array mapped(const Row<double>& x) {
  std::vector<double> found(x.shape(0));
  std::transform(x.data(), x.data() + x.shape(0), found.begin(), kFunction);
  return array_of(std::move(found));
}

void bind_functions(nb::module_& m) {
  m.def("exp", &mapped<exp_of>, "x"_a.noconvert());
  m.def("exp_minus", &mapped<exp_minus>, "t"_a.noconvert());
  m.def("log", &mapped<log_of>, "x"_a.noconvert());
  m.def("log_1p_of_share", &mapped<log_1p_of_share>, "z"_a.noconvert());
  m.def("log_gamma", &mapped<log_gamma>, "x"_a.noconvert());
  m.def("accuracy_magnitude", &mapped<accuracies::magnitude>, "theta"_a.noconvert());
  m.def("accuracy_gradient", &mapped<accuracies::gradient>, "theta"_a.noconvert());
  m.def("accuracy_theta", &mapped<accuracies::theta_of>, "magnitude"_a.noconvert());
  m.def(
      "accuracy_log_density",
      [](const Row<double>& magnitude, double spread) {
        std::vector<double> found(magnitude.shape(0));
        for (std::size_t k = 0; k < found.size(); ++k)
          found[k] = accuracies::log_density(magnitude.data()[k], spread);
        return array_of(std::move(found));
      },
      "magnitude"_a.noconvert(), "spread"_a);
}

void bind_random(nb::module_& m) {
  nb::class_<Random>(m, "Random")
      .def(nb::init<std::uint64_t>(), "seed"_a)
      .def(
          "uniform",
          [](Random& r, std::size_t k) { return filled(k, [&] { return r.uniform(); }); },
          "count"_a)
      .def(
          "normal", [](Random& r, std::size_t k) { return filled(k, [&] { return r.normal(); }); },
          "count"_a)
      .def(
          "cauchy", [](Random& r, std::size_t k) { return filled(k, [&] { return r.cauchy(); }); },
          "count"_a)
      .def(
          "gamma",
          [](Random& r, double shape, std::size_t k) {
            check_positive("shape", shape);
            const Gamma gamma(shape);
            return filled(k, [&] { return gamma(r); });
          },
          "shape"_a, "count"_a)
      .def(
          "beta",
          [](Random& r, double a, double b, std::size_t k) {
            check_positive("a", a);
            check_positive("b", b);
            return filled(k, [&] { return r.beta(a, b); });
          },
          "a"_a, "b"_a, "count"_a)
      .def(
          "below",
          [](Random& r, std::size_t n, std::size_t k) {
            if (!n) refuse("There must be something to choose from.");
            return filled(k, [&] { return static_cast<double>(r.below(n)); });
          },
          "n"_a, "count"_a)
      .def(
          "choice",
          [](Random& r, const Row<double>& weight, std::size_t k) {
            check_not_negative("weight", span_of(weight));
            if (!weight.shape(0)) refuse("There must be something to choose from.");
            return filled(k, [&] { return static_cast<double>(r.choice(span_of(weight))); });
          },
          "weight"_a.noconvert(), "count"_a);
}

void bind_sampler(nb::module_& m) {
  nb::class_<BoundPairs>(m, "Pairs")
      .def(
          "__init__",
          [](BoundPairs* at, const Row<std::int64_t>& start, const Row<std::int32_t>& winner,
             const Row<std::int32_t>& loser, const std::optional<Row<double>>& weight,
             const std::optional<Row<bool>>& tied, const std::optional<Row<std::int8_t>>& side,
             std::size_t n_opinions, std::size_t n_effects,
             std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t> effects) {
            const auto [tie, own_tie, order, own_order] = effects;
            new (at) BoundPairs(bound_pairs(start, winner, loser, weight, tied, side, n_opinions,
                                            n_effects, {tie, own_tie, order, own_order}));
          },
          nb::kw_only(), "start"_a.noconvert(), "winner"_a.noconvert(), "loser"_a.noconvert(),
          "weight"_a.noconvert().none(), "tied"_a.noconvert().none(), "side"_a.noconvert().none(),
          "n_opinions"_a, "n_effects"_a, "effects"_a)
      .def("at", &BoundPairs::at, "state"_a.noconvert(), "accuracy"_a.noconvert());
  nb::class_<BoundRankings>(m, "Rankings")
      .def(
          "__init__",
          [](BoundRankings* at, const BoundListVotes& lists, const BoundPairs* pairs,
             std::size_t n_effects, const Row<std::int64_t>& sizes, bool as_one,
             EffectBegins effects) {
            new (at) BoundRankings(bound_rankings(lists, pairs, n_effects, sizes, as_one, effects));
          },
          nb::kw_only(), "lists"_a, "pairs"_a.none(), "n_effects"_a, "sizes"_a.noconvert(),
          "as_one"_a, "effects"_a)
      .def("at", &BoundRankings::at, "state"_a.noconvert(), "accuracy"_a.noconvert())
      .def("rise", &BoundRankings::rise, "state"_a.noconvert(), "accuracy"_a.noconvert(),
           "cells"_a.noconvert(), "judge"_a.noconvert(), "by"_a);
  nb::class_<Priors>(m, "Priors")
      .def(
          "__init__",
          [](Priors* at, Shape score, Shape accuracy, Shape taste, Shape own, Shape backwards,
             const Row<double>& degrees, double effect_sd) {
            new (at)
                Priors(bound_priors(score, accuracy, taste, own, backwards, degrees, effect_sd));
          },
          nb::kw_only(), "score"_a, "accuracy"_a, "taste"_a, "own"_a, "backwards"_a,
          "degrees"_a.noconvert(), "effect_sd"_a);
  nb::class_<Scales>(m, "Scales")
      .def(
          "__init__",
          [](Scales* at, double score, double accuracy, double taste, const Row<double>& own,
             double degrees, double backwards) {
            new (at) Scales(bound_scales(score, accuracy, taste, own, degrees, backwards));
          },
          nb::kw_only(), "score"_a, "accuracy"_a, "taste"_a, "own"_a.noconvert(), "degrees"_a,
          "backwards"_a);
  nb::class_<Opinions>(m, "Opinions")
      .def(
          "__init__",
          [](Opinions* at, const Row<std::int64_t>& item, const Row<std::int64_t>& judge,
             std::size_t n_items, std::size_t n_judges) {
            new (at) Opinions(bound_opinions(item, judge, n_items, n_judges));
          },
          "item"_a.noconvert(), "judge"_a.noconvert(), "n_items"_a, "n_judges"_a);
  nb::class_<Juries>(m, "Juries")
      .def(
          "__init__",
          [](Juries* at, const Row<std::int64_t>& item, const Row<std::int64_t>& judge,
             std::size_t number) { new (at) Juries(bound_juries(item, judge, number)); },
          "item"_a.noconvert(), "judge"_a.noconvert(), "number"_a);
  nb::class_<EffectLayout>(m, "EffectLayout")
      .def(
          "__init__",
          [](EffectLayout* at, std::size_t size, const Row<std::int64_t>& common,
             const Row<std::int64_t>& own, std::size_t n_judges) {
            new (at) EffectLayout(bound_layout(size, common, own, n_judges));
          },
          "size"_a, "common"_a.noconvert(), "own"_a.noconvert(), "n_judges"_a);
  nb::class_<BoundChain>(m, "Chain")
      .def(nb::init<const std::variant<BoundPairs*, BoundRankings*, nb::callable>&, Opinions,
                    Juries, EffectLayout, const std::optional<Row<double>>&, const Row<double>&,
                    Priors, const Row<double>&, const Row<double>&, const Row<double>&, Scales,
                    std::uint64_t>(),
           nb::kw_only(), "votes"_a, "opinions"_a, "juries"_a, "layout"_a,
           "fixed_accuracy"_a.noconvert().none(), "say"_a.noconvert(), "priors"_a,
           "score"_a.noconvert(), "effects"_a.noconvert(), "accuracy"_a.noconvert(), "scales"_a,
           "seed"_a)
      .def("measure", &BoundChain::measure, "own"_a.noconvert(), "common"_a.noconvert(),
           "score"_a.noconvert())
      .def("rounds", &BoundChain::rounds, "count"_a)
      .def("draws", &BoundChain::draws, "count"_a)
      .def("stop_adapting", &BoundChain::stop_adapting)
      .def_prop_ro("number", &BoundChain::number)
      .def_prop_ro("opinion", &BoundChain::opinion, nb::rv_policy::automatic)
      .def_prop_ro("accuracy", &BoundChain::accuracy, nb::rv_policy::automatic)
      .def_prop_ro("known_votes", &BoundChain::known_votes, nb::rv_policy::automatic)
      .def("votes_anew", &BoundChain::votes_anew)
      .def_prop_ro("accepted", &BoundChain::accepted)
      .def_prop_ro("position_together", &BoundChain::position_together, nb::rv_policy::automatic)
      .def("potential_together", &BoundChain::potential_together, "position"_a.noconvert());
}

}  // namespace

void bind_chain(nb::module_& m) {
  bind_functions(m);
  bind_random(m);
  bind_sampler(m);
}

}  // namespace juryrank
