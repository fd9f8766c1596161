// All votes, what else decides them, and the scores and accuracies at which they are looked at.
#pragma once

#include <cstddef>
#include <optional>

#include "arrays.hpp"
#include "noise.hpp"
#include "votes.hpp"

namespace juryrank {

// Derivatives of -log P of lists in their locations, worked out before; none has ties.
struct ReadyLists {
  Numbers gradient;  // an entry for each item of each list
  Numbers hessian;   // items x items for each list, one after the other
  Codes begin;       // where those of each list begin
};

struct LikelihoodAt {
  const Noise& noise;
  const PairVotes& pairs;
  const ListVotes* lists;  // null: there are none
  const Effects* effects;  // null: nothing but scores and accuracies decides votes
  EffectIndex index;       // of effects that are unknown
  std::size_t size;        // of the state
  Numbers score, accuracy;
  // Lists under other noise than Gumbel's: how much more each tells than it would under that, or
  // their derivatives.
  std::optional<Numbers> likeness;
  std::optional<ReadyLists> ready;

  // Whether ties and sides may matter to pairs.
  bool pairs_are_plain() const { return !effects || pairs.are_plain(); }
};

}  // namespace juryrank
