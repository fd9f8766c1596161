// Second derivatives of lists, one after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "arrays.hpp"
#include "likelihood.hpp"

namespace juryrank {

class ListCurvature {
 public:
  explicit ListCurvature(const LikelihoodAt& at);

  // Looks at a list of a judge. What follows is of the list that was looked at last.
  void look_at(std::size_t judge, std::size_t list);

  std::size_t length() const { return length_; }
  std::size_t ties() const { return ties_; }  // sizes of ties that its probability knows
  Items items() const;
  double weight() const { return at_.lists->weight[list_]; }
  double score(std::size_t i) const { return score_[i]; }
  double gradient(std::size_t i) const { return gradient_[i]; }
  // In the locations, and after them in the weights of ties.
  double hessian(std::size_t i, std::size_t j) const { return hessian_[i * size() + j]; }
  // Along the scores: sum_j hessian_ij score_j.
  double along(std::size_t i) const;

 private:
  std::size_t size() const { return length_ + ties_; }
  void take_ready();

  const LikelihoodAt& at_;
  std::size_t list_ = 0, length_ = 0, ties_ = 0;
  std::vector<double> score_, location_, gradient_, hessian_;
};

}  // namespace juryrank
