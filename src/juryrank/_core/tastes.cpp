#include "tastes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "pair_curvature.hpp"
#include "passes.hpp"

namespace juryrank {
namespace {

constexpr double kLeastCurvature = 1e-12;
constexpr double kLeastSquare = 1e-6;  // of an accuracy

double square(double x) { return x * x; }

// What a judge has said of an item. Products of different votes are added up as they come, so that
// nothing is subtracted.
struct Opinion {
  std::size_t votes = 0;
  double own = 0.0;       // (A_u)_ii
  double shared = 0.0;    // (A_u^2)_ii - sum 2 q^2 a_u^4
  double residual = 0.0;  // the judge's part of the gradient in the item's score
  double excess = 0.0;    // its square less the squares of single votes
  double pull = 0.0;      // v_u

  void add(double told, double miss, double pulled) {
    ++votes;
    shared += 2.0 * own * told;
    own += told;
    excess += 2.0 * residual * miss;
    residual += miss;
    pull += pulled;
  }
};

struct Vote {
  std::size_t winner, loser;
  double told;  // q a_u^2
};

// An entry of a row of A_u.
struct Entry {
  std::size_t item;
  double value;
};

// What a judge's votes tell of each two items: numbers by pair, in a table of hashes.
class PairSums {
 public:
  void begin(std::size_t most) {
    const std::size_t size = std::bit_ceil(2 * most + 2);
    if (size > slots_.size()) slots_.resize(size);
    shift_ = 64 - std::countr_zero(size);
    last_ = size - 1;
    std::fill_n(slots_.begin(), size, Slot{kNone, 0.0});
  }
  // Twice the product with the sum before.
  double add(std::size_t one, std::size_t other, double told) {
    const std::uint64_t key = std::uint64_t{std::min(one, other)} << 32 | std::max(one, other);
    std::size_t at = (key * 0x9E3779B97F4A7C15ULL) >> shift_;
    while (slots_[at].key != key && slots_[at].key != kNone) at = (at + 1) & last_;
    Slot& slot = slots_[at];
    const double both = 2.0 * slot.sum * told;
    slot.key = key;
    slot.sum += told;
    return both;
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key;
    double sum;
  };
  std::vector<Slot> slots_;
  int shift_ = 0;
  std::size_t last_ = 0;
};

// The opinions of one judge after the other.
class JudgeOpinions {
 public:
  // Votes are kept if rows of A_u will be asked for.
  JudgeOpinions(const LikelihoodAt& at, bool keeps_votes)
      : at_(at),
        keeps_votes_(keeps_votes),
        opinions_(at.score.size()),
        items_(at.score.size() + 1),
        begin_(keeps_votes ? at.score.size() : 0),
        in_row_(keeps_votes ? at.score.size() : 0, kNone) {}

  void look_at(std::size_t judge);

  // Of the items that there is an opinion of, in the order of the votes.
  std::span<const std::size_t> items() const { return std::span(items_).first(count_); }
  const Opinion& of(std::size_t item) const { return opinions_[item]; }
  const std::vector<Vote>& votes() const { return votes_; }
  // |v_u|^2, and what of it is of single votes.
  double length() const {
    double found = 0.0;
    for (const std::size_t i : items()) found += square(opinions_[i].pull);
    return found;
  }
  double alone() const { return alone_; }
  double size() const;

  // The rows of A_u that have several votes: `work` is told the item, the other entries, and the
  // votes that they are the sums of.
  template <typename Work>
  void over_rows(Work&& work);

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void add(const PairVotes& pairs, Range votes, const PairBlock& block, double accuracy);
  void sort_votes();
  void merge(std::span<const Entry> ends);

  const LikelihoodAt& at_;
  bool keeps_votes_;
  std::vector<Opinion> opinions_;       // of all items
  std::vector<std::size_t> items_;      // and one more
  std::size_t count_ = 0, number_ = 0;  // of opinions; of votes
  double alone_ = 0.0;
  PairSums told_;
  std::vector<Vote> votes_;
  std::vector<std::size_t> begin_;  // where the votes on each item begin in `ends_`
  std::vector<Entry> ends_;         // each vote as its two items see it
  std::vector<Entry> row_;
  std::vector<std::size_t> in_row_;  // where in the row each item stands
};

void JudgeOpinions::look_at(std::size_t judge) {
  for (const std::size_t i : items()) opinions_[i] = Opinion();
  const Range own = at_.pairs.of(judge);
  const std::size_t n = opinions_.size();
  number_ = own.last - own.first;
  count_ = 0;
  alone_ = 0.0;
  votes_.clear();
  told_.begin(n < number_ ? std::min(number_, n * (n - 1) / 2) : number_);
  over_blocks(at_, judge, passes().pair_curvature, [&](Range votes, const PairBlock& block) {
    add(at_.pairs, votes, block, at_.accuracy[judge]);
  });
  if (keeps_votes_) sort_votes();
}

void JudgeOpinions::add(const PairVotes& pairs, Range votes, const PairBlock& block,
                        double accuracy) {
  const double accuracy_square = square(accuracy);
  std::size_t count = count_;
  double alone = 0.0;
  for (std::size_t k = votes.first; k < votes.last; ++k) {
    const std::size_t i = k - votes.first, up = index(pairs.winner[k]),
                      down = index(pairs.loser[k]);
    const double told = block.curvature[i] * accuracy_square;
    const double miss = -block.gradient[i] * accuracy, pull = told * block.gap[i];
    const double both = told_.add(up, down, told);
    for (const auto& [item, sign] : {std::pair(up, 1.0), std::pair(down, -1.0)}) {
      Opinion& opinion = opinions_[item];
      items_[count] = item;  // to stay, if it is new
      count += opinion.votes == 0;
      opinion.add(told, sign * miss, sign * pull);
      opinion.shared += both;
    }
    alone += 2.0 * square(pull);
    if (keeps_votes_) votes_.push_back({up, down, told});
  }
  count_ = count;
  alone_ += alone;
}

// Lists the votes on each item that has several.
void JudgeOpinions::sort_votes() {
  std::size_t next = 0;
  for (const std::size_t i : items()) {
    begin_[i] = next;
    next += opinions_[i].votes > 1 ? opinions_[i].votes : 0;
  }
  ends_.resize(next);
  const auto put = [&](std::size_t item, const Entry& end) {
    if (opinions_[item].votes > 1) ends_[begin_[item]++] = end;
  };
  for (const Vote& vote : votes_) {
    put(vote.winner, {vote.loser, vote.told});
    put(vote.loser, {vote.winner, vote.told});
  }
  for (const std::size_t i : items())
    if (opinions_[i].votes > 1) begin_[i] -= opinions_[i].votes;
}

// Votes on the same two items are one entry.
void JudgeOpinions::merge(std::span<const Entry> ends) {
  row_.clear();
  for (const Entry& end : ends) {
    std::size_t& found = in_row_[end.item];
    if (found == kNone) {
      found = row_.size();
      row_.push_back({end.item, 0.0});
    }
    row_[found].value -= end.value;
  }
  for (const Entry& entry : row_) in_row_[entry.item] = kNone;
}

template <typename Work>
void JudgeOpinions::over_rows(Work&& work) {
  for (const std::size_t i : items()) {
    if (opinions_[i].votes < 2) continue;
    const std::span<const Entry> ends(ends_.data() + begin_[i], opinions_[i].votes);
    merge(ends);
    work(i, row_, ends);
  }
}

double JudgeOpinions::size() const {
  double total = 0.0;
  for (const std::size_t i : items()) {
    const Opinion& opinion = opinions_[i];
    if (opinion.own > 0.0)
      total += static_cast<double>(opinion.votes) * (opinion.shared / opinion.own);
  }
  return total / std::max(2.0 * static_cast<double>(number_), 1.0);
}

// Adds the rows of A_u to Q, weighted, less what is of single votes.
class SparsePart {
 public:
  SparsePart(Matrix upper, const JudgeOpinions& judge, double weight)
      : upper_(upper), judge_(judge), square_(square(weight)) {}

  void add(std::size_t i, const std::vector<Entry>& others, std::span<const Entry> ends) const {
    const double own = judge_.of(i).own;
    add(i, i, square(own));
    for (std::size_t p = 0; p < others.size(); ++p) {
      add(i, others[p].item, own * others[p].value);
      for (std::size_t o = p; o < others.size(); ++o)
        add(others[p].item, others[o].item, others[p].value * others[o].value);
    }
    for (const Entry& end : ends) {
      add(i, i, -square(end.value));
      add(end.item, end.item, -square(end.value));
      add(i, end.item, square(end.value));
    }
  }

 private:
  void add(std::size_t i, std::size_t j, double amount) const {
    upper_.at(std::min(i, j), std::max(i, j)) += square_ * amount;
  }

  Matrix upper_;
  const JudgeOpinions& judge_;
  double square_;
};

// Sets v and w of a judge; `k` is 1 / (a_u^2 C_u).
void set_rows(const JudgeOpinions& judge, double weight, double k, double* pull, double* moved) {
  const double length = judge.length();
  for (const Vote& vote : judge.votes()) {
    const double along = vote.told * (judge.of(vote.winner).pull - judge.of(vote.loser).pull);
    moved[vote.winner] += along;
    moved[vote.loser] -= along;
  }
  for (const std::size_t i : judge.items()) {
    moved[i] = weight * k * (moved[i] - 0.5 * k * length * judge.of(i).pull);
    pull[i] = weight * judge.of(i).pull;
  }
}

}  // namespace

TasteMoments taste_moments(const LikelihoodAt& at, Range judges) {
  TasteMoments found;
  JudgeOpinions judge(at, false);
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    judge.look_at(u);
    for (const std::size_t i : judge.items()) {
      const Opinion& opinion = judge.of(i);
      if (!(opinion.shared > 0.0)) continue;
      found.excess.push_back(opinion.excess);
      found.shared.push_back(opinion.shared);
      found.own.push_back(opinion.own);
      found.item.push_back(static_cast<std::int64_t>(i));
    }
  }
  return found;
}

double taste_size(const LikelihoodAt& at, std::size_t judge) {
  JudgeOpinions opinions(at, false);
  opinions.look_at(judge);
  return opinions.size();
}

void add_tastes(const LikelihoodAt& at, Range judges, const TasteSums& sums) {
  JudgeOpinions judge(at, sums.upper || sums.pull);
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    judge.look_at(u);
    const double weight = 1.0 / (1.0 + sums.variance * judge.size());
    const double curvature = std::max(sums.accuracy_curvature[u], kLeastCurvature);
    const double accuracy_square = std::max(square(at.accuracy[u]), kLeastSquare);
    sums.weight[u] = weight;
    sums.own[u] = sums.variance * std::max(judge.length() - judge.alone(), 0.0) /
                  (accuracy_square * square(curvature));
    if (sums.upper) {
      const SparsePart part(*sums.upper, judge, weight);
      judge.over_rows([&](std::size_t i, const std::vector<Entry>& others,
                          std::span<const Entry> ends) { part.add(i, others, ends); });
    } else {
      for (const std::size_t i : judge.items())
        sums.diagonal[i] += square(weight) * judge.of(i).shared;
    }
    if (sums.pull)
      set_rows(judge, weight, 1.0 / (accuracy_square * curvature), sums.pull->row(u - judges.first),
               sums.moved->row(u - judges.first));
  }
}

}  // namespace juryrank
