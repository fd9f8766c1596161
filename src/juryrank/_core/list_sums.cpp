#include "list_sums.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "accuracy_search.hpp"
#include "luce.hpp"
#include "passes.hpp"
#include "tied_lists.hpp"

namespace juryrank {
namespace {

// A secant may differ by this factor from the second derivative of the step before.
constexpr double kLargestLeap = 5.0;
// Of an accuracy: a last step this small need not be taken.
constexpr double kNoMove = 1e-8;

// The lists of one judge after the other: what they say at an accuracy.
class JudgeLists {
 public:
  explicit JudgeLists(const ListsSum& sum)
      : sum_(sum), votes_(sum.votes), lists_(sum.lists), gumbel_(sum.likeness.empty()) {}

  double look_at(std::size_t judge) {
    judge_ = judge;
    own_ = lists_.lists_of(judge);
    entries_ = lists_.entries_of_judge(judge);
    const std::size_t count = entries_.last - entries_.first;
    for (auto* room : {&score_, &location_, &gradient_}) room->resize(count);
    for (std::size_t e = 0; e < count; ++e)
      score_[e] = votes_.score[static_cast<std::size_t>(lists_.item[entries_.first + e])];
    double& accuracy = votes_.accuracy[judge];
    has_pairs_ = votes_.pairs.start[judge] < votes_.pairs.start[judge + 1];
    if (votes_.rule.free) accuracy = gumbel_ ? best_accuracy() : best_accuracy_of_chains();
    if (gumbel_ || !votes_.rule.free) set_gradients(accuracy);
    return add_up(accuracy);
  }

 private:
  // --- the search for the accuracy

  double best_accuracy() {
    AccuracySearch search(votes_.rule, votes_.accuracy[judge_]);
    for (int step = 0; step < AccuracySearch::kMostSteps; ++step) {
      Derivatives found = besides_lists(search.accuracy());
      locate(search.accuracy());
      for (std::size_t k = own_.first; k < own_.last; ++k) {
        const Along along = list_along(one(k), part(score_, k), *votes_.effects, tie());
        found.first += lists_.weight[k] * along.first;
        found.second += lists_.weight[k] * along.second;
      }
      if (search.step(found.first, found.second)) break;
    }
    return search.accuracy();
  }

  // Second derivatives are borrowed from Gumbel noise at first, and then from secants. Leaves the
  // gradients as they are there.
  double best_accuracy_of_chains() {
    AccuracySearch search(votes_.rule, votes_.accuracy[judge_]);
    double was = search.accuracy();
    Derivatives last{0.0, 1.0};
    for (int step = 0; step < AccuracySearch::kMostSteps; ++step) {
      const double accuracy = search.accuracy();
      set_gradients(accuracy);
      Derivatives found = besides_lists(accuracy);
      found.first += gradient_of_lists();
      if (step == 0) {
        found.second += borrowed_curvature();
      } else {
        const double secant = (found.first - last.first) / (accuracy - was);
        const double least = last.second / kLargestLeap, most = last.second * kLargestLeap;
        found.second = accuracy == was ? last.second : std::min(std::max(secant, least), most);
      }
      was = accuracy;
      last = found;
      if (search.step(found.first, found.second)) break;
    }
    if (std::abs(search.accuracy() - was) <= kNoMove * (1.0 + std::abs(was))) return was;
    set_gradients(search.accuracy());
    return search.accuracy();
  }

  // Derivatives of prior and pairs in the accuracy.
  Derivatives besides_lists(double accuracy) const {
    const AccuracyRule& rule = votes_.rule;
    Derivatives found{rule.precision * (accuracy - rule.mean), rule.precision};
    if (!has_pairs_) return found;
    const Derivatives pairs = passes().pair_derivatives(votes_.noise, votes_.pairs, votes_.effects,
                                                        judge_, votes_.score, accuracy);
    return {found.first + pairs.first, found.second + pairs.second};
  }

  double gradient_of_lists() const {
    double total = 0.0;
    for (std::size_t k = own_.first; k < own_.last; ++k) {
      double of_list = 0.0;
      const Range in = within(k);
      for (std::size_t e = in.first; e < in.last; ++e) of_list += gradient_[e] * score_[e];
      total += lists_.weight[k] * of_list;
    }
    return total;
  }

  double borrowed_curvature() const {
    double total = 0.0;
    for (std::size_t k = own_.first; k < own_.last; ++k) {
      const OneList list = one(k);
      const Along along = luce_along(list.location, part(score_, k), list.ranked);
      total += lists_.weight[k] * sum_.likeness[k] * along.second;
    }
    return total;
  }

  // --- value and gradients

  void locate(double accuracy) {
    for (std::size_t e = 0; e < score_.size(); ++e) location_[e] = accuracy * score_[e];
  }

  // Values, and gradients in the locations and the weights of ties, at an accuracy.
  void set_gradients(double accuracy) {
    locate(accuracy);
    const std::size_t kinds = tie().size();
    value_.resize(own_.last - own_.first);
    tie_.assign(value_.size() * kinds, 0.0);
    for (std::size_t k = own_.first; k < own_.last; ++k) {
      const std::size_t at = k - own_.first;
      const Room gradient = part(gradient_, k), of_tie = Room(tie_).subspan(at * kinds, kinds);
      const OneList list = one(k);
      value_[at] = gumbel_ ? list_pass(list, *votes_.effects, tie(), gradient, of_tie)
                           : chain_pass(votes_.noise, list.location, list.ranked, gradient);
    }
  }

  // Adds what pairs and lists say to the sums; the judge's value.
  double add_up(double accuracy) {
    add_pairs();
    const std::size_t kinds = tie().size();
    double value = 0.0, of_accuracy = 0.0;
    for (std::size_t k = own_.first; k < own_.last; ++k) {
      const double weight = lists_.weight[k];
      value += weight * value_[k - own_.first];
      const Range in = within(k);
      for (std::size_t e = in.first; e < in.last; ++e) {
        const double pull = weight * gradient_[e];
        of_accuracy += pull * score_[e];
        votes_.score_gradient[static_cast<std::size_t>(lists_.item[entries_.first + e])] +=
            accuracy * pull;
      }
      for (std::size_t t = 0; t < kinds; ++t)
        votes_.tie_gradient.at(judge_, t) += weight * tie_[(k - own_.first) * kinds + t];
    }
    votes_.accuracy_gradient[judge_] += of_accuracy;
    return votes_.judge_value[judge_] += value;
  }

  // Sets what belongs to the judge.
  void add_pairs() {
    if (has_pairs_) {
      VotesSum pairs = votes_;
      pairs.rule.free = false;
      pairs.judges = {judge_, judge_ + 1};
      passes().votes_sum(pairs);
      return;
    }
    votes_.judge_value[judge_] = votes_.accuracy_gradient[judge_] = 0.0;
    const Matrix& tie = votes_.tie_gradient;
    if (tie.columns) std::fill_n(tie.row(judge_), tie.columns, 0.0);
    if (!votes_.order_gradient.empty()) votes_.order_gradient[judge_] = 0.0;
  }

  // --- one list

  Numbers tie() const { return gumbel_ ? votes_.effects->tie_of(judge_) : Numbers(); }
  // Its entries, among those of the judge.
  Range within(std::size_t k) const {
    const Range in = lists_.entries_of(k);
    return {in.first - entries_.first, in.last - entries_.first};
  }
  Room part(std::vector<double>& of_entries, std::size_t k) const {
    const Range in = within(k);
    return Room(of_entries).subspan(in.first, in.last - in.first);
  }
  Numbers part(const std::vector<double>& of_entries, std::size_t k) const {
    const Range in = within(k);
    return Numbers(of_entries).subspan(in.first, in.last - in.first);
  }
  OneList one(std::size_t k) const {
    const Range in = lists_.entries_of(k);
    return {part(location_, k), lists_.level.subspan(in.first, in.last - in.first),
            static_cast<std::size_t>(lists_.ranked[k])};
  }

  const ListsSum& sum_;
  const VotesSum& votes_;
  const ListVotes& lists_;
  bool gumbel_;
  std::size_t judge_ = 0;
  bool has_pairs_ = false;
  Range own_{}, entries_{};
  std::vector<double> score_, location_, gradient_;  // of each entry
  std::vector<double> value_, tie_;                  // of each list
};

}  // namespace

double lists_sum(const ListsSum& sum) {
  JudgeLists judge(sum);
  double total = 0.0;
  for (std::size_t u = sum.votes.judges.first; u < sum.votes.judges.last; ++u)
    total += judge.look_at(u);
  return total;
}

void chain_terms(const Noise& noise, const ListTerms& terms) {
  for (std::size_t k = terms.which.first; k < terms.which.last; ++k) {
    const Range in = terms.lists.entries_of(k);
    const std::size_t count = in.last - in.first;
    terms.value[k] = chain_pass(noise, terms.location.subspan(in.first, count),
                                static_cast<std::size_t>(terms.lists.ranked[k]),
                                terms.gradient.subspan(in.first, count));
  }
}

void chain_hessians(const Noise& noise, const ListTerms& terms, Codes begin, Room hessian) {
  for (std::size_t k = terms.which.first; k < terms.which.last; ++k) {
    const Range in = terms.lists.entries_of(k);
    const std::size_t count = in.last - in.first;
    chain_hessian(noise, terms.location.subspan(in.first, count),
                  static_cast<std::size_t>(terms.lists.ranked[k]),
                  {hessian.data() + begin[k], count, count});
  }
}

void list_agreement(const ListVotes& lists, Numbers score, Room agreement, Room variance) {
  for (std::size_t k = 0; k < lists.number(); ++k) {
    const Range in = lists.entries_of(k);
    const std::size_t length = in.last - in.first;
    const auto ranked = static_cast<std::size_t>(lists.ranked[k]);
    const Items level = lists.level.subspan(in.first, length);
    agreement[k] = variance[k] = 0.0;
    for (std::size_t j = 0, count; j < ranked && length - j >= 2; j += count) {
      count = tied_with(level, j, ranked);
      double total = 0.0, square = 0.0, own = 0.0;
      for (std::size_t e = j; e < length; ++e) {
        const double s = score[static_cast<std::size_t>(lists.item[in.first + e])];
        total += s;
        square += s * s;
        if (e < j + count) own += s;
      }
      const auto left = static_cast<double>(length - j), size = static_cast<double>(count);
      const double mean = total / left;
      agreement[k] += own / size - mean;
      variance[k] += std::max(square / left - mean * mean, 0.0) / size;
    }
  }
}

void list_losses(const ListVotes& lists, const Effects& effects, Numbers score, Numbers accuracy,
                 Numbers taste, Room loss) {
  std::vector<double> location, gradient, of_tie(effects.sizes.size());
  for (std::size_t u = 0; u < lists.judges(); ++u) {
    const Range own = lists.lists_of(u);
    for (std::size_t k = own.first; k < own.last; ++k) {
      const Range in = lists.entries_of(k);
      const std::size_t length = in.last - in.first;
      location.resize(length);
      gradient.resize(length);
      for (std::size_t e = 0; e < length; ++e) {
        const auto i = static_cast<std::size_t>(lists.item[in.first + e]);
        location[e] = accuracy[u] * score[i] + taste[i];
      }
      const OneList list{location, lists.level.subspan(in.first, length),
                         static_cast<std::size_t>(lists.ranked[k])};
      loss[k] = list_pass(list, effects, effects.tie_of(u), gradient, of_tie);
    }
  }
}

}  // namespace juryrank
