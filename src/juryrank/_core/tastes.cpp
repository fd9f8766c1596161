#include "tastes.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "pair_curvature.hpp"
#include "passes.hpp"

namespace juryrank {
namespace {

constexpr double kLeastCurvature = 1e-12;
constexpr double kLeastSquare = 1e-6;  // of an accuracy

double square(double x) { return x * x; }

// What a judge has said of an item.
struct Opinion {
  std::size_t item;
  std::size_t votes = 0;
  double own = 0.0;       // (A_u)_ii
  double single = 0.0;    // sum 2 q^2 a_u^4
  double residual = 0.0;  // the judge's part of the gradient in the item's score
  double alone = 0.0;     // what of its square is that of single votes
  double pull = 0.0;      // v_u
};

struct Vote {
  std::size_t winner, loser;  // opinions
  double told;                // q a_u^2
};

// An entry of a row of A_u.
struct Entry {
  std::size_t opinion;
  double value;
};

// The opinions of one judge after the other.
class JudgeOpinions {
 public:
  explicit JudgeOpinions(const LikelihoodAt& at) : at_(at), opinion_of_(at.score.size(), kNone) {}

  void look_at(std::size_t judge);

  const std::vector<Opinion>& opinions() const { return opinions_; }
  const std::vector<Vote>& votes() const { return votes_; }
  // |v_u|^2, and what of it is of single votes.
  double length() const {
    double found = 0.0;
    for (const Opinion& opinion : opinions_) found += square(opinion.pull);
    return found;
  }
  double alone() const { return alone_; }

  // The rows of A_u that have several votes: `work` is told the opinion, the other entries, and the
  // votes that they are the sums of.
  template <typename Work>
  void over_rows(Work&& work);

  double shared(const Opinion& opinion, const std::vector<Entry>& others) const {
    double found = square(opinion.own);
    for (const Entry& other : others) found += square(other.value);
    return std::max(found - opinion.single, 0.0);
  }
  double size();

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t opinion_of(std::size_t item);
  void add(const PairVotes& pairs, Range votes, const PairBlock& block, double accuracy);
  void sort_votes();
  void merge(std::span<const Entry> ends);

  const LikelihoodAt& at_;
  std::vector<std::size_t> opinion_of_;  // of each item
  std::vector<Opinion> opinions_;
  std::vector<Vote> votes_;
  double alone_ = 0.0;
  std::vector<std::size_t> begin_;  // of each opinion's votes in `ends_`
  std::vector<Entry> ends_;         // each vote as its two opinions see it
  std::vector<Entry> row_;
  std::vector<std::size_t> in_row_;  // where in the row each opinion stands
};

std::size_t JudgeOpinions::opinion_of(std::size_t item) {
  std::size_t& found = opinion_of_[item];
  if (found == kNone) {
    found = opinions_.size();
    opinions_.push_back({item});
  }
  return found;
}

void JudgeOpinions::look_at(std::size_t judge) {
  opinions_.clear();
  votes_.clear();
  alone_ = 0.0;
  over_blocks(at_, judge, passes().pair_curvature, [&](Range votes, const PairBlock& block) {
    add(at_.pairs, votes, block, at_.accuracy[judge]);
  });
  for (const Opinion& opinion : opinions_) opinion_of_[opinion.item] = kNone;
  sort_votes();
}

void JudgeOpinions::add(const PairVotes& pairs, Range votes, const PairBlock& block,
                        double accuracy) {
  for (std::size_t k = votes.first; k < votes.last; ++k) {
    const std::size_t i = k - votes.first;
    const double told = block.curvature[i] * square(accuracy);
    const double miss = -block.gradient[i] * accuracy, pull = told * block.gap[i];
    const std::size_t up = opinion_of(static_cast<std::size_t>(pairs.winner[k]));
    const std::size_t down = opinion_of(static_cast<std::size_t>(pairs.loser[k]));
    votes_.push_back({up, down, told});
    alone_ += 2.0 * square(pull);
    for (const auto& [at, sign] : {std::pair(up, 1.0), std::pair(down, -1.0)}) {
      Opinion& opinion = opinions_[at];
      ++opinion.votes;
      opinion.own += told;
      opinion.single += 2.0 * square(told);
      opinion.residual += sign * miss;
      opinion.alone += square(miss);
      opinion.pull += sign * pull;
    }
  }
}

// Lists the votes of each opinion that has several.
void JudgeOpinions::sort_votes() {
  begin_.assign(opinions_.size() + 1, 0);
  for (std::size_t i = 0; i < opinions_.size(); ++i)
    begin_[i + 1] = begin_[i] + (opinions_[i].votes > 1 ? opinions_[i].votes : 0);
  ends_.resize(begin_.back());
  in_row_ = begin_;  // where the next vote of each goes
  for (const Vote& vote : votes_) {
    if (opinions_[vote.winner].votes > 1) ends_[in_row_[vote.winner]++] = {vote.loser, vote.told};
    if (opinions_[vote.loser].votes > 1) ends_[in_row_[vote.loser]++] = {vote.winner, vote.told};
  }
  in_row_.assign(opinions_.size(), kNone);
}

// Votes on the same two items are one entry.
void JudgeOpinions::merge(std::span<const Entry> ends) {
  row_.clear();
  for (const Entry& end : ends) {
    std::size_t& found = in_row_[end.opinion];
    if (found == kNone) {
      found = row_.size();
      row_.push_back({end.opinion, 0.0});
    }
    row_[found].value -= end.value;
  }
  for (const Entry& entry : row_) in_row_[entry.opinion] = kNone;
}

template <typename Work>
void JudgeOpinions::over_rows(Work&& work) {
  for (std::size_t i = 0; i < opinions_.size(); ++i) {
    const std::span<const Entry> ends(ends_.data() + begin_[i], begin_[i + 1] - begin_[i]);
    if (ends.empty()) continue;
    merge(ends);
    work(i, row_, ends);
  }
}

double JudgeOpinions::size() {
  double total = 0.0;
  over_rows([&](std::size_t i, const std::vector<Entry>& others, auto) {
    const Opinion& opinion = opinions_[i];
    if (opinion.own > 0.0)
      total += static_cast<double>(opinion.votes) * (shared(opinion, others) / opinion.own);
  });
  const double votes = 2.0 * static_cast<double>(votes_.size());
  return std::max(total / std::max(votes, 1.0), 0.0);
}

// Adds the rows of A_u to Q, weighted, less what is of single votes.
class SparsePart {
 public:
  SparsePart(const TasteSums& sums, const std::vector<Opinion>& opinions, double weight)
      : sums_(sums), opinions_(opinions), square_(square(weight)) {}

  void add(std::size_t i, const std::vector<Entry>& others, std::span<const Entry> ends) const {
    add(i, i, square(opinions_[i].own));
    for (std::size_t p = 0; p < others.size(); ++p) {
      add(i, others[p].opinion, opinions_[i].own * others[p].value);
      for (std::size_t o = p; o < others.size(); ++o)
        add(others[p].opinion, others[o].opinion, others[p].value * others[o].value);
    }
    for (const Entry& end : ends) {
      add(i, i, -square(end.value));
      add(end.opinion, end.opinion, -square(end.value));
      add(i, end.opinion, square(end.value));
    }
  }

 private:
  void add(std::size_t one, std::size_t other, double amount) const {
    const std::size_t i = opinions_[one].item, j = opinions_[other].item;
    if (sums_.upper)
      sums_.upper->at(std::min(i, j), std::max(i, j)) += square_ * amount;
    else if (i == j)
      sums_.diagonal[i] += square_ * amount;
  }

  const TasteSums& sums_;
  const std::vector<Opinion>& opinions_;
  double square_;
};

// Sets v and w of a judge; `k` is 1 / (a_u^2 C_u).
void set_rows(const JudgeOpinions& judge, double weight, double k, double* pull, double* moved) {
  const std::vector<Opinion>& opinions = judge.opinions();
  const double length = judge.length();
  for (const Vote& vote : judge.votes()) {
    const double along = vote.told * (opinions[vote.winner].pull - opinions[vote.loser].pull);
    moved[opinions[vote.winner].item] += along;
    moved[opinions[vote.loser].item] -= along;
  }
  for (const Opinion& opinion : opinions) {
    double& own = moved[opinion.item];
    own = weight * k * (own - 0.5 * k * length * opinion.pull);
    pull[opinion.item] = weight * opinion.pull;
  }
}

}  // namespace

TasteMoments taste_moments(const LikelihoodAt& at, Range judges) {
  TasteMoments found;
  JudgeOpinions judge(at);
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    judge.look_at(u);
    judge.over_rows([&](std::size_t i, const std::vector<Entry>& others, auto) {
      const Opinion& opinion = judge.opinions()[i];
      const double shared = judge.shared(opinion, others);
      if (!(shared > 0.0)) return;
      found.excess.push_back(square(opinion.residual) - opinion.alone);
      found.shared.push_back(shared);
      found.own.push_back(opinion.own);
      found.item.push_back(static_cast<std::int64_t>(opinion.item));
    });
  }
  return found;
}

double taste_size(const LikelihoodAt& at, std::size_t judge) {
  JudgeOpinions opinions(at);
  opinions.look_at(judge);
  return opinions.size();
}

void add_tastes(const LikelihoodAt& at, Range judges, const TasteSums& sums) {
  JudgeOpinions judge(at);
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    judge.look_at(u);
    const double weight = 1.0 / (1.0 + sums.variance * judge.size());
    const double curvature = std::max(sums.accuracy_curvature[u], kLeastCurvature);
    const double accuracy_square = std::max(square(at.accuracy[u]), kLeastSquare);
    sums.weight[u] = weight;
    sums.own[u] = sums.variance * std::max(judge.length() - judge.alone(), 0.0) /
                  (accuracy_square * square(curvature));
    const SparsePart part(sums, judge.opinions(), weight);
    judge.over_rows([&](std::size_t i, const std::vector<Entry>& others,
                        std::span<const Entry> ends) { part.add(i, others, ends); });
    if (sums.pull)
      set_rows(judge, weight, 1.0 / (accuracy_square * curvature), sums.pull->row(u - judges.first),
               sums.moved->row(u - judges.first));
  }
}

}  // namespace juryrank
