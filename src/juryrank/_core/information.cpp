#include "information.hpp"

#include <algorithm>
#include <vector>

#include "list_curvature.hpp"
#include "pair_curvature.hpp"
#include "passes.hpp"
#include "touched.hpp"

namespace juryrank {
namespace {

class Blocks {
 public:
  // `upper` may be null, and `entries` have no size.
  Blocks(const LikelihoodAt& at, const Matrix* upper, Room entries)
      : at_(at), upper_(upper), entries_(entries), lists_(at) {}

  // C_u without the prior; A and b_u are added to.
  double add_judge(std::size_t judge, double* column) {
    return add_pairs(judge, column) + (at_.lists ? add_lists(judge, column) : 0.0);
  }

 private:
  double add_pairs(std::size_t judge, double* column);
  void add_pairs_to_upper(std::size_t judge, Range votes, const PairBlock& block);
  void add_order(std::size_t judge, Range votes, const PairBlock& block, double* column);
  void add_tie(std::size_t judge, Range votes, const PairBlock& block, double* column);
  void add_order_and_tie(std::size_t judge, Range votes, const PairBlock& block);
  double add_lists(std::size_t judge, double* column);
  void add_list_to_a(double square);
  void add_list_ties(std::size_t judge, double* column);

  void add(std::size_t i, std::size_t j, double amount) {
    upper_->at(std::min(i, j), std::max(i, j)) += amount;
  }
  // What all of some votes say of an effect with itself.
  void add_square(const Touched& touched, double amount) {
    for (const std::size_t i : touched)
      for (const std::size_t j : touched)
        if (j >= i) upper_->at(i, j) += amount;
  }
  std::size_t winner(std::size_t vote) const {
    return static_cast<std::size_t>(at_.pairs.winner[vote]);
  }
  std::size_t loser(std::size_t vote) const {
    return static_cast<std::size_t>(at_.pairs.loser[vote]);
  }

  const LikelihoodAt& at_;
  const Matrix* upper_;
  Room entries_;
  std::size_t entry_ = 0;
  ListCurvature lists_;
};

double Blocks::add_pairs(std::size_t judge, double* column) {
  const bool plain = at_.pairs_are_plain();
  double own = 0.0;
  over_blocks(at_, judge, passes().pair_curvature, [&](Range votes, const PairBlock& block) {
    for (std::size_t i = 0; i < votes.last - votes.first; ++i) {
      own += block.gap[i] * block.gap[i] * block.curvature[i];
      column[winner(votes.first + i)] += block.mixed[i];
      column[loser(votes.first + i)] -= block.mixed[i];
    }
    if (upper_) add_pairs_to_upper(judge, votes, block);
    if (plain) return;
    if (at_.pairs.side) add_order(judge, votes, block, column);
    if (at_.pairs.tied) add_tie(judge, votes, block, column);
    if (at_.pairs.side && at_.pairs.tied && upper_) add_order_and_tie(judge, votes, block);
  });
  return own;
}

void Blocks::add_pairs_to_upper(std::size_t judge, Range votes, const PairBlock& block) {
  const double square = at_.accuracy[judge] * at_.accuracy[judge];
  for (std::size_t i = 0; i < votes.last - votes.first; ++i) {
    const std::size_t up = winner(votes.first + i), down = loser(votes.first + i);
    const double precision = square * block.curvature[i];
    upper_->at(up, up) += precision;
    upper_->at(down, down) += precision;
    add(up, down, -precision);
  }
}

void Blocks::add_order(std::size_t judge, Range votes, const PairBlock& block, double* column) {
  const Touched order = touched_order(at_.index, judge);
  const double accuracy = at_.accuracy[judge];
  double with_accuracy = 0.0, with_itself = 0.0;
  for (std::size_t i = 0; i < votes.last - votes.first; ++i) {
    const double side = (*at_.pairs.side)[votes.first + i], curvature = side * block.curvature[i];
    with_accuracy += block.gap[i] * curvature;
    with_itself += side * curvature;
    if (!upper_) continue;
    for (const std::size_t index : order) {
      add(index, winner(votes.first + i), accuracy * curvature);
      add(index, loser(votes.first + i), -accuracy * curvature);
    }
  }
  for (const std::size_t index : order) column[index] += with_accuracy;
  if (upper_) add_square(order, with_itself);
}

void Blocks::add_tie(std::size_t judge, Range votes, const PairBlock& block, double* column) {
  const Touched tie = touched_tie(at_.index, 0, judge);
  const double accuracy = at_.accuracy[judge];
  double with_accuracy = 0.0, with_itself = 0.0;
  for (std::size_t i = 0; i < votes.last - votes.first; ++i) {
    with_accuracy += block.gap[i] * block.x_tie[i];
    with_itself += block.tie_tie[i];
    if (!upper_) continue;
    for (const std::size_t index : tie) {
      add(index, winner(votes.first + i), accuracy * block.x_tie[i]);
      add(index, loser(votes.first + i), -accuracy * block.x_tie[i]);
    }
  }
  for (const std::size_t index : tie) column[index] += with_accuracy;
  if (upper_) add_square(tie, with_itself);
}

void Blocks::add_order_and_tie(std::size_t judge, Range votes, const PairBlock& block) {
  double together = 0.0;
  for (std::size_t i = 0; i < votes.last - votes.first; ++i)
    together += (*at_.pairs.side)[votes.first + i] * block.x_tie[i];
  for (const std::size_t i : touched_order(at_.index, judge))
    for (const std::size_t j : touched_tie(at_.index, 0, judge)) add(i, j, together);
}

double Blocks::add_lists(std::size_t judge, double* column) {
  const double accuracy = at_.accuracy[judge];
  const Range own_lists = at_.lists->lists_of(judge);
  double own = 0.0;
  for (std::size_t k = own_lists.first; k < own_lists.last; ++k) {
    lists_.look_at(judge, k);
    const Items items = lists_.items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const double along = lists_.along(i);
      column[items[i]] += lists_.weight() * (lists_.gradient(i) + accuracy * along);
      own += lists_.weight() * lists_.score(i) * along;
    }
    add_list_to_a(lists_.weight() * accuracy * accuracy);
    add_list_ties(judge, column);
  }
  return own;
}

void Blocks::add_list_to_a(double square) {
  if (!upper_ && entries_.empty()) return;
  const Items items = lists_.items();
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t j = 0; j < items.size(); ++j) {
      const double amount = square * lists_.hessian(i, j);
      if (!entries_.empty())
        entries_[entry_++] = amount;
      else if (items[i] <= items[j])
        upper_->at(static_cast<std::size_t>(items[i]), static_cast<std::size_t>(items[j])) +=
            amount;
    }
}

void Blocks::add_list_ties(std::size_t judge, double* column) {
  const std::size_t length = lists_.length(), ties = lists_.ties();
  const double weight = lists_.weight(), accuracy = at_.accuracy[judge];
  for (std::size_t t = 0; t < ties; ++t)
    for (const std::size_t index : touched_tie(at_.index, t, judge)) {
      column[index] += weight * lists_.along(length + t);
      if (!upper_) continue;
      for (std::size_t j = 0; j < length; ++j)
        add(index, static_cast<std::size_t>(lists_.items()[j]),
            weight * accuracy * lists_.hessian(length + t, j));
      for (std::size_t r = 0; r < ties; ++r)
        for (const std::size_t other : touched_tie(at_.index, r, judge))
          if (other >= index)
            upper_->at(index, other) += weight * lists_.hessian(length + t, length + r);
    }
}

}  // namespace

std::size_t most_unknowns(const LikelihoodAt& at, Codes judges) {
  constexpr std::size_t kOthers = 3;  // own tie, order, own order
  const std::size_t effects = (at.effects ? at.effects->sizes.size() : 0) + kOthers;
  std::size_t most = 0;
  for (const std::int64_t judge : judges) {
    const auto u = static_cast<std::size_t>(judge);
    const Range pairs = at.pairs.of(u);
    most += std::min(2 * (pairs.last - pairs.first), at.score.size()) + effects;
    if (!at.lists) continue;
    const Range entries = at.lists->entries_of_judge(u);
    most += entries.last - entries.first;
  }
  return most;
}

void add_blocks(const LikelihoodAt& at, Codes judges, const Matrix* upper, Matrix rows,
                Room accuracy_curvature) {
  Blocks blocks(at, upper, {});
  for (std::size_t p = 0; p < judges.size(); ++p)
    accuracy_curvature[p] = blocks.add_judge(static_cast<std::size_t>(judges[p]), rows.row(p));
}

void set_sparse_blocks(const LikelihoodAt& at, Codes judges, const Matrix* upper, Room entries,
                       const SparseRoom& rows, Room accuracy_curvature) {
  Blocks blocks(at, upper, entries);
  std::vector<double> column(at.size);
  IndexSet touched(at.size);
  std::size_t next = 0;
  rows.start[0] = 0;
  for (std::size_t p = 0; p < judges.size(); ++p) {
    const auto judge = static_cast<std::size_t>(judges[p]);
    accuracy_curvature[p] = blocks.add_judge(judge, column.data());
    add_touched(at, judge, touched);
    touched.take([&](std::size_t index) {
      rows.index[next] = static_cast<std::int32_t>(index);
      rows.mixed[next++] = column[index];
      column[index] = 0.0;
    });
    rows.start[p + 1] = static_cast<std::int64_t>(next);
  }
}

void subtract_squares(const SparseRows& rows, Numbers share, Matrix upper) {
  for (std::size_t u = 0; u < rows.rows(); ++u) {
    if (share[u] == 0.0) continue;
    const Range own = rows.of(u);
    for (std::size_t p = own.first; p < own.last; ++p) {
      const double factor = rows.mixed[p] * share[u];
      double* row = upper.row(static_cast<std::size_t>(rows.index[p]));
      for (std::size_t o = p; o < own.last; ++o) row[rows.index[o]] -= factor * rows.mixed[o];
    }
  }
}

void set_squares(const SparseRows& rows, ConstMatrix covariance, Room square) {
  for (std::size_t u = 0; u < rows.rows(); ++u) {
    const Range own = rows.of(u);
    double total = 0.0;
    for (std::size_t p = own.first; p < own.last; ++p) {
      const double* row = covariance.row(static_cast<std::size_t>(rows.index[p]));
      double along = 0.5 * row[rows.index[p]] * rows.mixed[p];
      for (std::size_t o = p + 1; o < own.last; ++o) along += row[rows.index[o]] * rows.mixed[o];
      total += 2.0 * rows.mixed[p] * along;
    }
    square[u] = total;
  }
}

}  // namespace juryrank
