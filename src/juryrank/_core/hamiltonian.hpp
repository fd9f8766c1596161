// Hamiltonian steps: moves of many unknowns at once, along the gradient of their posterior.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "arrays.hpp"
#include "elementary.hpp"
#include "random.hpp"

namespace juryrank {

inline constexpr double kJitter = 0.3;  // step sizes vary by this share from move to move
inline constexpr double kLargestStep = 1.6;

// How step sizes are adapted: the share of moves to be accepted, how fast, between which bounds.
struct Adaptation {
  double wanted, rate, smallest, largest;
};
inline constexpr Adaptation kHamiltonian{0.8, 1.0, 0.01, kLargestStep};
// For moves along what votes leave open.
inline constexpr Adaptation kGauge{0.4, 2.0, 0.01, 3.0};

// Longer steps after moves that are accepted, shorter ones after others; ever less so.
inline double adapted(double step, double chance, std::size_t rounds, const Adaptation& how) {
  const double rate = how.rate / std::sqrt(1.0 + 0.2 * static_cast<double>(rounds));
  return std::clamp(step * exp_of(rate * (chance - how.wanted)), how.smallest, how.largest);
}

// The chance to accept a move that changes the energy so much; none where it is not a number.
inline double chance_of(double change) {
  if (std::isnan(change)) return 0.0;
  return change > 0.0 ? exp_minus(std::min(change, 700.0)) : 1.0;
}

inline double jitter(Random& random) { return 1.0 - kJitter + 2.0 * kJitter * random.uniform(); }

// Where a move is, and the gradient of the potential there.
struct Trajectory {
  std::span<double> position, momentum, gradient, velocity;
};

// Loops over all unknowns, compiled for wider vectors too; the arrays are of one length.
//
// momentum -= factor step gradient
void kick(double factor, Numbers step, Numbers gradient, std::span<double> momentum);
// position += step velocity
void drift(Numbers step, Numbers velocity, std::span<double> position);
// velocity = momentum / mass
void divide(Numbers momentum, Numbers mass, std::span<double> velocity);
// gradient += prior position
void add_prior(Numbers prior, Numbers position, std::span<double> gradient);

// So many leapfrog steps, in place. `step` is the step size of each unknown; `set_velocity()` makes
// the velocity of the momentum; `set_gradient(last)` that of the position, the last of all or not.
template <typename SetVelocity, typename SetGradient>
void leapfrog(const Trajectory& at, int steps, Numbers step, SetVelocity set_velocity,
              SetGradient set_gradient) {
  kick(0.5, step, at.gradient, at.momentum);
  for (int number = 1; number <= steps; ++number) {
    set_velocity();
    drift(step, at.velocity, at.position);
    set_gradient(number == steps);
    kick(number == steps ? 0.5 : 1.0, step, at.gradient, at.momentum);
  }
}

}  // namespace juryrank
