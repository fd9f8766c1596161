#include "tastes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>

#include "cpus.hpp"
#include "lanes.hpp"
#include "pair_curvature.hpp"
#include "passes.hpp"

namespace juryrank {
namespace {

constexpr double kLeastCurvature = 1e-12;
constexpr double kLeastSquare = 1e-6;  // of an accuracy
// The rows of judges with opinions of 1 / kWide of the items are multiplied as whole rows.
constexpr std::size_t kWide = 10;

double square(double x) { return x * x; }

// Tables of what was seen of one judge after the other need not be emptied between them if numbers
// go on: what is below the first number of a judge is of those before. From here on they begin
// anew.
constexpr std::uint32_t kLastFirst = ~std::uint32_t{0} / 2;

// Numbers the items of one judge after the other.
class ItemNumbers {
 public:
  explicit ItemNumbers(std::size_t n) : seen_(n), items_(1) {}

  // Of no more than so many items.
  void begin(std::size_t most) {
    first_ += count_;
    count_ = 0;
    if (items_.size() <= most) items_.resize(most + 1);
    if (first_ < kLastFirst) return;
    std::fill(seen_.begin(), seen_.end(), 0);
    first_ = 1;
  }

  // Of the items of some votes.
  void set(Items items, std::uint32_t* number) {
    std::uint32_t *const seen = seen_.data(), *const listed = items_.data();
    const std::uint32_t first = first_;
    std::uint32_t count = count_;
    for (std::size_t k = 0; k < items.size(); ++k) {
      const auto item = static_cast<std::uint32_t>(items[k]);
      const std::uint32_t before = seen[item] - first;  // very large, if the item is new
      const std::uint32_t found = std::min(before, count);
      listed[count] = item;  // to stay, if it is new
      count += before >= count;
      seen[item] = first + found;
      number[k] = found;
    }
    count_ = count;
  }

  std::span<const std::uint32_t> items() const { return std::span(items_).first(count_); }

 private:
  std::vector<std::uint32_t> seen_;   // first_ + the number of each item
  std::vector<std::uint32_t> items_;  // of each number; and one more
  std::uint32_t first_ = 1, count_ = 0;
};

// What a judge's votes tell of two items.
struct PairSum {
  std::uint64_t key;  // the numbers of the items
  double told;        // -(A_u)_ij
  double squares;     // of single votes

  std::uint32_t one() const { return static_cast<std::uint32_t>(key >> 32); }
  std::uint32_t other() const { return static_cast<std::uint32_t>(key); }
};

// Those of one judge after the other, in the order of its votes: found by a table of hashes.
class PairSums {
 public:
  // Of no more than so many pairs.
  void begin(std::size_t most) {
    const std::size_t size = std::bit_ceil(4 * most + 4);
    first_ += count_;
    count_ = 0;
    shift_ = 64 - std::countr_zero(size);
    last_slot_ = size - 1;
    if (pairs_.size() < most) pairs_.resize(most);
    if (size <= slots_.size() && first_ < kLastFirst) return;
    slots_.assign(std::max(size, slots_.size()), 0);
    first_ = 1;
  }

  // Of some votes, given by their keys: twice the product of what each tells with what those before
  // tell of the same items.
  void add(std::span<const std::uint64_t> keys, const double* told, double* both) {
    std::uint32_t* const slots = slots_.data();
    PairSum* const pairs = pairs_.data();
    const std::uint32_t first = first_;
    const std::size_t last_slot = last_slot_;
    const int shift = shift_;
    std::uint32_t count = count_;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      std::size_t at = (keys[k] * 0x9E3779B97F4A7C15ULL) >> shift;
      std::uint32_t found = slots[at] - first;  // very large, if there is none
      while (found < count && pairs[found].key != keys[k]) {
        at = (at + 1) & last_slot;
        found = slots[at] - first;
      }
      if (found >= count) {
        slots[at] = first + count;
        pairs[count++] = {keys[k], told[k], square(told[k])};
        both[k] = 0.0;
      } else {
        PairSum& pair = pairs[found];
        both[k] = 2.0 * pair.told * told[k];
        pair.told += told[k];
        pair.squares += square(told[k]);
      }
    }
    count_ = count;
  }

  std::span<const PairSum> pairs() const { return std::span(pairs_).first(count_); }

 private:
  std::vector<std::uint32_t> slots_;  // first_ + the index of a pair
  std::vector<PairSum> pairs_;
  std::uint32_t first_ = 1, count_ = 0;
  std::size_t last_slot_ = 0;
  int shift_ = 0;
};

// What a judge has said of an item.
struct Opinion {
  double own = 0.0;       // (A_u)_ii
  double alone = 0.0;     // what of its square is not shared
  double residual = 0.0;  // the judge's part of the gradient in the item's score
  double pull = 0.0;      // v_u
  double squares = 0.0;   // of single votes, of which the residual is the sum
  double votes = 0.0;

  // (A_u^2)_ii - sum 2 q^2 a_u^4; exactly 0 for a single vote.
  double shared() const { return std::max(square(own) - alone, 0.0); }
  double excess() const { return square(residual) - squares; }
};

// Some votes as the opinions of their winners see them; those of the losers see misses and pulls
// with the other sign.
struct OpinionBlock {
  std::uint32_t winner[PairBlock::kMost], loser[PairBlock::kMost];  // their numbers
  std::uint64_t key[PairBlock::kMost];
  double told[PairBlock::kMost];   // q a_u^2
  double alone[PairBlock::kMost];  // of its square; less if there were votes on the same items
  double miss[PairBlock::kMost], pull[PairBlock::kMost];
};

JURYRANK_FOR_MORE_CPUS
void set_keys(std::size_t count, OpinionBlock& votes) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t one = votes.winner[i], other = votes.loser[i];
    votes.key[i] = std::uint64_t{std::min(one, other)} << 32 | std::max(one, other);
  }
}

// The opinions of one judge after the other.
class JudgeOpinions {
 public:
  explicit JudgeOpinions(const LikelihoodAt& at) : at_(at), numbers_(at.score.size()) {}

  void look_at(std::size_t judge);

  // The items that there are opinions of, by number, and the opinions.
  std::span<const std::uint32_t> items() const { return numbers_.items(); }
  std::span<const Opinion> opinions() const { return std::span(opinions_).first(items().size()); }
  std::span<const PairSum> pairs() const { return pairs_.pairs(); }
  // The numbers of opinions of several votes, if these tell anything.
  std::span<const std::uint32_t> several() const { return std::span(several_).first(n_several_); }
  double size() const;
  // |v_u|^2, and what of it is of single votes; C_u without the prior.
  double length() const;
  double alone() const { return alone_; }
  double curvature() const { return curvature_; }

 private:
  void set_block(Range votes, const PairBlock& block, double accuracy);
  void add_block(std::size_t count);
  void list_several();

  const LikelihoodAt& at_;
  ItemNumbers numbers_;
  PairSums pairs_;
  std::vector<Opinion> opinions_;
  std::vector<std::uint32_t> several_;  // and one more
  std::size_t n_several_ = 0;
  std::size_t number_ = 0;  // of votes
  double alone_ = 0.0, curvature_ = 0.0;
  OpinionBlock votes_;
};

void JudgeOpinions::look_at(std::size_t judge) {
  const Range own = at_.pairs.of(judge);
  const std::size_t n = at_.score.size();
  number_ = own.last - own.first;
  const std::size_t most = std::min(2 * number_, n);
  std::fill_n(opinions_.begin(), items().size(), Opinion());
  if (opinions_.size() < most) opinions_.resize(most);
  numbers_.begin(most);
  // Nobody has checked that the two items of a vote differ.
  pairs_.begin(n < number_ ? std::min(number_, n * (n + 1) / 2) : number_);
  alone_ = curvature_ = 0.0;
  over_blocks(at_, judge, passes().pair_curvature, [&](Range votes, const PairBlock& block) {
    set_block(votes, block, at_.accuracy[judge]);
    add_block(votes.last - votes.first);
  });
  list_several();
}

void JudgeOpinions::list_several() {
  const std::span<const Opinion> all = opinions();
  if (several_.size() <= all.size()) several_.resize(all.size() + 1);
  std::size_t count = 0;
  for (std::size_t p = 0; p < all.size(); ++p) {
    several_[count] = static_cast<std::uint32_t>(p);  // to stay, if it is of several
    count += (all[p].votes > 1.0) & (all[p].own > 0.0);
  }
  n_several_ = count;
}

void JudgeOpinions::set_block(Range votes, const PairBlock& block, double accuracy) {
  const double accuracy_square = square(accuracy);
  const std::size_t count = votes.last - votes.first;
  OpinionBlock& found = votes_;
  numbers_.set(at_.pairs.winner.subspan(votes.first, count), found.winner);
  numbers_.set(at_.pairs.loser.subspan(votes.first, count), found.loser);
  set_keys(count, found);
  for (std::size_t i = 0; i < count; ++i) found.told[i] = block.curvature[i] * accuracy_square;
  pairs_.add({found.key, count}, found.told, found.alone);
  double alone = 0.0, curvature = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    found.alone[i] = square(found.told[i]) - found.alone[i];
    found.miss[i] = -block.gradient[i] * accuracy;
    found.pull[i] = found.told[i] * block.gap[i];
    alone += 2.0 * square(found.pull[i]);
    curvature += square(block.gap[i]) * block.curvature[i];
  }
  alone_ += alone;
  curvature_ += curvature;
}

void JudgeOpinions::add_block(std::size_t count) {
  Opinion* const opinions = opinions_.data();
  const auto add = [this](Opinion& opinion, std::size_t i, double sign) {
    opinion.own += votes_.told[i];
    opinion.alone += votes_.alone[i];
    opinion.residual += sign * votes_.miss[i];
    opinion.pull += sign * votes_.pull[i];
    opinion.squares += square(votes_.miss[i]);
    opinion.votes += 1.0;
  };
  for (std::size_t i = 0; i < count; ++i) {
    add(opinions[votes_.winner[i]], i, 1.0);
    add(opinions[votes_.loser[i]], i, -1.0);
  }
}

double JudgeOpinions::size() const {
  double total = 0.0;
  for (const std::uint32_t p : several()) {
    const Opinion& opinion = opinions_[p];
    total += opinion.votes * (opinion.shared() / opinion.own);
  }
  return total / std::max(2.0 * static_cast<double>(number_), 1.0);
}

double JudgeOpinions::length() const {
  double found = 0.0;
  for (const Opinion& opinion : opinions()) found += square(opinion.pull);
  return found;
}

// v and w of one judge after the other, by the numbers of its items.
class ProfiledRows {
 public:
  // `k` is 1 / (a_u^2 C_u).
  void set(const JudgeOpinions& judge, double weight, double k);

  double pull(std::size_t p) const { return pull_[p]; }
  double moved(std::size_t p) const { return moved_[p]; }

 private:
  std::vector<double> pull_, moved_;
};

void ProfiledRows::set(const JudgeOpinions& judge, double weight, double k) {
  const std::span<const Opinion> opinions = judge.opinions();
  pull_.resize(opinions.size());
  moved_.assign(opinions.size(), 0.0);
  for (const PairSum& pair : judge.pairs()) {
    const double along = pair.told * (opinions[pair.one()].pull - opinions[pair.other()].pull);
    moved_[pair.one()] += along;
    moved_[pair.other()] -= along;
  }
  const double half = 0.5 * k * judge.length();
  for (std::size_t p = 0; p < opinions.size(); ++p) {
    moved_[p] = weight * k * (moved_[p] - half * opinions[p].pull);
    pull_[p] = weight * opinions[p].pull;
  }
}

// What one judge after the other adds to Q.
class UpperPart {
 public:
  explicit UpperPart(Matrix upper) : upper_(upper) {}

  void add_sparse(const JudgeOpinions& judge, double weight);
  // -(w v' + v w').
  void add_profiled(const JudgeOpinions& judge, const ProfiledRows& rows) const;

 private:
  // A vote, or several, on an item: the number of the other, and what they tell.
  struct End {
    std::uint32_t other;
    double told;
  };

  void sort_ends(const JudgeOpinions& judge);
  void add(std::size_t i, std::size_t j, double amount) const {
    upper_.at(std::min(i, j), std::max(i, j)) += amount;
  }

  Matrix upper_;
  std::vector<std::size_t> begin_;  // where the ends of each item begin, and the last ones end
  std::vector<End> ends_;
};

// Each pair as its two items see it, by item.
void UpperPart::sort_ends(const JudgeOpinions& judge) {
  begin_.assign(judge.items().size() + 2, 0);
  for (const PairSum& pair : judge.pairs()) {
    ++begin_[pair.one() + 2];
    ++begin_[pair.other() + 2];
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  ends_.resize(begin_.back());
  for (const PairSum& pair : judge.pairs()) {
    ends_[begin_[pair.one() + 1]++] = {pair.other(), pair.told};
    ends_[begin_[pair.other() + 1]++] = {pair.one(), pair.told};
  }
}

// With P_ij = -(A_u)_ij, (A_u^2)_ij = sum_l P_il P_lj - P_ij ((A_u)_ii + (A_u)_jj) off the
// diagonal.
void UpperPart::add_sparse(const JudgeOpinions& judge, double weight) {
  sort_ends(judge);
  const std::span<const std::uint32_t> items = judge.items();
  const std::span<const Opinion> opinions = judge.opinions();
  const double factor = square(weight);
  for (std::size_t p = 0; p < items.size(); ++p)
    upper_.at(items[p], items[p]) += factor * opinions[p].shared();
  for (const PairSum& pair : judge.pairs()) {
    const double own = opinions[pair.one()].own + opinions[pair.other()].own;
    add(items[pair.one()], items[pair.other()], factor * (2.0 * pair.squares - pair.told * own));
  }
  for (std::size_t p = 0; p < items.size(); ++p)
    for (std::size_t e = begin_[p]; e < begin_[p + 1]; ++e) {
      const double told = factor * ends_[e].told;
      for (std::size_t f = e + 1; f < begin_[p + 1]; ++f)
        add(items[ends_[e].other], items[ends_[f].other], told * ends_[f].told);
    }
}

void UpperPart::add_profiled(const JudgeOpinions& judge, const ProfiledRows& rows) const {
  const std::span<const std::uint32_t> items = judge.items();
  for (std::size_t p = 0; p < items.size(); ++p)
    for (std::size_t o = p; o < items.size(); ++o)
      add(items[p], items[o], -(rows.moved(p) * rows.pull(o) + rows.pull(p) * rows.moved(o)));
}

void add_moments(const JudgeOpinions& judge, TasteMoments& moments) {
  std::size_t row = moments.item.size();
  const std::size_t size = row + judge.several().size();
  for (auto* each : {&moments.excess, &moments.shared, &moments.own}) each->resize(size);
  moments.item.resize(size);
  for (const std::uint32_t p : judge.several()) {
    const Opinion& opinion = judge.opinions()[p];
    moments.excess[row] = opinion.excess();
    moments.shared[row] = opinion.shared();
    moments.own[row] = opinion.own;
    moments.item[row] = judge.items()[p];
    ++row;
  }
}

}  // namespace

TasteMoments taste_moments(const LikelihoodAt& at, Range judges, const JudgesTastes& found) {
  TasteMoments moments;
  JudgeOpinions judge(at);
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    judge.look_at(u);
    add_moments(judge, moments);
    found.size[u] = judge.size();
    found.length[u] = std::max(judge.length() - judge.alone(), 0.0);
    found.curvature[u] = judge.curvature();
    found.opinions[u] = static_cast<std::int64_t>(judge.several().size());
  }
  return moments;
}

double taste_size(const LikelihoodAt& at, std::size_t judge) {
  JudgeOpinions opinions(at);
  opinions.look_at(judge);
  return opinions.size();
}

JURYRANK_FOR_MORE_CPUS
MomentSums moment_sums(Numbers excess, Numbers expected, Numbers own, double variance) {
  double observed[kLanes] = {}, told[kLanes] = {}, squares[kLanes] = {};
  const auto add = [&](std::size_t k, std::size_t lane) {
    const double weight = 1.0 / square(1.0 + variance * own[k]);
    observed[lane] += weight * excess[k];
    told[lane] += weight * expected[k];
    squares[lane] += square(weight * expected[k]);
  };
  const std::size_t whole = own.size() / kLanes * kLanes;
  for (std::size_t k = 0; k < whole; k += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) add(k + l, l);
  for (std::size_t k = whole; k < own.size(); ++k) add(k, k - whole);
  return {sum_of_lanes(observed), sum_of_lanes(told), sum_of_lanes(squares)};
}

std::size_t add_tastes(const LikelihoodAt& at, Range judges, const TasteMatrix& matrix) {
  const std::size_t n = at.score.size();
  JudgeOpinions judge(at);
  ProfiledRows rows;
  UpperPart part(matrix.upper);
  std::size_t row = 0;
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    judge.look_at(u);
    part.add_sparse(judge, matrix.weight[u]);
    const double curvature = std::max(matrix.accuracy_curvature[u], kLeastCurvature);
    const double accuracy_square = std::max(square(at.accuracy[u]), kLeastSquare);
    rows.set(judge, matrix.weight[u], 1.0 / (accuracy_square * curvature));
    const std::span<const std::uint32_t> items = judge.items();
    if (kWide * items.size() < n) {
      part.add_profiled(judge, rows);
      continue;
    }
    double *const pull = matrix.pull.row(row), *const moved = matrix.moved.row(row);
    std::fill_n(pull, n, 0.0);
    std::fill_n(moved, n, 0.0);
    for (std::size_t p = 0; p < items.size(); ++p) {
      pull[items[p]] = rows.pull(p);
      moved[items[p]] = rows.moved(p);
    }
    ++row;
  }
  return row;
}

}  // namespace juryrank
