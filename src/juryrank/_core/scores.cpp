// Moves of the scores, and of the effects of all judges.
#include <algorithm>
#include <cmath>

#include "chain.hpp"
#include "elementary.hpp"
#include "hamiltonian.hpp"

namespace juryrank {
namespace {

constexpr int kScoreSteps = 3;
// Before anything has moved there is no dispute at all.
constexpr double kLeastDispute = 1e-12;

double difference_of_sums(Numbers a, Numbers b) {
  double of_a = 0.0, of_b = 0.0;
  for (const double x : a) of_a += x;
  for (const double x : b) of_b += x;
  return of_a - of_b;
}

}  // namespace

// Hamiltonian steps in the metric of the information, given the judges.
void Chain::move_scores() {
  const std::size_t size = common_.size();
  const std::span<double> prior = std::span(prior_).first(size);
  const Trajectory at{std::span(position_).first(size), std::span(momentum_).first(size),
                      std::span(gradient_).first(size), std::span(velocity_).first(size)};
  const double effect_sd = setting_.priors.effect_sd;
  std::fill(prior.begin(), prior.end(), 1.0 / (effect_sd * effect_sd));
  std::fill_n(prior.begin(), n_, 1.0 / (scales_.score * scales_.score));
  std::copy(common_.begin(), common_.end(), at.position.begin());
  random_.fill_normal(at.momentum);
  metric_.make_momentum(at.momentum);
  // (x' prior x + p' M^-1 p) / 2
  const auto energy = [&] {
    metric_.velocity(at.momentum, at.velocity);
    double twice = 0.0;
    for (std::size_t k = 0; k < size; ++k)
      twice += prior[k] * at.position[k] * at.position[k] + at.momentum[k] * at.velocity[k];
    return 0.5 * twice;
  };
  const double before = energy();
  common_gradient(here_, at.gradient);
  add_prior(prior, at.position, at.gradient);
  const double step = std::min(step_of_scores_ * jitter(random_), kLargestStep);
  std::fill_n(step_.begin(), size, step);
  leapfrog(
      at, kScoreSteps, Numbers(step_).first(size),
      [&] { metric_.velocity(at.momentum, at.velocity); },
      [&](bool last) {
        look_up(own_, at.position, last, there_);
        common_gradient(there_, at.gradient);
        add_prior(prior, at.position, at.gradient);
      });
  const double change = energy() - before + difference_of_sums(there_.value, here_.value);
  const double chance = chance_of(change);
  const bool accepted = random_.uniform() < chance;
  tally_[kScores].add(accepted);
  if (accepted) {
    std::copy(at.position.begin(), at.position.end(), common_.begin());
    std::swap(here_, there_);
  }
  if (adapting_) step_of_scores_ = adapted(step_of_scores_, chance, rounds_, kHamiltonian);
}

// Let scores jump to where one of their judges sees the item, the opinions held.
//
// Whose taste is odd, that of a few judges or that of all others? Given the opinions,
//
//   p(s_i) ~ N(s_i; 0, S^2) prod_u t_nu(m_ui - s_i; w),
//
// the precisions integrated out, has a maximum wherever some opinions are close to each other. A
// jump is proposed from the mixture of Cauchy distributions around all of them.
void Chain::jump_with_opinions_held() {
  const std::vector<double> opinion = this->opinion();
  std::vector<double> proposed(n_);
  for (std::size_t i = 0; i < n_; ++i) {
    const Codes cells = setting_.opinions.of_item(i);
    // Of an item that nobody has an opinion of the score stays where it is: it is only a prior.
    const double seen = cells.empty()
                            ? kNan
                            : opinion[static_cast<std::size_t>(cells[random_.below(cells.size())])];
    proposed[i] = seen + scales_.taste * random_.cauchy();
  }
  score_weights(opinion, proposed, by_item2_);
  score_weights(opinion, score(), by_item3_);
  std::vector<double> found(n_);
  for (std::size_t i = 0; i < n_; ++i) {
    const bool accepted = log_of(random_.uniform()) < by_item2_[i] - by_item3_[i];
    tally_[kJumps].add(accepted);
    found[i] = accepted ? proposed[i] : common_[i];
  }
  set_scores(found, opinion);
}

// Posterior of each score given the opinions, over what it is proposed with; as logarithms.
void Chain::score_weights(Numbers opinion, Numbers score, std::span<double> found) {
  const std::vector<std::int64_t>& item = setting_.opinions.item;
  const std::span<double> taste(by_cell_), density(by_cell2_);
  for (std::size_t c = 0; c < cells_; ++c)
    taste[c] = opinion[c] - score[static_cast<std::size_t>(item[c])];
  log_densities(taste, density);
  std::fill(found.begin(), found.end(), 0.0);
  std::fill(by_item_.begin(), by_item_.end(), 0.0);
  const double inverse = 1.0 / scales_.taste;
  for (std::size_t c = 0; c < cells_; ++c) {
    const double unit = taste[c] * inverse;
    found[static_cast<std::size_t>(item[c])] += density[c];
    by_item_[static_cast<std::size_t>(item[c])] += 1.0 / (1.0 + unit * unit);
  }
  for (std::size_t i = 0; i < n_; ++i) {
    const double unit = score[i] / scales_.score;
    found[i] += -0.5 * unit * unit - log_of(by_item_[i]);
  }
}

// Let one score jump by d, each of its judges holding its opinion or its taste.
//
// Where a few judges see an item quite differently, votes that tell little are taken to agree with
// either side, so that no judge can leave alone. Judges are independent given the score, and each
// chooses by its votes L and its taste,
//
//   L(m) t_nu(m - s - d; w)  or  L(m + d) t_nu(m - s; w).
void Chain::jump_between_camps() {
  const std::size_t item = item_to_jump();
  const Codes cells = setting_.opinions.of_item(item);
  const Codes judge = setting_.opinions.judges_of_item(item);
  const std::size_t count = cells.size();
  const double jump = scales_.score * random_.normal();
  std::vector<double> taste(count), shifted(count), held(count), above(count), below(count);
  std::vector<double> up(count), down(count);
  for (std::size_t c = 0; c < count; ++c) taste[c] = own_[static_cast<std::size_t>(cells[c])];
  const auto densities = [&](double by, std::span<double> found) {
    for (std::size_t c = 0; c < count; ++c) shifted[c] = taste[c] + by;
    log_densities(shifted, found);
  };
  densities(0.0, held);
  densities(jump, above);
  densities(-jump, below);
  gains_if_raised({cells, judge, jump}, up);
  gains_if_raised({cells, judge, -jump}, down);
  const double old = common_[item];
  double gain = 0.5 * (old * old - (old + jump) * (old + jump)) / (scales_.score * scales_.score);
  std::vector<char> keeps_taste(count);
  for (std::size_t c = 0; c < count; ++c) {
    const double forth = log_sum(below[c], up[c] + held[c]);
    keeps_taste[c] = log_of(random_.uniform()) < up[c] + held[c] - forth;
    const double back =
        keeps_taste[c] ? log_sum(up[c] + above[c], held[c]) : log_sum(held[c], down[c] + below[c]);
    gain += forth - back;
  }
  const bool accepted = random_.uniform() < chance_of(-gain);
  tally_[kCamps].add(accepted);
  if (!accepted) return;
  for (std::size_t c = 0; c < count; ++c)
    if (!keeps_taste[c]) own_[static_cast<std::size_t>(cells[c])] -= jump;
  common_[item] += jump;
  look_up(own_, common_, true, here_);
}

// What votes say of raised opinions, to what they say of these, log L(m + d) - log L(m), judge by
// judge; not a number where that leads nowhere.
void Chain::gains_if_raised(const Raise& raise, std::span<double> found) {
  set_state(own_, common_);
  for (const std::int64_t cell : raise.cells) state_[static_cast<std::size_t>(cell)] += raise.by;
  if (!leads_somewhere()) {
    std::fill(found.begin(), found.end(), kNan);
    return;
  }
  set_state(own_, common_);
  votes_->rise(here_, state_, accuracy_, raise, found);
  for (double& change : found) change = -change;
}

// Any item; while the chain finds its place, rather one about which tastes differ.
std::size_t Chain::item_to_jump() {
  if (!adapting_) return random_.below(n_);
  log_densities(taste(), by_cell_);
  std::fill(by_item_.begin(), by_item_.end(), kLeastDispute);
  for (std::size_t c = 0; c < cells_; ++c)
    by_item_[static_cast<std::size_t>(setting_.opinions.item[c])] -= by_cell_[c];
  return random_.choice(by_item_);
}

// Divide opinions into scores and tastes anew.
void Chain::set_scores(Numbers score, Numbers opinion) {
  std::copy(score.begin(), score.end(), common_.begin());
  for (std::size_t c = 0; c < cells_; ++c)
    own_[c] = opinion[c] - score[static_cast<std::size_t>(setting_.opinions.item[c])];
}

// Given the opinions and the precisions of tastes, scores are normal.
void Chain::move_scores_with_opinions_held() {
  const std::vector<double> opinion = this->opinion();
  const double of_tastes = 1.0 / (scales_.taste * scales_.taste);
  const std::span<double> total(by_item_), moment(by_item2_), score(by_item3_);
  std::fill(total.begin(), total.end(), 1.0 / (scales_.score * scales_.score));
  std::fill(moment.begin(), moment.end(), 0.0);
  for (std::size_t c = 0; c < cells_; ++c) {
    const double precision = mixing_[c] * of_tastes;
    total[static_cast<std::size_t>(setting_.opinions.item[c])] += precision;
    moment[static_cast<std::size_t>(setting_.opinions.item[c])] += precision * opinion[c];
  }
  for (std::size_t i = 0; i < n_; ++i)
    score[i] = moment[i] / total[i] + random_.normal() / std::sqrt(total[i]);
  set_scores(score, opinion);
}

}  // namespace juryrank
