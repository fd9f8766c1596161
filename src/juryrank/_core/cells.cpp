#include "cells.hpp"

#include <algorithm>

#include "touched.hpp"

namespace juryrank {
namespace {

// What `work(item)` does for every item of a judge's votes, as often as there is a vote on it.
template <typename Work>
void over_votes_on_items(const VotesOnItems& votes, std::size_t judge, Work&& work) {
  const Range own = votes.pairs.of(judge);
  for (std::size_t k = own.first; k < own.last; ++k) {
    work(static_cast<std::size_t>(votes.pairs.winner[k]), votes.pairs.weight_of(k));
    work(static_cast<std::size_t>(votes.pairs.loser[k]), votes.pairs.weight_of(k));
  }
  if (!votes.lists) return;
  const Range lists = votes.lists->lists_of(judge);
  for (std::size_t k = lists.first; k < lists.last; ++k) {
    const Range entries = votes.lists->entries_of(k);
    for (std::size_t e = entries.first; e < entries.last; ++e)
      work(static_cast<std::size_t>(votes.lists->item[e]), votes.lists->weight[k]);
  }
}

// Weight of votes on items, and how much of it they won.
struct Played {
  std::vector<double> won, played;

  explicit Played(std::size_t n_items) : won(n_items), played(n_items) {}
  void add_pairs(const PairVotes& pairs, std::size_t judge);
  void add_lists(const ListVotes& lists, std::size_t judge);
  void add(const VotesOnItems& votes, std::size_t judge) {
    add_pairs(votes.pairs, judge);
    if (votes.lists) add_lists(*votes.lists, judge);
  }
};

void Played::add_pairs(const PairVotes& pairs, std::size_t judge) {
  const Range own = pairs.of(judge);
  for (std::size_t k = own.first; k < own.last; ++k) {
    const bool tied = pairs.tied && (*pairs.tied)[k];
    const double weight = pairs.weight_of(k);
    const auto winner = static_cast<std::size_t>(pairs.winner[k]);
    const auto loser = static_cast<std::size_t>(pairs.loser[k]);
    won[winner] += weight * (tied ? 0.5 : 1.0);
    won[loser] += weight * (tied ? 0.5 : 0.0);
    played[winner] += weight;
    played[loser] += weight;
  }
}

// In a list an item wins the share of the others that are below it, and half of its equals.
void Played::add_lists(const ListVotes& lists, std::size_t judge) {
  const Range own = lists.lists_of(judge);
  for (std::size_t k = own.first; k < own.last; ++k) {
    const Range entries = lists.entries_of(k);
    const Items level = lists.level.subspan(entries.first, entries.last - entries.first);
    for (std::size_t i = 0; i < level.size(); ++i) {
      const auto below = std::count_if(level.begin(), level.end(),
                                       [&](std::int32_t other) { return other > level[i]; });
      const auto same = std::count(level.begin(), level.end(), level[i]) - 1;
      const auto item = static_cast<std::size_t>(lists.item[entries.first + i]);
      const double others = static_cast<double>(level.size()) - 1.0;
      const double beaten = static_cast<double>(below) + 0.5 * static_cast<double>(same);
      won[item] += others > 0.0 ? lists.weight[k] * beaten / others : 0.0;
      played[item] += lists.weight[k];
    }
  }
}

double capped(double weight, double most, double cap) {
  return most > cap ? weight * (cap / most) : weight;
}

}  // namespace

std::vector<std::int64_t> cell_counts(const VotesOnItems& votes, std::size_t most) {
  std::vector<std::int64_t> counts(most + 1);
  std::vector<std::size_t> number(votes.n_items);
  for (std::size_t u = 0; u < votes.pairs.judges(); ++u) {
    over_votes_on_items(votes, u, [&](std::size_t item, double) { ++number[item]; });
    over_votes_on_items(votes, u, [&](std::size_t item, double) {
      if (number[item]) ++counts[std::min(number[item], most)];
      number[item] = 0;
    });
  }
  return counts;
}

void set_capped_weights(const VotesOnItems& votes, double cap, Room pairs, Room lists) {
  std::vector<double> total(votes.n_items);
  for (std::size_t u = 0; u < votes.pairs.judges(); ++u) {
    over_votes_on_items(votes, u, [&](std::size_t item, double) { total[item] = 0.0; });
    over_votes_on_items(votes, u, [&](std::size_t item, double weight) { total[item] += weight; });
    const Range own = votes.pairs.of(u);
    for (std::size_t k = own.first; k < own.last; ++k) {
      const double most = std::max(total[static_cast<std::size_t>(votes.pairs.winner[k])],
                                   total[static_cast<std::size_t>(votes.pairs.loser[k])]);
      pairs[k] = capped(votes.pairs.weight_of(k), most, cap);
    }
    if (!votes.lists) continue;
    const Range own_lists = votes.lists->lists_of(u);
    for (std::size_t k = own_lists.first; k < own_lists.last; ++k) {
      const Range entries = votes.lists->entries_of(k);
      double most = 0.0;
      for (std::size_t e = entries.first; e < entries.last; ++e)
        most = std::max(most, total[static_cast<std::size_t>(votes.lists->item[e])]);
      lists[k] = capped(votes.lists->weight[k], most, cap);
    }
  }
}

ItemTotals item_totals(const VotesOnItems& votes) {
  Played sums(votes.n_items);
  std::vector<std::int64_t> judges(votes.n_items);
  IndexSet items(votes.n_items);
  for (std::size_t u = 0; u < votes.pairs.judges(); ++u) {
    sums.add(votes, u);
    add_items(votes.pairs, votes.lists, u, items);
    items.take([&](std::size_t item) { ++judges[item]; });
  }
  return {std::move(sums.won), std::move(sums.played), std::move(judges)};
}

HeavyCells heavy_cells(const VotesOnItems& votes, double least) {
  HeavyCells found;
  Played sums(votes.n_items);
  IndexSet items(votes.n_items);
  for (std::size_t u = 0; u < votes.pairs.judges(); ++u) {
    sums.add(votes, u);
    add_items(votes.pairs, votes.lists, u, items);
    items.take([&](std::size_t item) {
      if (sums.played[item] >= least) {
        found.judge.push_back(static_cast<std::int64_t>(u));
        found.item.push_back(static_cast<std::int64_t>(item));
        found.won.push_back(sums.won[item]);
        found.played.push_back(sums.played[item]);
      }
      sums.won[item] = sums.played[item] = 0.0;
    });
  }
  return found;
}

}  // namespace juryrank
