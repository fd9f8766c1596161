// Cells, crowds and the coding of votes, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings.hpp"
#include "bound_votes.hpp"
#include "cells.hpp"
#include "consistency.hpp"

namespace juryrank {
namespace {

using CodeArray = nb::ndarray<nb::numpy, std::int64_t>;

VotesOnItems bound_votes_on_items(const BoundPairVotes& pairs, const BoundListVotes* lists) {
  if (lists) {
    check_size("The lists' judges", lists->n_judges(), pairs.n_judges());
    check_size("The lists' items", lists->n_items(), pairs.n_items());
  }
  return {pairs.all(), lists ? &lists->votes() : nullptr, pairs.n_items()};
}

template <typename Work>
auto released(Work&& work) {
  const nb::gil_scoped_release release;
  return work();
}

CodeArray bound_cell_counts(const BoundPairVotes& pairs, const BoundListVotes* lists,
                            std::size_t most) {
  const VotesOnItems votes = bound_votes_on_items(pairs, lists);
  return array_of(released([&] { return cell_counts(votes, most); }));
}

std::tuple<Array, Array> bound_capped_weights(const BoundPairVotes& pairs,
                                              const BoundListVotes* lists, double cap) {
  const VotesOnItems votes = bound_votes_on_items(pairs, lists);
  std::vector<double> weight(votes.pairs.winner.size()),
      list_weight(lists ? votes.lists->number() : 0);
  released([&] { set_capped_weights(votes, cap, weight, list_weight); });
  return {array_of(std::move(weight)), array_of(std::move(list_weight))};
}

std::tuple<Array, Array, CodeArray> bound_item_totals(const BoundPairVotes& pairs,
                                                      const BoundListVotes* lists) {
  const VotesOnItems votes = bound_votes_on_items(pairs, lists);
  ItemTotals found = released([&] { return item_totals(votes); });
  return {array_of(std::move(found.won)), array_of(std::move(found.played)),
          array_of(std::move(found.judges))};
}

std::tuple<CodeArray, CodeArray, Array, Array> bound_heavy_cells(const BoundPairVotes& pairs,
                                                                 const BoundListVotes* lists,
                                                                 double least) {
  const VotesOnItems votes = bound_votes_on_items(pairs, lists);
  HeavyCells found = released([&] { return heavy_cells(votes, least); });
  return {array_of(std::move(found.judge)), array_of(std::move(found.item)),
          array_of(std::move(found.won)), array_of(std::move(found.played))};
}

using Counts = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

Counts bound_consistency(const Row<std::int32_t>& winner, const Row<std::int32_t>& loser,
                         const Row<std::int32_t>& better, const Row<std::int32_t>& worse) {
  check_size("loser", loser.shape(0), winner.shape(0));
  check_size("worse", worse.shape(0), better.shape(0));
  const Consistency found = released([&] {
    return consistency(span_of(winner), span_of(loser), span_of(better), span_of(worse));
  });
  return {found.triads, found.circular, found.repeats, found.repeated};
}

}  // namespace

void bind_cells(nb::module_& m) {
  m.def("cell_counts", &bound_cell_counts, "pairs"_a, "lists"_a.none(), "most"_a);
  m.def("capped_weights", &bound_capped_weights, "pairs"_a, "lists"_a.none(), "cap"_a);
  m.def("item_totals", &bound_item_totals, "pairs"_a, "lists"_a.none());
  m.def("heavy_cells", &bound_heavy_cells, "pairs"_a, "lists"_a.none(), "least"_a);
  m.def("consistency", &bound_consistency, nb::kw_only(), "winner"_a.noconvert(),
        "loser"_a.noconvert(), "better"_a.noconvert(), "worse"_a.noconvert());
}

}  // namespace juryrank
