// Votes, effects and noise, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bound_votes.hpp"
#include "one_noise.hpp"

namespace juryrank {

// --- votes on pairs ------------------------------------------------------------------------------

BoundPairVotes::BoundPairVotes(Row<std::int64_t> start, Row<std::int32_t> winner,
                               Row<std::int32_t> loser, std::optional<Row<double>> weight,
                               std::optional<Row<bool>> tied, std::optional<Row<std::int8_t>> side,
                               std::size_t n_items)
    : start_(std::move(start)),
      winner_(std::move(winner)),
      loser_(std::move(loser)),
      weight_(std::move(weight)),
      tied_(std::move(tied)),
      side_(std::move(side)),
      n_items_(n_items) {
  const std::size_t votes = winner_.shape(0);
  check_size("loser", loser_.shape(0), votes);
  check_starts("start", span_of(start_), votes);
  votes_ = {span_of(start_), span_of(winner_), span_of(loser_), {}, {}, {}};
  if (weight_) {
    check_size("weight", weight_->shape(0), votes);
    votes_.weight = span_of(*weight_);
  }
  if (tied_) {
    check_size("tied", tied_->shape(0), votes);
    votes_.tied = span_of(*tied_);
  }
  if (side_) {
    check_size("side", side_->shape(0), votes);
    votes_.side = span_of(*side_);
  }
  checked_ = std::make_unique<std::atomic<bool>[]>(votes_.judges());
}

const PairVotes& BoundPairVotes::of(Range judges) const {
  check_range(judges, votes_.judges());
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    if (checked_[u].load(std::memory_order_relaxed)) continue;
    const Range own = votes_.of(u);
    const std::size_t count = own.last - own.first;
    check_codes("winner", votes_.winner.subspan(own.first, count), n_items_);
    check_codes("loser", votes_.loser.subspan(own.first, count), n_items_);
    checked_[u].store(true, std::memory_order_relaxed);
  }
  return votes_;
}

// --- lists ---------------------------------------------------------------------------------------

BoundListVotes::BoundListVotes(Row<std::int64_t> start, Row<std::int64_t> begin,
                               Row<std::int32_t> item, Row<std::int32_t> level,
                               Row<std::int32_t> ranked, Row<double> weight, std::size_t n_items)
    : start_(std::move(start)),
      begin_(std::move(begin)),
      item_(std::move(item)),
      level_(std::move(level)),
      ranked_(std::move(ranked)),
      weight_(std::move(weight)),
      n_items_(n_items) {
  const std::size_t lists = ranked_.shape(0), entries = item_.shape(0);
  check_starts("start", span_of(start_), lists);
  check_size("begin", begin_.shape(0), lists + 1);
  check_starts("begin", span_of(begin_), entries);
  check_size("level", level_.shape(0), entries);
  check_size("weight", weight_.shape(0), lists);
  check_codes("item", span_of(item_), n_items);
  votes_ = {span_of(start_), span_of(begin_),  span_of(item_),
            span_of(level_), span_of(ranked_), span_of(weight_)};
  for (std::size_t k = 0; k < lists; ++k) {
    const Range own = votes_.entries_of(k);
    const std::size_t length = own.last - own.first;
    if (votes_.ranked[k] < 0 || static_cast<std::size_t>(votes_.ranked[k]) > length)
      refuse("More items are ranked than a list has.");
  }
}

// --- effects -------------------------------------------------------------------------------------

BoundEffects::BoundEffects(Row<std::int64_t> sizes, NumberMatrix tie, Row<double> order,
                           bool as_one)
    : sizes_(std::move(sizes)), tie_(std::move(tie)), order_(std::move(order)) {
  check_size("A row of tie", tie_.shape(1), sizes_.shape(0));
  if (!tie_.shape(0)) refuse("tie must have a row.");
  if (as_one && sizes_.shape(0) != 1)
    refuse("Where tied items count as one, there is one weight of ties.");
  for (const std::int64_t size : span_of(sizes_))
    if (size < 2) refuse("A tie is of two items at least.");
  effects_ = {span_of(sizes_), {tie_.data(), tie_.size()}, span_of(order_), as_one};
}

const Effects& BoundEffects::of(std::size_t n_judges) const {
  if (tie_.shape(0) != 1) check_size("tie", tie_.shape(0), n_judges);
  if (order_.shape(0) > 1) check_size("order", order_.shape(0), n_judges);
  return effects_;
}

EffectIndex bound_effect_index(std::int64_t tie, std::int64_t own_tie, std::int64_t order,
                               std::int64_t own_order, std::size_t n_judges, std::size_t sizes,
                               std::size_t size) {
  const auto at = [&](const char* name, std::int64_t begin,
                      std::size_t length) -> std::optional<std::size_t> {
    if (begin < 0) return {};
    if (static_cast<std::size_t>(begin) + length > size)
      refuse(std::string(name) + " stands outside of the state.");
    return static_cast<std::size_t>(begin);
  };
  return {at("tie", tie, sizes), at("own_tie", own_tie, n_judges), at("order", order, 1),
          at("own_order", own_order, n_judges)};
}

// --- noise ---------------------------------------------------------------------------------------

BoundNoise::BoundNoise(Family family, double width, Row<double> kinks)
    : kinks_(std::move(kinks)),
      noise_{family, {}, {}, width, span_of(*kinks_), {}, {}, {}, kInfinity} {
  check_positive("width", width);
}

BoundNoise::BoundNoise(Row<double> knots, NumberMatrix tail, double width, Row<double> kinks,
                       Row<double> cells, NumberMatrix density, NumberMatrix below, double farthest)
    : knots_(std::move(knots)),
      kinks_(std::move(kinks)),
      cells_(std::move(cells)),
      tail_(std::move(tail)),
      density_(std::move(density)),
      below_(std::move(below)),
      noise_{Family::table,
             span_of(*knots_),
             {tail_->data(), tail_->size()},
             width,
             span_of(*kinks_),
             span_of(*cells_),
             {density_->data(), density_->size()},
             {below_->data(), below_->size()},
             farthest} {
  check_positive("width", width);
  if (!knots_->shape(0)) refuse("There must be a knot.");
  check_size("tail", tail_->shape(0), knots_->shape(0));
  check_size("A row of tail", tail_->shape(1), 4);
  if (cells_->shape(0) < 2) refuse("There must be a cell.");
  check_size("density", density_->shape(0), cells_->shape(0) - 1);
  check_size("below", below_->shape(0), cells_->shape(0) - 1);
  check_size("A row of density", density_->shape(1), kCellTerms);
  check_size("A row of below", below_->shape(1), kCellTerms);
}

// --- a pass over the votes -----------------------------------------------------------------------

VotesSum bound_votes_sum(const BoundNoise& noise, const AccuracyRule& rule,
                         const BoundPairVotes& pairs, const Effects* effects, Range judges,
                         const SumArrays& arrays) {
  const std::size_t n = pairs.n_items(), m = pairs.n_judges();
  check_size("score", arrays.score.shape(0), n);
  check_size("accuracy", arrays.accuracy.shape(0), m);
  check_size("score_gradient", arrays.score_gradient.shape(0), n);
  check_size("judge_value", arrays.judge_value.shape(0), m);
  check_size("accuracy_gradient", arrays.accuracy_gradient.shape(0), m);
  check_size("tie_gradient", arrays.tie_gradient.shape(0), m);
  check_size("A row of tie_gradient", arrays.tie_gradient.shape(1),
             effects ? effects->sizes.size() : 0);
  if (arrays.order_gradient.shape(0))
    check_size("order_gradient", arrays.order_gradient.shape(0), m);
  return {noise.noise(),
          rule,
          pairs.of(judges),
          effects,
          judges,
          span_of(arrays.score),
          room_of(arrays.accuracy),
          room_of(arrays.score_gradient),
          room_of(arrays.judge_value),
          room_of(arrays.accuracy_gradient),
          room_of(arrays.tie_gradient),
          room_of(arrays.order_gradient)};
}

void bind_votes(nb::module_& m) {
  nb::class_<BoundPairVotes>(m, "PairVotes")
      .def(nb::init<Row<std::int64_t>, Row<std::int32_t>, Row<std::int32_t>,
                    std::optional<Row<double>>, std::optional<Row<bool>>,
                    std::optional<Row<std::int8_t>>, std::size_t>(),
           nb::kw_only(), "start"_a.noconvert(), "winner"_a.noconvert(), "loser"_a.noconvert(),
           "weight"_a.noconvert().none(), "tied"_a.noconvert().none(), "side"_a.noconvert().none(),
           "n_items"_a);
  nb::class_<BoundListVotes>(m, "ListVotes")
      .def(nb::init<Row<std::int64_t>, Row<std::int64_t>, Row<std::int32_t>, Row<std::int32_t>,
                    Row<std::int32_t>, Row<double>, std::size_t>(),
           nb::kw_only(), "start"_a.noconvert(), "begin"_a.noconvert(), "item"_a.noconvert(),
           "level"_a.noconvert(), "ranked"_a.noconvert(), "weight"_a.noconvert(), "n_items"_a);
  nb::class_<BoundEffects>(m, "Effects")
      .def(nb::init<Row<std::int64_t>, NumberMatrix, Row<double>, bool>(), nb::kw_only(),
           "sizes"_a.noconvert(), "tie"_a.noconvert(), "order"_a.noconvert(), "as_one"_a);
  nb::class_<AccuracyRule>(m, "AccuracyRule")
      .def(
          "__init__",
          [](AccuracyRule* at, bool free, double mean, double precision, double bound) {
            if (!(precision >= 0.0)) refuse("precision must not be negative.");
            check_positive("bound", bound);
            new (at) AccuracyRule{free, mean, precision, bound};
          },
          nb::kw_only(), "free"_a, "mean"_a, "precision"_a, "bound"_a)
      .def_ro("free", &AccuracyRule::free)
      .def_ro("mean", &AccuracyRule::mean)
      .def_ro("precision", &AccuracyRule::precision)
      .def_ro("bound", &AccuracyRule::bound);
  nb::class_<BoundNoise>(m, "Noise")
      .def_static(
          "of_family",
          [](const std::string& family, double width, Row<double> kinks) {
            if (family == "gumbel") return BoundNoise(Family::gumbel, width, std::move(kinks));
            if (family == "normal") return BoundNoise(Family::normal, width, std::move(kinks));
            if (family == "exponential")
              return BoundNoise(Family::exponential, width, std::move(kinks));
            refuse("There is no family of that name.");
          },
          "family"_a, nb::kw_only(), "width"_a, "kinks"_a.noconvert())
      .def_static(
          "of_tables",
          [](Row<double> knots, NumberMatrix tail, double width, Row<double> kinks,
             Row<double> cells, NumberMatrix density, NumberMatrix below, double farthest) {
            return BoundNoise(std::move(knots), std::move(tail), width, std::move(kinks),
                              std::move(cells), std::move(density), std::move(below), farthest);
          },
          nb::kw_only(), "knots"_a.noconvert(), "tail"_a.noconvert(), "width"_a,
          "kinks"_a.noconvert(), "cells"_a.noconvert(), "density"_a.noconvert(),
          "below"_a.noconvert(), "farthest"_a)
      .def_prop_ro("is_gumbel",
                   [](const BoundNoise& noise) { return noise.noise().family == Family::gumbel; })
      .def_prop_ro("width", [](const BoundNoise& noise) { return noise.noise().width; });
}

}  // namespace juryrank
