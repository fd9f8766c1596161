// Votes, effects and noise as Python hands them over: arrays that are kept alive, and checked once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bindings.hpp"
#include "noise.hpp"
#include "pair_sums.hpp"
#include "votes.hpp"

namespace juryrank {

class BoundPairVotes {
 public:
  BoundPairVotes(Row<std::int64_t> start, Row<std::int32_t> winner, Row<std::int32_t> loser,
                 std::optional<Row<double>> weight, std::optional<Row<bool>> tied,
                 std::optional<Row<std::int8_t>> side, std::size_t n_items);

  // The votes, those of these judges with codes that are known to be right: they are checked when
  // they are first looked at, since votes in files larger than memory are only read in parts.
  const PairVotes& of(Range judges) const;
  const PairVotes& all() const { return of({0, votes_.judges()}); }
  std::size_t n_items() const { return n_items_; }
  std::size_t n_judges() const { return votes_.judges(); }

 private:
  Row<std::int64_t> start_;
  Row<std::int32_t> winner_, loser_;
  std::optional<Row<double>> weight_;
  std::optional<Row<bool>> tied_;
  std::optional<Row<std::int8_t>> side_;
  std::size_t n_items_;
  PairVotes votes_;
  std::unique_ptr<std::atomic<bool>[]> checked_;
};

class BoundListVotes {
 public:
  BoundListVotes(Row<std::int64_t> start, Row<std::int64_t> begin, Row<std::int32_t> item,
                 Row<std::int32_t> level, Row<std::int32_t> ranked, Row<double> weight,
                 std::size_t n_items);

  const ListVotes& votes() const { return votes_; }
  std::size_t n_items() const { return n_items_; }
  std::size_t n_judges() const { return votes_.judges(); }

 private:
  Row<std::int64_t> start_, begin_;
  Row<std::int32_t> item_, level_, ranked_;
  Row<double> weight_;
  std::size_t n_items_;
  ListVotes votes_;
};

class BoundEffects {
 public:
  // `tie` has a row for each judge, or one for all; `order` likewise, or none.
  BoundEffects(Row<std::int64_t> sizes, NumberMatrix tie, Row<double> order, bool as_one);

  // Refuses what is not of so many judges.
  const Effects& of(std::size_t n_judges) const;

 private:
  Row<std::int64_t> sizes_;
  NumberMatrix tie_;
  Row<double> order_;
  Effects effects_;
};

// A negative number means nowhere; `size` is that of the state, and `sizes` how many sizes of ties
// have a weight.
EffectIndex bound_effect_index(std::int64_t tie, std::int64_t own_tie, std::int64_t order,
                               std::int64_t own_order, std::size_t n_judges, std::size_t sizes,
                               std::size_t size);

class BoundNoise {
 public:
  explicit BoundNoise(Family family, double width, Row<double> kinks);
  BoundNoise(Row<double> knots, NumberMatrix tail, double width, Row<double> kinks,
             Row<double> cells, NumberMatrix density, NumberMatrix below, double farthest);

  const Noise& noise() const { return noise_; }

 private:
  std::optional<Row<double>> knots_, kinks_, cells_;
  std::optional<NumberMatrix> tail_, density_, below_;
  Noise noise_;
};

// Arrays of a pass over the votes, as in `VotesSum`.
struct SumArrays {
  const Row<double>& score;
  const RoomRow &accuracy, &score_gradient, &judge_value, &accuracy_gradient;
  const RoomMatrix& tie_gradient;
  const RoomRow& order_gradient;
};

VotesSum bound_votes_sum(const BoundNoise& noise, const AccuracyRule& rule,
                         const BoundPairVotes& pairs, const Effects* effects, Range judges,
                         const SumArrays& arrays);

}  // namespace juryrank
