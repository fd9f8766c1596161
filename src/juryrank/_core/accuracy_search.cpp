#include "accuracy_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace juryrank {
namespace {

// A step this small, relative to the accuracy, is no longer on its way to a bound.
constexpr double kSmall = 1e-3;
// The step in standard errors that is the last one.
constexpr double kTolerance = 1e-4;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

AccuracySearch::AccuracySearch(const AccuracyRule& rule, double guess)
    : rule_(rule),
      accuracy_(std::min(std::max(guess, -rule.bound), rule.bound)),
      low_(kNone),
      high_(kNone),
      last_gradient_(std::numeric_limits<double>::infinity()) {}

bool AccuracySearch::step(double first, double second) {
  if (first == 0.0) return true;
  (first > 0.0 ? high_ : low_) = accuracy_;
  const bool low_seen = !std::isnan(low_), high_seen = !std::isnan(high_);
  const double low = low_seen ? low_ : -rule_.bound, high = high_seen ? high_ : rule_.bound;
  if (low >= high) return true;
  const double move = second > 0.0 ? -first / second
                                   : std::copysign(std::numeric_limits<double>::infinity(), -first);
  const double longest = 2.0 * (1.0 + std::abs(accuracy_));
  double proposal = accuracy_ + std::min(std::max(move, -longest), longest);
  const bool small = std::abs(move) < kSmall * (1.0 + std::abs(accuracy_));
  if (small && std::abs(move) * std::sqrt(second) < kTolerance) {
    accuracy_ = std::min(std::max(proposal, low), high);
    return true;
  }
  const bool slow = low_seen && high_seen && std::abs(first) > 0.5 * last_gradient_;
  if (proposal >= high && !high_seen)
    proposal = high;
  else if (proposal <= low && !low_seen)
    proposal = low;
  else if (slow || proposal >= high || proposal <= low)
    proposal = 0.5 * (low + high);
  last_gradient_ = std::abs(first);
  accuracy_ = proposal;
  return false;
}

}  // namespace juryrank
