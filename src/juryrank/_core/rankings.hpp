// Lists under Gumbel noise, with pairs beside them if there are any, as the sampler asks for them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lanes.hpp"
#include "lists.hpp"
#include "opinions.hpp"
#include "pairs.hpp"
#include "votes.hpp"
#include "votes_pass.hpp"

namespace juryrank {

class Rankings final : public VotesPass {
 public:
  struct Ties {
    std::vector<std::int64_t> sizes;  // of the groups that can be tied
    bool as_one;                      // tied items count as one
  };

  Rankings(const ListVotes& votes, std::optional<Pairs> pairs, std::size_t opinions, Ties ties,
           const EffectIndex& effects);

  void at(Numbers state, Numbers accuracy, bool values, VotesAt& found) override;
  void rise(const VotesAt& here, Numbers state, Numbers accuracy, const Raise& raise,
            std::span<double> change) override;

  // Whether every judge votes on opinions of its own only.
  bool are_of(const Opinions& opinions) const;

 private:
  ListVotes lists() const { return {start_, begin_, item_, level_, ranked_, weight_}; }
  void index_by_opinion(std::size_t opinions);
  void fill_lanes();
  // Gradients and losses of the lists in lanes.
  void lanes_at(Numbers state, Numbers accuracy, bool values);
  void judge_at(const ListVotes& lists, std::size_t judge, Numbers state, double accuracy,
                VotesAt& found);
  void set_tie(std::size_t judge, Numbers state);
  void add_tie_gradient(std::size_t judge, VotesAt& found) const;
  // What it is if one of the opinions is raised.
  double loss(const ListVotes& lists, std::size_t list, Numbers state, double accuracy,
              std::size_t raised, double by);

  std::vector<std::int64_t> start_, begin_;
  std::vector<std::int32_t> item_, level_, ranked_;
  std::vector<double> weight_;
  std::optional<Pairs> pairs_;
  Ties ties_;
  EffectIndex effects_;
  // Lists of each opinion, and their judges.
  std::vector<std::size_t> lists_begin_;
  std::vector<std::uint32_t> lists_of_, judge_of_;
  // Lists without ties that are worked on together, as many as there are lanes and all alike in
  // length; of each such group its lists and judges, then its items, the first ones first.
  struct Group {
    std::size_t length, ranked;
    std::array<std::uint32_t, kLanes> list, judge;
    std::vector<std::int32_t> item;
  };
  std::vector<Group> groups_;
  std::vector<char> is_ready_;           // of each list, once its group was worked on
  std::vector<double> gradient_, loss_;  // of each entry; of each list
  std::vector<double> location_, in_lanes_;
  std::vector<double> tie_, tie_gradient_, of_list_;  // room for the weights of ties of one judge
};

}  // namespace juryrank
