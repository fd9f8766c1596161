// Plain sums over pairs, crowds, positions and the grouping of rows, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "bound_votes.hpp"
#include "counts.hpp"
#include "crowd.hpp"
#include "grouping.hpp"
#include "position.hpp"

namespace juryrank {
namespace {

// --- plain sums ----------------------------------------------------------------------------------

void bound_add_to_both(const BoundPairVotes& pairs, std::size_t first, std::size_t last,
                       const Row<double>& factor, const RoomRow& total) {
  check_size("factor", factor.shape(0), pairs.n_judges());
  check_size("total", total.shape(0), pairs.n_items());
  const nb::gil_scoped_release released;
  add_to_both(pairs.of({first, last}), {first, last}, span_of(factor), room_of(total));
}

void bound_count_wins(const BoundPairVotes& pairs, std::size_t first, std::size_t last,
                      const RoomMatrix& counts) {
  check_size("counts", counts.shape(0), pairs.n_items());
  check_size("A row of counts", counts.shape(1), pairs.n_items());
  const nb::gil_scoped_release released;
  count_wins(pairs.of({first, last}), {first, last}, room_of(counts));
}

std::pair<double, double> bound_pair_agreement(const BoundPairVotes& pairs, std::size_t first,
                                               std::size_t last, const Row<double>& counts,
                                               const Row<double>& say, const Row<double>& score) {
  check_size("counts", counts.shape(0), pairs.n_judges());
  check_size("say", say.shape(0), pairs.n_judges());
  check_size("score", score.shape(0), pairs.n_items());
  const nb::gil_scoped_release released;
  const Agreement found = pair_agreement(pairs.of({first, last}), {first, last}, span_of(counts),
                                         span_of(say), span_of(score));
  return {found.sum, found.variance};
}

void bound_set_elsewhere(const BoundPairVotes& pairs, std::size_t first, std::size_t last,
                         const RoomRow& share) {
  check_size("share", share.shape(0), pairs.n_judges());
  const nb::gil_scoped_release released;
  set_elsewhere(pairs.of({first, last}), {first, last}, pairs.n_items(), room_of(share));
}

// --- crowds --------------------------------------------------------------------------------------

double bound_crowd_scores_pass(const BoundNoise& noise, const BoundPairVotes& pairs,
                               const Row<double>& score, const Row<double>& reliability,
                               const RoomRow& score_gradient) {
  check_size("score", score.shape(0), pairs.n_items());
  check_size("reliability", reliability.shape(0), pairs.n_judges());
  check_size("score_gradient", score_gradient.shape(0), pairs.n_items());
  const nb::gil_scoped_release released;
  return crowd_scores_pass(noise.noise(), pairs.all(), span_of(score), span_of(reliability),
                           room_of(score_gradient));
}

void bound_set_reliabilities(const BoundNoise& noise, const BoundPairVotes& pairs,
                             const Row<double>& score, const RoomRow& reliability) {
  check_size("score", score.shape(0), pairs.n_items());
  check_size("reliability", reliability.shape(0), pairs.n_judges());
  const nb::gil_scoped_release released;
  set_reliabilities(noise.noise(), pairs.all(), span_of(score), room_of(reliability));
}

// --- positions -----------------------------------------------------------------------------------

void bound_position_sums(const BoundNoise& noise, const Row<std::int64_t>& start,
                         const Row<std::int32_t>& left, const Row<std::int32_t>& right,
                         const Row<std::int8_t>& outcome, const std::optional<Row<double>>& weight,
                         const Row<double>& score, const Row<double>& accuracy,
                         const Row<double>& order, bool ties_count, const RoomRow& excess,
                         const RoomRow& information, const RoomRow& third, const RoomRow& won) {
  const std::size_t votes = left.shape(0);
  check_starts("start", span_of(start), votes);
  check_size("right", right.shape(0), votes);
  check_size("outcome", outcome.shape(0), votes);
  if (weight) check_size("weight", weight->shape(0), votes);
  const std::size_t judges = start.shape(0) - 1;
  check_size("accuracy", accuracy.shape(0), judges);
  check_size("order", order.shape(0), judges);
  for (const RoomRow* room : {&excess, &information, &third, &won})
    check_size("A sum", room->shape(0), judges);
  const nb::gil_scoped_release released;
  check_codes("left", span_of(left), score.shape(0));
  check_codes("right", span_of(right), score.shape(0));
  SidedVotes sided{span_of(start), span_of(left), span_of(right), span_of(outcome), {}};
  if (weight) sided.weight = span_of(*weight);
  set_position_sums(noise.noise(), sided, span_of(score), span_of(accuracy), span_of(order),
                    ties_count,
                    {room_of(excess), room_of(information), room_of(third), room_of(won)});
}

// --- groups --------------------------------------------------------------------------------------

using AnyRow = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyRoom = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::ndarray<nb::numpy, std::int64_t> bound_counting_order(const Row<std::int32_t>& codes,
                                                          std::size_t groups) {
  std::vector<std::int64_t> order;
  {
    const nb::gil_scoped_release released;
    check_codes("codes", span_of(codes), groups);
    order = counting_order(span_of(codes), groups);
  }
  return array_of(std::move(order));
}

// What rows say, and where it goes: whatever the type, values are moved as so many bytes.
struct Grouping {
  const AnyRow& values;
  const std::optional<AnyRow>& table;
  Items group;
  Codes first;
  const AnyRoom& out;
};

// Codes below 0 count from the end of the table.
template <typename Value, typename Code>
bool scatter_entries(const Grouping& given, std::vector<std::int64_t> next) {
  const auto* values = static_cast<const Code*>(given.values.data());
  const auto* table = static_cast<const Value*>(given.table->data());
  const auto size = static_cast<std::int64_t>(given.table->shape(0));
  for (std::size_t k = 0; k < given.group.size(); ++k)
    if (given.group[k] >= 0 && (values[k] >= size || values[k] < -size)) return false;
  return scatter_by_group(given.group, std::move(next),
                          std::span(static_cast<Value*>(given.out.data()), given.out.shape(0)),
                          [&](std::size_t k) {
                            const std::int64_t code = values[k];
                            return table[code < 0 ? code + size : code];
                          });
}

template <typename Value>
bool scatter_as(const Grouping& given) {
  std::vector<std::int64_t> next(given.first.begin(), given.first.end());
  if (!given.table) {
    const auto* values = static_cast<const Value*>(given.values.data());
    return scatter_by_group(given.group, std::move(next),
                            std::span(static_cast<Value*>(given.out.data()), given.out.shape(0)),
                            [&](std::size_t k) { return values[k]; });
  }
  if (given.values.dtype() == nb::dtype<std::int32_t>())
    return scatter_entries<Value, std::int32_t>(given, std::move(next));
  if (given.values.dtype() == nb::dtype<std::int8_t>())
    return scatter_entries<Value, std::int8_t>(given, std::move(next));
  refuse("What a table is asked for must be numbers of 8 or 32 bits.");
}

bool scatter(const Grouping& given) {
  switch (given.out.itemsize()) {
    case 1:
      return scatter_as<std::uint8_t>(given);
    case 4:
      return scatter_as<std::uint32_t>(given);
    case 8:
      return scatter_as<std::uint64_t>(given);
    default:
      refuse("Values must have 1, 4 or 8 bytes.");
  }
}

void bound_scatter_by_group(const AnyRow& values, const std::optional<AnyRow>& table,
                            const Row<std::int32_t>& group, const Row<std::int64_t>& first,
                            const AnyRoom& out) {
  check_size("group", group.shape(0), values.shape(0));
  if ((table ? *table : values).dtype() != out.dtype())
    refuse("out must have the type of the values.");
  const nb::gil_scoped_release released;
  for (const std::int32_t code : span_of(group))
    if (code >= 0 && static_cast<std::size_t>(code) >= first.shape(0))
      refuse("There is no such group.");
  if (!scatter({values, table, span_of(group), span_of(first), out}))
    refuse("A value has no entry in the table, or there is no room for it.");
}

}  // namespace

void bind_sums(nb::module_& m) {
  m.def("add_to_both", &bound_add_to_both, "pairs"_a, "first"_a, "last"_a, "factor"_a.noconvert(),
        "total"_a.noconvert());
  m.def("count_wins", &bound_count_wins, "pairs"_a, "first"_a, "last"_a, "counts"_a.noconvert());
  m.def("pair_agreement", &bound_pair_agreement, "pairs"_a, "first"_a, "last"_a,
        "counts"_a.noconvert(), "say"_a.noconvert(), "score"_a.noconvert());
  m.def("set_elsewhere", &bound_set_elsewhere, "pairs"_a, "first"_a, "last"_a,
        "share"_a.noconvert());
  m.def("crowd_scores_pass", &bound_crowd_scores_pass, "noise"_a, "pairs"_a, "score"_a.noconvert(),
        "reliability"_a.noconvert(), "score_gradient"_a.noconvert());
  m.def("set_reliabilities", &bound_set_reliabilities, "noise"_a, "pairs"_a, "score"_a.noconvert(),
        "reliability"_a.noconvert());
  m.def("position_sums", &bound_position_sums, "noise"_a, nb::kw_only(), "start"_a.noconvert(),
        "left"_a.noconvert(), "right"_a.noconvert(), "outcome"_a.noconvert(),
        "weight"_a.noconvert().none(), "score"_a.noconvert(), "accuracy"_a.noconvert(),
        "order"_a.noconvert(), "ties_count"_a, "excess"_a.noconvert(), "information"_a.noconvert(),
        "third"_a.noconvert(), "won"_a.noconvert());
  m.def("counting_order", &bound_counting_order, "codes"_a.noconvert(), "groups"_a);
  m.def("scatter_by_group", &bound_scatter_by_group, "values"_a.noconvert(),
        "table"_a.noconvert().none(), "group"_a.noconvert(), "first"_a.noconvert(),
        "out"_a.noconvert());
}

}  // namespace juryrank
