#include "products.hpp"

namespace juryrank::JURYRANK_LEVEL {
namespace {

// v_winner - v_loser of each vote.
void take_steps(const PairVotes& pairs, Range votes, ConstMatrix vectors, Matrix step) {
  for (std::size_t k = votes.first; k < votes.last; ++k) {
    const double* up = vectors.row(static_cast<std::size_t>(pairs.winner[k]));
    const double* down = vectors.row(static_cast<std::size_t>(pairs.loser[k]));
    double* __restrict row = step.row(k - votes.first);
    for (std::size_t j = 0; j < vectors.columns; ++j) row[j] = up[j] - down[j];
  }
}

// Adds factor_i step_i over some votes.
void add_along(const double* factor, Matrix step, std::size_t count, Room along) {
  double* __restrict total = along.data();
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = step.row(i);
    for (std::size_t j = 0; j < step.columns; ++j) total[j] += factor[i] * row[j];
  }
}

// Adds square curvature_i step_i^2 over some votes.
void add_squares(double square, const double* curvature, Matrix step, std::size_t count,
                 Room energy) {
  double* __restrict total = energy.data();
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = step.row(i);
    const double precision = square * curvature[i];
    for (std::size_t j = 0; j < step.columns; ++j) total[j] += precision * (row[j] * row[j]);
  }
}

// Adds some votes' part of the product; `along` is share_u b_u'v, and the steps are spoilt.
void add_products(const PairVotes& pairs, Range votes, double square, const PairBlock& block,
                  Matrix step, Room along, Matrix product) {
  const double* __restrict whole = along.data();
  for (std::size_t k = votes.first; k < votes.last; ++k) {
    const std::size_t i = k - votes.first;
    const double precision = square * block.curvature[i], mixed = block.mixed[i];
    double* __restrict row = step.row(i);
    for (std::size_t j = 0; j < step.columns; ++j) row[j] = precision * row[j] - mixed * whole[j];
    double* __restrict up = product.row(static_cast<std::size_t>(pairs.winner[k]));
    for (std::size_t j = 0; j < step.columns; ++j) up[j] += row[j];
    double* __restrict down = product.row(static_cast<std::size_t>(pairs.loser[k]));
    for (std::size_t j = 0; j < step.columns; ++j) down[j] -= row[j];
  }
}

void start_judge(const ProfileProduct& wanted, std::size_t judge) {
  const Room along = wanted.room.along;
  for (std::size_t j = 0; j < along.size(); ++j)
    along[j] = wanted.judged ? wanted.judged->at(judge, j) : 0.0;
}

void add_products_of(const ProfileProduct& wanted, std::size_t judge, Matrix product) {
  const LikelihoodAt& at = wanted.at;
  const auto [step, along] = wanted.room;
  const Range own = at.pairs.of(judge);
  const double square = at.accuracy[judge] * at.accuracy[judge];
  PairBlock block;
  start_judge(wanted, judge);
  for (std::size_t k = own.first; k < own.last; k += PairBlock::kMost) {
    const Range votes = block_from(k, own);
    pair_curvature(at, judge, votes, block);
    take_steps(at.pairs, votes, wanted.vectors, step);
    add_along(block.mixed, step, votes.last - votes.first, along);
  }
  for (std::size_t j = 0; j < along.size(); ++j) {
    if (wanted.judged) wanted.judged->at(judge, j) = along[j];
    along[j] *= wanted.share[judge];
  }
  for (std::size_t k = own.first; k < own.last; k += PairBlock::kMost) {
    const Range votes = block_from(k, own);
    if (own.last - own.first > PairBlock::kMost) {  // else the block still holds them
      pair_curvature(at, judge, votes, block);
      take_steps(at.pairs, votes, wanted.vectors, step);
    }
    add_products(at.pairs, votes, square, block, step, along, product);
  }
}

void add_mixed(const LikelihoodAt& at, std::size_t judge, double factor, Room column) {
  over_blocks(at, judge, pair_curvature, [&](Range votes, const PairBlock& block) {
    for (std::size_t k = votes.first; k < votes.last; ++k) {
      const double amount = factor * block.mixed[k - votes.first];
      column[static_cast<std::size_t>(at.pairs.winner[k])] += amount;
      column[static_cast<std::size_t>(at.pairs.loser[k])] -= amount;
    }
  });
}

// b_ui^2 variance_i; it is forgotten, so that a second visit adds nothing.
double taken_square(Room column, Numbers variance, std::int32_t item) {
  const auto i = static_cast<std::size_t>(item);
  const double found = column[i] * column[i] * variance[i];
  column[i] = 0.0;
  return found;
}

}  // namespace

void add_profile_product(const ProfileProduct& wanted, Matrix product) {
  for (std::size_t u = wanted.judges.first; u < wanted.judges.last; ++u)
    add_products_of(wanted, u, product);
}

void add_profile_energy(const ProfileProduct& wanted, Room energy) {
  const LikelihoodAt& at = wanted.at;
  const auto [step, along] = wanted.room;
  for (std::size_t u = wanted.judges.first; u < wanted.judges.last; ++u) {
    const double square = at.accuracy[u] * at.accuracy[u];
    start_judge(wanted, u);
    over_blocks(at, u, pair_curvature, [&](Range votes, const PairBlock& block) {
      const std::size_t count = votes.last - votes.first;
      take_steps(at.pairs, votes, wanted.vectors, step);
      add_along(block.mixed, step, count, along);
      add_squares(square, block.curvature, step, count, energy);
    });
    for (std::size_t j = 0; j < along.size(); ++j)
      energy[j] -= wanted.share[u] * along[j] * along[j];
  }
}

void add_mixed_sum(const LikelihoodAt& at, Range judges, Numbers factor, Room total) {
  for (std::size_t u = judges.first; u < judges.last; ++u) add_mixed(at, u, factor[u], total);
}

void set_mixed_squares(const LikelihoodAt& at, Range judges, const SparseRows* of_lists,
                       Numbers variance, Room column, Room square) {
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    double total = 0.0;
    add_mixed(at, u, 1.0, column);
    if (of_lists) {
      const Range row = of_lists->of(u);
      for (std::size_t p = row.first; p < row.last; ++p)
        column[static_cast<std::size_t>(of_lists->index[p])] += of_lists->mixed[p];
      for (std::size_t p = row.first; p < row.last; ++p)
        total += taken_square(column, variance, of_lists->index[p]);
    }
    const Range own = at.pairs.of(u);
    for (std::size_t k = own.first; k < own.last; ++k) {
      total += taken_square(column, variance, at.pairs.winner[k]);
      total += taken_square(column, variance, at.pairs.loser[k]);
    }
    square[u] = total;
  }
}

}  // namespace juryrank::JURYRANK_LEVEL
