// The search for the accuracy at which a judge's loss and prior are least, the scores held.
#pragma once

#include "votes.hpp"

namespace juryrank {

// The problem is convex: Newton steps inside a shrinking bracket, bisection where they leave it or
// no longer halve the gradient.
class AccuracySearch {
 public:
  static constexpr int kMostSteps = 60;

  AccuracySearch(const AccuracyRule& rule, double guess);

  double accuracy() const { return accuracy_; }

  // One step, given the derivatives of loss and prior at `accuracy()`; whether it was the last one.
  bool step(double first, double second);

 private:
  AccuracyRule rule_;
  double accuracy_;
  double low_, high_;  // where the gradient has been seen; NaN before
  double last_gradient_;
};

}  // namespace juryrank
