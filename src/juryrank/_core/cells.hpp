// Cells: all votes of one judge on one item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "votes.hpp"

namespace juryrank {

// Votes on so many items.
struct VotesOnItems {
  const PairVotes& pairs;
  const ListVotes* lists;  // null: there are none
  std::size_t n_items;
};

// How many cells have 0, 1, ... `most` (or more) votes.
std::vector<std::int64_t> cell_counts(const VotesOnItems& votes, std::size_t most);

// Sets weights, of pairs and of lists, under which no judge has more than `cap` on any item.
void set_capped_weights(const VotesOnItems& votes, double cap, Room pairs, Room lists);

struct ItemTotals {
  std::vector<double> won, played;  // weight won, and of all its votes
  std::vector<std::int64_t> judges;
};
ItemTotals item_totals(const VotesOnItems& votes);

struct HeavyCells {
  std::vector<std::int64_t> judge, item;
  std::vector<double> won, played;
};
// Cells with a weight of at least `least`.
HeavyCells heavy_cells(const VotesOnItems& votes, double least);

}  // namespace juryrank
