// What the chain asks of the votes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arrays.hpp"

namespace juryrank {

// The likelihood at one point: -log P by judge, and its gradients.
struct VotesAt {
  std::vector<double> value;     // by judge
  std::vector<double> state;     // gradient in the opinions, then in the effects
  std::vector<double> accuracy;  // gradient in the accuracies
};

// Opinions of one item, of no judge more than one, and what is added to them.
struct Raise {
  Codes cells;
  Codes judge;  // of each cell
  double by;
};

class VotesPass {
 public:
  virtual ~VotesPass() = default;

  // Gradients, and values if they are wanted, at a state (opinions, then effects). The vectors of
  // what is found have their sizes already.
  virtual void at(Numbers state, Numbers accuracy, bool values, VotesAt& found) = 0;

  // By how much the values of the judges of these cells are higher if the opinions are raised.
  virtual void rise(const VotesAt& here, Numbers state, Numbers accuracy, const Raise& raise,
                    std::span<double> change) = 0;
};

}  // namespace juryrank
