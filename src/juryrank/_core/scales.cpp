// Moves of the scales: given what they are scales of, with everything else, and along the gauge.
#include <algorithm>
#include <cmath>

#include "accuracies.hpp"
#include "chain.hpp"
#include "cpus.hpp"
#include "elementary.hpp"
#include "hamiltonian.hpp"

namespace juryrank {
namespace {

double sum_of_squares(Numbers values) {
  double total = 0.0;
  for (const double value : values) total += value * value;
  return total;
}

// The log-likelihood of standardised tastes for so many degrees of freedom, of which
// `log_sum` = sum log(1 + square / nu).
double student_log_likelihood(double nu, double count, double log_sum) {
  const double constant = log_gamma(0.5 * (nu + 1.0)) - log_gamma(0.5 * nu) - 0.5 * log_of(nu);
  return count * constant - 0.5 * (nu + 1.0) * log_sum;
}

// factor log(1 + unit x^2)
JURYRANK_FOR_MORE_CPUS
void set_logs(std::size_t count, const double* __restrict x, double unit, double factor,
              double* __restrict found) {
  for (std::size_t k = 0; k < count; ++k)
    found[k] = factor * log_of_normal(1.0 + x[k] * x[k] * unit);
}

// sum log(1 + unit x^2): a logarithm for so many factors, whose product is a number as long as x is
// below 1e18 times its unit.
JURYRANK_FOR_MORE_CPUS
double sum_of_logs(std::size_t count, const double* __restrict x, double unit) {
  constexpr std::size_t kLanes = 8, kRun = 8;
  double total = 0.0;
  for (std::size_t first = 0; first < count; first += kLanes * kRun) {
    const std::size_t last = std::min(count, first + kLanes * kRun);
    double product[kLanes] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    std::size_t k = first;
    for (; k + kLanes <= last; k += kLanes)
      for (std::size_t l = 0; l < kLanes; ++l) product[l] *= 1.0 + x[k + l] * x[k + l] * unit;
    for (; k < last; ++k)
      product[k - first - (last - first) / kLanes * kLanes] *= 1.0 + x[k] * x[k] * unit;
    for (const double factor : product) total += log_of_normal(factor);
  }
  return total;
}

}  // namespace

double prior_gain(const GammaPrior& prior, double scale, double factor) {
  return prior.shape * log_of(factor) - prior.rate * scale * (factor - 1.0);
}

// Of single tastes, but for a constant.
void Chain::log_densities(Numbers taste, std::span<double> found) const {
  const double nu = scales_.degrees;
  const double unit = 1.0 / (scales_.taste * scales_.taste * nu);
  set_logs(taste.size(), taste.data(), unit, -0.5 * (nu + 1.0), found.data());
}

// Degrees of freedom, then the precisions of single tastes, given the tastes.
void Chain::draw_precisions() {
  const std::vector<double>& degrees = setting_.priors.degrees;
  std::vector<double> likely(degrees.size());
  const double unit = 1.0 / (scales_.taste * scales_.taste);
  for (std::size_t d = 0; d < degrees.size(); ++d) {
    const double total = sum_of_logs(cells_, own_.data(), unit / degrees[d]);
    likely[d] = student_log_likelihood(degrees[d], static_cast<double>(cells_), total);
  }
  const double most = *std::max_element(likely.begin(), likely.end());
  for (double& chance : likely) chance = exp_of(chance - most);
  scales_.degrees = degrees[random_.choice(likely)];
  draw_precisions_of(0, cells_);
}

// lambda ~ Gamma((nu + 1) / 2, (nu + b^2 / w^2) / 2)
void Chain::draw_precisions_of(std::size_t first, std::size_t last) {
  const Gamma gamma(0.5 * (scales_.degrees + 1.0));
  const double unit = 1.0 / (scales_.taste * scales_.taste);
  for (std::size_t c = first; c < last; ++c)
    mixing_[c] = 2.0 * gamma(random_) / (scales_.degrees + own_[c] * own_[c] * unit);
}

void Chain::draw_scales() {
  const Priors& priors = setting_.priors;
  scales_.score = drawn_scale(priors.score, sum_of_squares(score()), n_, scales_.score);
  if (cells_) {
    double square = 0.0;
    for (std::size_t c = 0; c < cells_; ++c) square += mixing_[c] * own_[c] * own_[c];
    scales_.taste = drawn_scale(priors.taste, square, cells_, scales_.taste);
  }
  if (free_)
    scales_.accuracy = drawn_scale(priors.accuracy, sum_of_squares(theta()), m_, scales_.accuracy);
  std::size_t next = cells_ + (free_ ? m_ : 0);
  for (double& sd : scales_.own) {
    sd = drawn_scale(priors.own, sum_of_squares(Numbers(own_).subspan(next, m_)), m_, sd);
    next += m_;
  }
}

// A scale given normal values of it: proposed as without a prior, accepted by it.
double Chain::drawn_scale(const GammaPrior& prior, double square, std::size_t count, double old) {
  const Gamma gamma(0.5 * static_cast<double>(count));
  const double proposed = std::sqrt(0.5 * square / gamma(random_));
  const bool accepted = log_of(random_.uniform()) < prior_gain(prior, old, proposed / old);
  tally_[kScaleDraws].add(accepted);
  return accepted ? proposed : old;
}

// (c s, c b, c S, c w, g / c): votes stay as likely as they are.
void Chain::move_gauge() {
  const Priors& priors = setting_.priors;
  const double log_c = step_of_gauge_ * random_.normal();
  const double c = exp_of(log_c);
  double gain = prior_gain(priors.score, scales_.score, c);
  if (cells_) gain += prior_gain(priors.taste, scales_.taste, c);
  const double of_square = 0.5 / (scales_.accuracy * scales_.accuracy);
  for (std::size_t u = 0; u < m_; ++u) {
    const double theta = own_[cells_ + u];
    const double there = accuracies::theta_of(accuracies::magnitude(theta) / c);
    by_judge_[u] = there;
    gain += (theta * theta - there * there) * of_square + (theta - there) - log_c;
  }
  const bool possible = std::all_of(by_judge_.begin(), by_judge_.end(),
                                    [](double theta) { return std::isfinite(theta); });
  const double chance = possible ? chance_of(-gain) : 0.0;
  const bool accepted = random_.uniform() < chance;
  tally_[kGaugeMove].add(accepted);
  if (accepted) {
    for (std::size_t k = 0; k < cells_; ++k) own_[k] *= c;
    std::copy(by_judge_.begin(), by_judge_.end(),
              own_.begin() + static_cast<std::ptrdiff_t>(cells_));
    stretch_scores(c);
    scales_.score *= c;
    if (cells_) scales_.taste *= c;
  }
  if (adapting_) step_of_gauge_ = adapted(step_of_gauge_, chance, rounds_, kGauge);
}

// Multiply scores, and divide the gradients in opinions, which votes see times accuracies.
void Chain::stretch_scores(double c) {
  for (std::size_t i = 0; i < n_; ++i) common_[i] *= c;
  for (std::size_t k = 0; k < size_; ++k) here_.state[k] /= c;
  for (double& gradient : here_.accuracy) gradient *= c;
}

}  // namespace juryrank
