// Votes as every pass sees them, and what else decides them. Nothing here owns an array.
//
// Votes are sorted by judge: those of judge u stand from start[u] to start[u + 1].
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arrays.hpp"

namespace juryrank {

// Votes on pairs.
struct PairVotes {
  Codes start;
  Items winner, loser;
  std::optional<Numbers> weight;                     // all are 1
  std::optional<std::span<const bool>> tied;         // votes cannot be tied
  std::optional<std::span<const std::int8_t>> side;  // 1: the winner was on the left; -1: the right

  std::size_t judges() const { return start.size() - 1; }
  Range of(std::size_t judge) const {
    return {static_cast<std::size_t>(start[judge]), static_cast<std::size_t>(start[judge + 1])};
  }
  // Whether nothing but scores and accuracies decides them.
  bool are_plain() const { return !tied && !side; }
  double weight_of(std::size_t vote) const { return weight ? (*weight)[vote] : 1.0; }
};

// Votes on more than two items. The items of list k are item[begin[k]] to item[begin[k + 1]], the
// best first. The first ranked[k] of them are ranked: level counts up from 0, and items of one
// level are tied. The others are below them, in no order, and share the next level.
struct ListVotes {
  Codes start, begin;
  Items item, level, ranked;
  Numbers weight;

  std::size_t judges() const { return start.size() - 1; }
  std::size_t number() const { return ranked.size(); }
  Range lists_of(std::size_t judge) const {
    return {static_cast<std::size_t>(start[judge]), static_cast<std::size_t>(start[judge + 1])};
  }
  Range entries_of(std::size_t list) const {
    return {static_cast<std::size_t>(begin[list]), static_cast<std::size_t>(begin[list + 1])};
  }
  Range entries_of_judge(std::size_t judge) const {
    const Range own = lists_of(judge);
    return {static_cast<std::size_t>(begin[own.first]), static_cast<std::size_t>(begin[own.last])};
  }
};

// What else decides a vote: how readily judges tie, and what the left side gains. Both have a row
// for every judge, or one for all of them.
struct Effects {
  Codes sizes;    // of the groups of items that can be tied (2, 3, ...); empty if none can
  Numbers tie;    // the logarithm of the weight of a tie: rows x sizes
  Numbers order;  // what an item gains on the left side; empty if it gains nothing
  bool as_one;  // tied items of a list count as one item, so that the size of ties does not matter

  Numbers tie_of(std::size_t judge) const {
    const std::size_t count = sizes.size();
    return tie.size() > count ? tie.subspan(judge * count, count) : tie.first(count);
  }
  // How readily a judge ties two items; 0 where it never does.
  double pair_tie_of(std::size_t judge) const { return sizes.empty() ? 0.0 : tie_of(judge)[0]; }
  double order_of(std::size_t judge) const {
    return order.empty() ? 0.0 : order[order.size() > 1 ? judge : 0];
  }
};

// Where effects stand in a state, those of single judges from there on.
struct EffectIndex {
  std::optional<std::size_t> tie, own_tie;  // log t, one for each size; what each judge adds
  std::optional<std::size_t> order, own_order;

  double tie_of(std::size_t judge, Numbers state) const {
    return sum_of(tie, own_tie, judge, state);
  }
  double order_of(std::size_t judge, Numbers state) const {
    return sum_of(order, own_order, judge, state);
  }

 private:
  static double sum_of(std::optional<std::size_t> common, std::optional<std::size_t> own,
                       std::size_t judge, Numbers state) {
    return (common ? state[*common] : 0.0) + (own ? state[*own + judge] : 0.0);
  }
};

// What is known of an accuracy before the votes: N(mean, 1 / precision) within the bound.
struct AccuracyRule {
  bool free;  // false: the accuracies are given and stay as they are
  double mean, precision, bound;
};

}  // namespace juryrank
