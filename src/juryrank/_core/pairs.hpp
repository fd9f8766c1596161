// Votes on pairs under Gumbel noise. With x = g_u (m_i - m_j) + l_u, where l_u is what the left
// side gains (with the other sign where j was on the left), and where votes cannot be tied,
//
//   P(i beats j) = F(x) = 1 / (1 + e^-x).
//
// Where they can (Davidson), with q = sqrt(F(x) F(-x)),
//
//   P(tied) = t q / (1 + t q),    P(i beats j) = F(x) / (1 + t q).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "opinions.hpp"
#include "votes.hpp"
#include "votes_pass.hpp"

namespace juryrank {

class Pairs final : public VotesPass {
 public:
  // The opinions are those of single judges, or the same for all.
  Pairs(const PairVotes& votes, std::size_t opinions, const EffectIndex& effects);

  void at(Numbers state, Numbers accuracy, bool values, VotesAt& found) override;
  void rise(const VotesAt& here, Numbers state, Numbers accuracy, const Raise& raise,
            std::span<double> change) override;

  // Whether every judge votes on opinions of its own only.
  bool are_of(const Opinions& opinions) const;

 private:
  // Votes of a judge on the same two items, the first on the same side, with what they say.
  struct Pair {
    std::int32_t first, second;
    double side;  // of the first
    double won, lost, tied;
  };

  void add_judge(const PairVotes& votes, std::size_t begin, std::size_t end);
  static std::vector<Pair> merged(std::vector<Pair> pairs);
  void index_by_opinion(std::size_t opinions);
  template <bool kValues>
  void judge_at(std::size_t judge, Numbers state, double accuracy, VotesAt& found);
  double loss(std::size_t pair, double x, double tie) const;

  bool ties_, sides_;
  EffectIndex effects_;
  // Each judge's pairs are filled up with empty ones to whole rows of lanes.
  std::vector<std::size_t> begin_;
  std::vector<std::int32_t> first_, second_;
  std::vector<double> won_, lost_, tied_;  // total weight of votes
  std::vector<double> side_;
  std::vector<double> gap_, x_, gradient_, of_tie_, loss_;  // room for one judge
  // Pairs of each opinion.
  std::vector<std::size_t> pairs_begin_;
  std::vector<std::uint32_t> pairs_of_;
};

}  // namespace juryrank
