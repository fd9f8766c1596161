// What accuracies are before the votes: signed, shifted log-normal.
//
//   g = k (1.5 e^theta - 0.5),    theta ~ N(0, T^2),    k = -1 with chance pi, else 1.
#pragma once

#include "elementary.hpp"

namespace juryrank::accuracies {

inline constexpr double kShift = 0.5;
inline constexpr double kLargestTheta = 5.0;  // no accuracy is beyond 1.5 e^5

// The derivative of the magnitude in theta, 1.5 e^theta.
inline double gradient(double theta) {
  return (1.0 + kShift) * exp_of(theta > kLargestTheta ? kLargestTheta : theta);
}

// k g: the accuracy of a judge as if it did not vote backwards.
inline double magnitude(double theta) { return gradient(theta) - kShift; }

// The theta of a magnitude; NaN where there is none.
inline double theta_of(double magnitude) { return log_of((magnitude + kShift) / (1.0 + kShift)); }

// Of a magnitude, up to a constant; minus infinity below the least one.
inline double log_density(double magnitude, double spread) {
  if (!(magnitude > -kShift)) return -kInfinity;
  const double theta = theta_of(magnitude);
  const double unit = theta / spread;
  return -0.5 * unit * unit - theta;
}

}  // namespace juryrank::accuracies
