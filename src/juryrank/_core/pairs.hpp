// Plain votes on pairs under Gumbel noise: -log P(i beats j) = log(1 + e^-x), x = g_u (m_i - m_j).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "opinions.hpp"
#include "votes_pass.hpp"

namespace juryrank {

// Wins sorted by judge: those of judge u stand from start[u] to start[u + 1].
struct Wins {
  Codes start;
  std::span<const std::int32_t> winner, loser;
  Numbers weight;  // empty if all are 1
};

class PlainPairs final : public VotesPass {
 public:
  // The opinions are those of single judges, or the same for all.
  PlainPairs(const Wins& wins, std::size_t opinions);

  void at(Numbers state, Numbers accuracy, bool values, VotesAt& found) override;
  void rise(const VotesAt& here, Numbers state, Numbers accuracy, const Raise& raise,
            std::span<double> change) override;

  // Whether every judge votes on opinions of its own only.
  bool are_of(const Opinions& opinions) const;

 private:
  void add_judge(std::span<const std::int32_t> winner, std::span<const std::int32_t> loser,
                 Numbers weight);
  void index_by_opinion(std::size_t opinions);
  template <bool kValues>
  void judge_at(std::size_t judge, const double* opinion, double accuracy, VotesAt& found);
  double loss(std::size_t pair, double x) const;

  // Votes of a judge on the same two items are one pair with wins either way. Each judge's pairs
  // are filled up with empty ones to whole rows of lanes.
  std::vector<std::size_t> begin_;
  std::vector<std::int32_t> first_, second_;
  std::vector<double> won_, lost_;  // total weight of votes for the first, and for the second
  std::vector<double> gap_, gradient_, loss_;  // room for one judge
  // Pairs of each opinion.
  std::vector<std::size_t> pairs_begin_;
  std::vector<std::uint32_t> pairs_of_;
};

}  // namespace juryrank
