// Moves of what belongs to single judges: accuracies, tastes and own effects.
#include <algorithm>
#include <cmath>

#include "accuracies.hpp"
#include "chain.hpp"
#include "elementary.hpp"
#include "hamiltonian.hpp"

namespace juryrank {
namespace {

constexpr int kJudgeSteps = 3;

}  // namespace

// Hamiltonian steps for theta, tastes and own effects given the scores, accepted judge by judge.
void Chain::move_judges() {
  const std::size_t size = own_.size();
  const std::span<double> prior = std::span(prior_).first(size);
  const std::span<double> mass = std::span(mass_).first(size);
  const Trajectory at{std::span(position_).first(size), std::span(momentum_).first(size),
                      std::span(gradient_).first(size), std::span(velocity_).first(size)};
  own_precision(prior);
  for (std::size_t k = 0; k < size; ++k) mass[k] = told_of_own_[k] + prior[k];
  std::copy(own_.begin(), own_.end(), at.position.begin());
  random_.fill_normal(at.momentum);
  std::fill(by_judge_.begin(), by_judge_.end(), 0.0);
  // Energy by judge: -log P + (prior x^2 + p^2 / mass) / 2; here that of the start, with a minus.
  for (std::size_t k = 0; k < size; ++k) {
    const double p = at.momentum[k];
    by_judge_[owner_[k]] -= 0.5 * (prior[k] * own_[k] * own_[k] + p * p);
    at.momentum[k] = std::sqrt(mass[k]) * p;
  }
  own_gradient(here_, own_, at.gradient);
  add_prior(prior, at.position, at.gradient);
  const double factor = jitter(random_);
  std::vector<double> step(m_);
  for (std::size_t u = 0; u < m_; ++u)
    step[u] = std::min(step_of_judges_[u] * factor, kLargestStep);
  for (std::size_t k = 0; k < size; ++k) step_[k] = step[owner_[k]];
  leapfrog(
      at, kJudgeSteps, Numbers(step_).first(size), [&] { divide(at.momentum, mass, at.velocity); },
      [&](bool last) {
        look_up(at.position, common_, last, there_);
        own_gradient(there_, at.position, at.gradient);
        add_prior(prior, at.position, at.gradient);
      });
  for (std::size_t k = 0; k < size; ++k) {
    const double x = at.position[k], p = at.momentum[k];
    by_judge_[owner_[k]] += 0.5 * (prior[k] * x * x + p * p / mass[k]);
  }
  for (std::size_t u = 0; u < m_; ++u) {
    const double chance = chance_of(by_judge_[u] + there_.value[u] - here_.value[u]);
    accepted_[u] = random_.uniform() < chance;
    tally_[kJudges].add(accepted_[u]);
    if (adapting_) step_of_judges_[u] = adapted(step_of_judges_[u], chance, rounds_, kHamiltonian);
  }
  keep_moves_of_judges();
}

// Take over what `move_judges` has found of the judges whose moves are accepted.
void Chain::keep_moves_of_judges() {
  const auto moved = std::count(accepted_.begin(), accepted_.end(), 1);
  if (!moved) return;
  for (std::size_t k = 0; k < own_.size(); ++k)
    if (accepted_[owner_[k]]) own_[k] = position_[k];
  if (static_cast<std::size_t>(moved) == m_) {
    std::swap(here_, there_);
    return;
  }
  if (!cells_ || setting_.effects.size) {  // gradients in what judges have in common are sums
    look_up(own_, common_, true, here_);
    return;
  }
  for (std::size_t c = 0; c < cells_; ++c)
    if (accepted_[owner_[c]]) here_.state[c] = there_.state[c];
  for (std::size_t u = 0; u < m_; ++u) {
    if (!accepted_[u]) continue;
    here_.value[u] = there_.value[u];
    here_.accuracy[u] = there_.accuracy[u];
  }
}

// (a_u + c (m_ui - a_u), g_u / c): votes stay as likely as they are.
//
// a_u is the mean score of the judge's items; the precisions are integrated out. Whether a judge of
// many votes is accurate or has strong tastes is hardly learnt without this move.
void Chain::move_units_of_judges() {
  const std::span<double> moved(by_cell_);
  const std::span<double> old_density(by_cell2_), new_density(by_cell3_);
  std::vector<double> log_c(m_);
  from_centre(moved);
  for (std::size_t u = 0; u < m_; ++u) log_c[u] = step_of_units_[u] * random_.normal();
  for (std::size_t u = 0; u < m_; ++u) {
    const double c = exp_of(log_c[u]);
    for (std::size_t k = setting_.opinions.begin[u]; k < setting_.opinions.begin[u + 1]; ++k)
      moved[k] = (c - 1.0) * moved[k] + c * own_[k];
  }
  log_densities(taste(), old_density);
  log_densities(moved, new_density);
  for (std::size_t u = 0; u < m_; ++u) {
    const std::size_t first = setting_.opinions.begin[u], last = setting_.opinions.begin[u + 1];
    double& theta = own_[cells_ + u];
    const double c = exp_of(log_c[u]);
    const double there = accuracies::theta_of(accuracies::magnitude(theta) / c);
    double gain = 0.5 * (theta * theta - there * there) / (scales_.accuracy * scales_.accuracy);
    gain += theta - there - log_c[u];
    for (std::size_t k = first; k < last; ++k) gain += new_density[k] - old_density[k] + log_c[u];
    const double chance = chance_of(-gain);
    const bool accepted = random_.uniform() < chance;
    tally_[kUnits].add(accepted);
    if (adapting_) step_of_units_[u] = adapted(step_of_units_[u], chance, rounds_, kGauge);
    if (!accepted) continue;
    std::copy(moved.begin() + static_cast<std::ptrdiff_t>(first),
              moved.begin() + static_cast<std::ptrdiff_t>(last),
              own_.begin() + static_cast<std::ptrdiff_t>(first));
    theta = there;
    stretch_gradients(u, c);
  }
}

// m_ui + a_u: votes are about differences; given the precisions a_u is normal.
void Chain::move_origins_of_judges() {
  const double of_tastes = 1.0 / (scales_.taste * scales_.taste);
  for (std::size_t u = 0; u < m_; ++u) {
    const std::size_t first = setting_.opinions.begin[u], last = setting_.opinions.begin[u + 1];
    if (first == last) continue;
    double total = 0.0, moment = 0.0;
    for (std::size_t k = first; k < last; ++k) {
      const double precision = mixing_[k] * of_tastes;
      total += precision;
      moment += precision * own_[k];
    }
    const double origin = -moment / total + random_.normal() / std::sqrt(total);
    for (std::size_t k = first; k < last; ++k) own_[k] += origin;
  }
}

// Scores of the judges' items, less the mean of those of the same judge.
void Chain::from_centre(std::span<double> found) const {
  for (std::size_t u = 0; u < m_; ++u) {
    const std::size_t first = setting_.opinions.begin[u], last = setting_.opinions.begin[u + 1];
    double total = 0.0;
    for (std::size_t k = first; k < last; ++k) {
      found[k] = common_[static_cast<std::size_t>(setting_.opinions.item[k])];
      total += found[k];
    }
    const double centre = total / static_cast<double>(last - first);
    for (std::size_t k = first; k < last; ++k) found[k] -= centre;
  }
}

// After the opinions of a judge were multiplied so, and its accuracy divided.
void Chain::stretch_gradients(std::size_t judge, double factor) {
  for (std::size_t k = setting_.opinions.begin[judge]; k < setting_.opinions.begin[judge + 1]; ++k)
    here_.state[k] /= factor;
  here_.accuracy[judge] *= factor;
}

}  // namespace juryrank
