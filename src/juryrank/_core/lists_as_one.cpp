#include "lists_as_one.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "elementary.hpp"
#include "luce.hpp"
#include "scratch.hpp"

namespace juryrank {
namespace {

// -log P that two items are tied, or are not, and its derivatives in x and the tie.
struct TieTerms {
  double value, x, xx, tie, x_tie, tie_tie;
};

// Of two items that are x apart.
TieTerms tie_terms(double x, bool tied, double tie) {
  const double small = exp_minus(std::abs(x)), over = 1.0 / (1.0 + small);
  const double log_q = -0.5 * std::abs(x) - log_1p_of_share(small);
  const double first_q = (x > 0.0 ? -0.5 : 0.5) * (1.0 - small) * over;
  const double second_q = -small * over * over;
  const double above = tie + log_q;
  const double rare = exp_minus(std::abs(above)), under = 1.0 / (1.0 + rare);
  const double chance = (above > 0.0 ? 1.0 : rare) * under;
  const double spread = rare * under * under;
  const double value = (above > 0.0 ? above : 0.0) + log_1p_of_share(rare) - (tied ? above : 0.0);
  const double pull = chance - (tied ? 1.0 : 0.0);
  return {value, pull * first_q,   pull * second_q + spread * first_q * first_q,
          pull,  spread * first_q, spread};
}

// The groups of a list: what is not ranked is not tied.
class Groups {
 public:
  explicit Groups(const OneList& list)
      : scratch_(3 * list.location.size()),
        of_(scratch_.take(list.location.size())),
        size_(scratch_.take(list.location.size())),
        mean_(scratch_.take(list.location.size())) {
    for (std::size_t i = 0; i < list.location.size(); ++i) {
      const bool next = i == 0 || i >= list.ranked || list.level[i] != list.level[i - 1];
      if (next) size_[number_++] = 0.0;
      size_[number_ - 1] += 1.0;
      of_[i] = static_cast<double>(number_ - 1);
    }
    ranked_ = list.ranked ? of(list.ranked - 1) + 1 : 0;
    set_means(list.location, mean_);
  }

  std::size_t number() const { return number_; }
  std::size_t ranked() const { return ranked_; }
  std::size_t of(std::size_t item) const { return static_cast<std::size_t>(of_[item]); }
  double size_of(std::size_t item) const { return size_[of(item)]; }
  Numbers mean() const { return mean_.first(number_); }

  void set_means(Numbers values, Room mean) const {
    std::fill_n(mean.begin(), number_, 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) mean[of(i)] += values[i] / size_of(i);
  }

 private:
  Scratch scratch_;
  Room of_, size_, mean_;
  std::size_t number_ = 0, ranked_ = 0;
};

// `work` for each pair of ranked items, the better first, with its terms; the weight of each.
template <typename Work>
void over_pairs(const OneList& list, const Groups& groups, double tie, Work work) {
  const double weight = list.ranked ? 2.0 / static_cast<double>(list.ranked) : 0.0;
  for (std::size_t i = 0; i < list.ranked; ++i)
    for (std::size_t o = 0; o < i; ++o) {
      const double x = list.location[o] - list.location[i];
      work(o, i, weight, tie_terms(x, groups.of(i) == groups.of(o), tie));
    }
}

// -log P of the groups as items without ties; sets its gradient.
double pass_of_groups(const OneList& list, const Groups& groups, Room gradient) {
  Scratch scratch(groups.number());
  const Room of_group = scratch.take(groups.number());
  const double value = luce_pass(groups.mean(), groups.ranked(), of_group);
  for (std::size_t i = 0; i < list.location.size(); ++i)
    gradient[i] = of_group[groups.of(i)] / groups.size_of(i);
  return value;
}

// A sum of logarithms, of factors from 1 to 1e100, that takes few of them.
class LogOfProduct {
 public:
  void multiply(double factor) {
    product_ *= factor;
    if (product_ > 1e200) {
      sum_ += log_of_normal(product_);
      product_ = 1.0;
    }
  }
  double value() const { return sum_ + log_of_normal(product_); }

 private:
  double product_ = 1.0, sum_ = 0.0;
};

// Weights of ties whose exponentials are far from the ends of the numbers.
constexpr double kUsualTie = 200.0;

double pass_of_any_tie(const OneList& list, double tie, Room gradient, double& tie_gradient) {
  const Groups groups(list);
  double value = pass_of_groups(list, groups, gradient), of_tie = 0.0;
  over_pairs(list, groups, tie,
             [&](std::size_t o, std::size_t i, double weight, const TieTerms& terms) {
               value += weight * terms.value;
               gradient[o] += weight * terms.x;
               gradient[i] -= weight * terms.x;
               of_tie += weight * terms.tie;
             });
  tie_gradient += of_tie;
  return value;
}

}  // namespace

Along as_one_along(const OneList& list, Numbers direction, double tie) {
  const Groups groups(list);
  Scratch scratch(groups.number());
  const Room along_groups = scratch.take(groups.number());
  groups.set_means(direction, along_groups);
  Along along = luce_along(groups.mean(), along_groups, groups.ranked());
  over_pairs(list, groups, tie,
             [&](std::size_t o, std::size_t i, double weight, const TieTerms& terms) {
               const double d = direction[o] - direction[i];
               along.value += weight * terms.value;
               along.first += weight * terms.x * d;
               along.second += weight * terms.xx * d * d;
             });
  return along;
}

double as_one_pass(const OneList& list, double tie, Room gradient, double& tie_gradient) {
  if (!(std::abs(tie) < kUsualTie)) return pass_of_any_tie(list, tie, gradient, tie_gradient);
  const Groups groups(list);
  const double value = pass_of_groups(list, groups, gradient);
  const double weight = list.ranked ? 2.0 / static_cast<double>(list.ranked) : 0.0;
  const double t = exp_of(tie);
  double of_tie = 0.0, apart = 0.0;
  LogOfProduct logs;
  for (std::size_t i = 0; i < list.ranked; ++i)
    for (std::size_t o = 0; o < i; ++o) {
      // With h = e^(-|x| / 2): q = h / (1 + h^2), and (log q)' = -tanh(x / 2) / 2.
      const double x = list.location[o] - list.location[i], h = exp_minus(0.5 * std::abs(x));
      const double square = 1.0 + h * h, over = 1.0 / square;
      const double tq = t * h * over, factor = 1.0 + tq;
      const bool tied = groups.of(i) == groups.of(o);
      const double pull = tq / factor - (tied ? 1.0 : 0.0);
      const double push = weight * pull * (x > 0.0 ? -0.5 : 0.5) * (2.0 - square) * over;
      gradient[o] += push;
      gradient[i] -= push;
      of_tie += pull;
      logs.multiply(tied ? factor * square : factor);
      if (tied) apart += 0.5 * std::abs(x) - tie;
    }
  tie_gradient += weight * of_tie;
  return value + weight * (logs.value() + apart);
}

void as_one_hessian(const OneList& list, double tie, Room gradient, Matrix hessian) {
  const Groups groups(list);
  const std::size_t h = list.location.size(), n = groups.number();
  Scratch scratch(n + n * n);
  const Room unused = scratch.take(n);
  const Matrix of_groups = scratch.take(n, n);
  std::fill_n(of_groups.data, n * n, 0.0);
  luce_hessian(groups.mean(), groups.ranked(), unused, of_groups);
  for (std::size_t i = 0; i < h; ++i)
    for (std::size_t o = 0; o < h; ++o)
      hessian.at(i, o) +=
          of_groups.at(groups.of(i), groups.of(o)) / (groups.size_of(i) * groups.size_of(o));
  over_pairs(list, groups, tie,
             [&](std::size_t o, std::size_t i, double weight, const TieTerms& terms) {
               const double xx = weight * terms.xx, x_tie = weight * terms.x_tie;
               hessian.at(i, i) += xx;
               hessian.at(o, o) += xx;
               hessian.at(i, o) -= xx;
               hessian.at(o, i) -= xx;
               hessian.at(o, h) += x_tie;
               hessian.at(h, o) += x_tie;
               hessian.at(i, h) -= x_tie;
               hessian.at(h, i) -= x_tie;
               hessian.at(h, h) += weight * terms.tie_tie;
             });
  double tie_gradient = 0.0;
  as_one_pass(list, tie, gradient, tie_gradient);
}

}  // namespace juryrank
