// The move of everything together: Hamiltonian steps for the scales and, in units of them, all
// else.
#include <algorithm>
#include <cmath>

#include "chain.hpp"
#include "elementary.hpp"
#include "hamiltonian.hpp"

namespace juryrank {
namespace {

constexpr int kJointSteps = 8;
// The metric of the logarithms of scales, which are known to about a factor of e^(1/2).
constexpr double kScaleMass = 4.0;

}  // namespace

// The space of the move. A position is the judges' unknowns, the common ones, each in units of its
// scale if it has one, and the logarithms of the scales of scores, tastes (if any) and accuracies
// (if free). The potential is
//
//   -log P + x' prior x / 2 + sum over scales (rate e^l - shape l).
class Chain::Together {
 public:
  explicit Together(const Chain& chain)
      : chain_(chain), own_(chain.own_.size()), common_(chain.common_.size()) {
    const Priors& priors = chain.setting_.priors;
    const std::size_t theta_end = chain.cells_ + (chain.free_ ? chain.m_ : 0);
    add(priors.score, chain.scales_.score, own_, own_ + chain.n_);
    if (chain.cells_) add(priors.taste, chain.scales_.taste, 0, chain.cells_);
    if (chain.free_) add(priors.accuracy, chain.scales_.accuracy, chain.cells_, theta_end);
    prior_.assign(size(), 0.0);
    std::copy(chain.mixing_.begin(), chain.mixing_.end(), prior_.begin());
    std::fill(prior_.begin() + static_cast<std::ptrdiff_t>(chain.cells_),
              prior_.begin() + static_cast<std::ptrdiff_t>(theta_end), 1.0);
    std::size_t next = theta_end;
    for (const double sd : chain.scales_.own)
      for (std::size_t u = 0; u < chain.m_; ++u) prior_[next++] = 1.0 / (sd * sd);
    for (std::size_t k = 0; k < common_; ++k)
      prior_[own_ + k] = k < chain.n_ ? 1.0 : 1.0 / (priors.effect_sd * priors.effect_sd);
    place_.resize(size());
    mass_.resize(own_);
    for (std::size_t k = 0; k < own_; ++k) mass_[k] = chain.told_in_units_[k] + prior_[k];
  }

  std::size_t size() const { return own_ + common_ + scale_.size(); }

  void set_position(std::span<double> position) const {
    std::copy(chain_.own_.begin(), chain_.own_.end(), position.begin());
    std::copy(chain_.common_.begin(), chain_.common_.end(),
              position.begin() + static_cast<std::ptrdiff_t>(own_));
    for (std::size_t s = 0; s < scale_.size(); ++s) {
      position[own_ + common_ + s] = log_of(scale_[s].value);
      for (std::size_t k = scale_[s].first; k < scale_[s].last; ++k) position[k] /= scale_[s].value;
    }
  }

  // What a position means: the unknowns, and e^l.
  void look_at(Numbers position) {
    std::copy(position.begin(), position.end(), place_.begin());
    for (std::size_t s = 0; s < scale_.size(); ++s) {
      Scale& scale = scale_[s];
      scale.value = exp_of(position[own_ + common_ + s]);
      for (std::size_t k = scale.first; k < scale.last; ++k) place_[k] *= scale.value;
    }
  }

  Numbers own() const { return Numbers(place_).first(own_); }
  Numbers common() const { return Numbers(place_).subspan(own_, common_); }
  double scale(std::size_t s) const { return scale_[s].value; }

  // Of the potential at the position last looked at.
  void set_gradient(const VotesAt& votes, Numbers position, std::span<double> gradient) const {
    chain_.own_gradient(votes, own(), gradient.first(own_));
    chain_.common_gradient(votes, gradient.subspan(own_, common_));
    for (std::size_t s = 0; s < scale_.size(); ++s) {
      const Scale& scale = scale_[s];
      double pull = 0.0;  // d -log P / d l = sum of gradient times unknown
      for (std::size_t k = scale.first; k < scale.last; ++k) {
        pull += gradient[k] * place_[k];
        gradient[k] *= scale.value;
      }
      gradient[own_ + common_ + s] = pull + scale.prior.rate * scale.value - scale.prior.shape;
    }
    add_prior(prior_, position, gradient.first(position.size()));
  }

  // The potential, but for the votes, at the position last looked at.
  double potential(Numbers position) const {
    double twice = 0.0, of_scales = 0.0;
    for (std::size_t k = 0; k < position.size(); ++k)
      twice += prior_[k] * position[k] * position[k];
    for (std::size_t s = 0; s < scale_.size(); ++s)
      of_scales += scale_[s].prior.rate * scale_[s].value -
                   scale_[s].prior.shape * position[own_ + common_ + s];
    return 0.5 * twice + of_scales;
  }

  void draw_momentum(Random& random, std::span<double> momentum) const {
    random.fill_normal(momentum);
    for (std::size_t k = 0; k < own_; ++k) momentum[k] *= std::sqrt(mass_[k]);
    chain_.metric_in_units_.make_momentum(momentum.subspan(own_, common_));
    for (double& p : momentum.subspan(own_ + common_)) p *= std::sqrt(kScaleMass);
  }

  void set_velocity(Numbers momentum, std::span<double> velocity) const {
    divide(momentum.first(own_), mass_, velocity.first(own_));
    chain_.metric_in_units_.velocity(momentum.subspan(own_, common_),
                                     velocity.subspan(own_, common_));
    for (std::size_t k = own_ + common_; k < momentum.size(); ++k)
      velocity[k] = momentum[k] / kScaleMass;
  }

 private:
  struct Scale {
    GammaPrior prior;
    double value;
    std::size_t first, last;  // of what is in units of it
  };

  void add(const GammaPrior& prior, double value, std::size_t first, std::size_t last) {
    scale_.push_back({prior, value, first, last});
  }

  const Chain& chain_;
  std::size_t own_, common_;
  std::vector<Scale> scale_;
  std::vector<double> prior_, place_, mass_;
};

void Chain::move_together() {
  Together space(*this);
  const std::size_t size = space.size();
  const Trajectory at{std::span(position_).first(size), std::span(momentum_).first(size),
                      std::span(gradient_).first(size), std::span(velocity_).first(size)};
  space.set_position(at.position);
  space.draw_momentum(random_, at.momentum);
  const auto energy = [&](const VotesAt& votes) {
    space.set_velocity(at.momentum, at.velocity);
    double kinetic = 0.0, loss = 0.0;
    for (std::size_t k = 0; k < size; ++k) kinetic += at.momentum[k] * at.velocity[k];
    for (const double value : votes.value) loss += value;
    return loss + space.potential(at.position) + 0.5 * kinetic;
  };
  space.look_at(at.position);
  const double before = energy(here_);
  space.set_gradient(here_, at.position, at.gradient);
  const double step = std::min(step_together_ * jitter(random_), kLargestStep);
  std::fill_n(step_.begin(), size, step);
  leapfrog(
      at, kJointSteps, Numbers(step_).first(size),
      [&] { space.set_velocity(at.momentum, at.velocity); },
      [&](bool last) {
        space.look_at(at.position);
        look_up(space.own(), space.common(), last, there_);
        space.set_gradient(there_, at.position, at.gradient);
      });
  const double chance = chance_of(energy(there_) - before);
  const bool accepted = random_.uniform() < chance;
  tally_[kTogether].add(accepted);
  if (accepted) {
    std::copy(space.own().begin(), space.own().end(), own_.begin());
    std::copy(space.common().begin(), space.common().end(), common_.begin());
    std::size_t s = 0;
    scales_.score = space.scale(s++);
    if (cells_) scales_.taste = space.scale(s++);
    if (free_) scales_.accuracy = space.scale(s);
    std::swap(here_, there_);
  }
  if (adapting_) step_together_ = adapted(step_together_, chance, rounds_, kHamiltonian);
}

std::vector<double> Chain::position_together() const {
  const Together space(*this);
  std::vector<double> position(space.size());
  space.set_position(position);
  return position;
}

double Chain::potential_together(Numbers position, std::span<double> gradient) {
  Together space(*this);
  VotesAt votes = room();
  space.look_at(position);
  look_up(space.own(), space.common(), true, votes);
  space.set_gradient(votes, position, gradient);
  double loss = 0.0;
  for (const double value : votes.value) loss += value;
  return loss + space.potential(position);
}

}  // namespace juryrank
