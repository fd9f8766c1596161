// Curvature and information, for Python.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "bound_votes.hpp"
#include "curvature.hpp"
#include "information.hpp"
#include "passes.hpp"
#include "products.hpp"
#include "tastes.hpp"

namespace juryrank {
namespace {

using IndexRow = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using StartRow = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ready = std::tuple<Row<double>, Row<double>, Row<std::int64_t>>;
using Sparse = std::tuple<Row<std::int64_t>, Row<std::int32_t>, Row<double>>;

// The votes, and the point at which they are looked at. Whoever makes it keeps the votes alive.
class BoundLikelihood {
 public:
  BoundLikelihood(const BoundNoise& noise, const BoundPairVotes& pairs, const BoundListVotes* lists,
                  const BoundEffects* effects, std::array<std::int64_t, 4> indices,
                  std::size_t size, Row<double> score, Row<double> accuracy,
                  std::optional<Row<double>> likeness, std::optional<Ready> ready)
      : pairs_(pairs),
        score_(std::move(score)),
        accuracy_(std::move(accuracy)),
        likeness_(std::move(likeness)),
        ready_(std::move(ready)),
        at_{noise.noise(),
            pairs.of({0, 0}),
            lists ? &lists->votes() : nullptr,
            effects ? &effects->of(pairs.n_judges()) : nullptr,
            {},
            size,
            span_of(score_),
            span_of(accuracy_),
            {},
            {}} {
    check_size("score", score_.shape(0), pairs.n_items());
    check_size("accuracy", accuracy_.shape(0), pairs.n_judges());
    if (size < score_.shape(0)) refuse("The state must have all scores.");
    if (lists) {
      check_size("The lists' judges", lists->n_judges(), pairs.n_judges());
      check_size("The lists' items", lists->n_items(), pairs.n_items());
    }
    const std::size_t sizes = at_.effects ? at_.effects->sizes.size() : 0;
    at_.index = bound_effect_index(indices[0], indices[1], indices[2], indices[3], pairs.n_judges(),
                                   std::max<std::size_t>(sizes, 1), size);
    take_other_noise();
  }

  // With codes of these judges that are known to be right.
  const LikelihoodAt& of(Range judges) const {
    pairs_.of(judges);
    return at_;
  }
  const LikelihoodAt& of(Codes judges) const {
    check_codes("judges", judges, n_judges());
    for (const std::int64_t judge : judges) {
      const auto u = static_cast<std::size_t>(judge);
      pairs_.of({u, u + 1});
    }
    return at_;
  }
  std::size_t n_items() const { return pairs_.n_items(); }
  std::size_t n_judges() const { return pairs_.n_judges(); }
  std::size_t size() const { return at_.size; }

 private:
  void take_other_noise() {
    if ((likeness_ || ready_) && !at_.lists) refuse("There are no lists.");
    if (likeness_) {
      check_size("likeness", likeness_->shape(0), at_.lists->number());
      at_.likeness = span_of(*likeness_);
    }
    if (!ready_) return;
    const auto& [gradient, hessian, begin] = *ready_;
    check_size("gradient", gradient.shape(0), at_.lists->item.size());
    check_size("begin", begin.shape(0), at_.lists->number() + 1);
    check_starts("begin", span_of(begin), hessian.shape(0));
    for (std::size_t k = 0; k < at_.lists->number(); ++k) {
      const Range entries = at_.lists->entries_of(k);
      const std::size_t length = entries.last - entries.first;
      check_size("The second derivatives of a list",
                 static_cast<std::size_t>(begin.data()[k + 1] - begin.data()[k]), length * length);
    }
    at_.ready = ReadyLists{span_of(gradient), span_of(hessian), span_of(begin)};
  }

  const BoundPairVotes& pairs_;
  Row<double> score_, accuracy_;
  std::optional<Row<double>> likeness_;
  std::optional<Ready> ready_;
  LikelihoodAt at_;
};

void bound_add_curvature(const BoundLikelihood& likelihood, const AccuracyRule& rule,
                         std::size_t first, std::size_t last, const RoomRow& diagonal,
                         const RoomRow& accuracy_curvature) {
  check_size("diagonal", diagonal.shape(0), likelihood.size());
  check_size("accuracy_curvature", accuracy_curvature.shape(0), likelihood.n_judges());
  const Range judges{first, last};
  const LikelihoodAt& at = likelihood.of(judges);
  const nb::gil_scoped_release released;
  add_curvature(at, rule, judges, room_of(diagonal), room_of(accuracy_curvature));
}

// --- blocks --------------------------------------------------------------------------------------

std::optional<Matrix> upper_of(const std::optional<RoomMatrix>& upper, std::size_t size) {
  if (!upper) return {};
  check_size("upper", upper->shape(0), size);
  check_size("A row of upper", upper->shape(1), size);
  return room_of(*upper);
}

void bound_add_blocks(const BoundLikelihood& likelihood, const Row<std::int64_t>& judges,
                      const std::optional<RoomMatrix>& upper, const RoomMatrix& rows,
                      const RoomRow& accuracy_curvature) {
  const LikelihoodAt& at = likelihood.of(span_of(judges));
  const std::optional<Matrix> matrix = upper_of(upper, at.size);
  check_size("rows", rows.shape(0), judges.shape(0));
  check_size("A row of rows", rows.shape(1), at.size);
  check_size("accuracy_curvature", accuracy_curvature.shape(0), judges.shape(0));
  const nb::gil_scoped_release released;
  add_blocks(at, span_of(judges), matrix ? &*matrix : nullptr, room_of(rows),
             room_of(accuracy_curvature));
}

using SparseFound = std::tuple<nb::ndarray<nb::numpy, std::int64_t>,
                               nb::ndarray<nb::numpy, std::int32_t>, Array, Array>;

SparseFound bound_sparse_blocks(const BoundLikelihood& likelihood, const Row<std::int64_t>& judges,
                                const std::optional<RoomMatrix>& upper,
                                const std::optional<RoomRow>& entries) {
  const LikelihoodAt& at = likelihood.of(span_of(judges));
  const std::optional<Matrix> matrix = upper_of(upper, at.size);
  std::size_t wanted = 0;
  for (const std::int64_t judge : span_of(judges)) {
    if (!entries || !at.lists) break;
    const Range lists = at.lists->lists_of(static_cast<std::size_t>(judge));
    for (std::size_t k = lists.first; k < lists.last; ++k) {
      const Range own = at.lists->entries_of(k);
      wanted += (own.last - own.first) * (own.last - own.first);
    }
  }
  if (entries) check_size("entries", entries->shape(0), wanted);
  const std::size_t most = most_unknowns(at, span_of(judges));
  std::vector<std::int64_t> start(judges.shape(0) + 1);
  std::vector<std::int32_t> index(most);
  std::vector<double> mixed(most), curvature(judges.shape(0));
  {
    const nb::gil_scoped_release released;
    set_sparse_blocks(at, span_of(judges), matrix ? &*matrix : nullptr,
                      entries ? room_of(*entries) : Room(), {start, index, mixed}, curvature);
  }
  index.resize(static_cast<std::size_t>(start.back()));
  mixed.resize(index.size());
  return {array_of(std::move(start)), array_of(std::move(index)), array_of(std::move(mixed)),
          array_of(std::move(curvature))};
}

SparseRows bound_rows(const Sparse& rows, std::size_t columns) {
  const auto& [start, index, mixed] = rows;
  check_starts("start", span_of(start), index.shape(0));
  check_size("mixed", mixed.shape(0), index.shape(0));
  check_codes("index", span_of(index), columns);
  return {span_of(start), span_of(index), span_of(mixed)};
}

void bound_subtract_squares(const Sparse& rows, const Row<double>& share, const RoomMatrix& upper) {
  check_size("A row of upper", upper.shape(1), upper.shape(0));
  const SparseRows sparse = bound_rows(rows, upper.shape(0));
  check_size("share", share.shape(0), sparse.rows());
  const nb::gil_scoped_release released;
  subtract_squares(sparse, span_of(share), room_of(upper));
}

void bound_set_squares(const Sparse& rows, const NumberMatrix& covariance, const RoomRow& square) {
  check_size("A row of covariance", covariance.shape(1), covariance.shape(0));
  const SparseRows sparse = bound_rows(rows, covariance.shape(0));
  check_size("square", square.shape(0), sparse.rows());
  const nb::gil_scoped_release released;
  set_squares(sparse, view_of(covariance), room_of(square));
}

// --- products ------------------------------------------------------------------------------------

// What a product needs, and room for it.
struct BoundProduct {
  BoundProduct(const BoundLikelihood& likelihood, Range judges, const Row<double>& share,
               const NumberMatrix& vectors, const std::optional<RoomMatrix>& judged)
      : step(PairBlock::kMost * vectors.shape(1)),
        along(vectors.shape(1)),
        of_judges(judged ? std::optional(room_of(*judged)) : std::nullopt),
        wanted{likelihood.of(judges),
               judges,
               span_of(share),
               view_of(vectors),
               of_judges ? &*of_judges : nullptr,
               {{step.data(), PairBlock::kMost, vectors.shape(1)}, along}} {
    check_size("share", share.shape(0), likelihood.n_judges());
    check_size("vectors", vectors.shape(0), likelihood.n_items());
    if (!judged) return;
    check_size("judged", judged->shape(0), likelihood.n_judges());
    check_size("A row of judged", judged->shape(1), vectors.shape(1));
  }
  BoundProduct(const BoundProduct&) = delete;

  std::vector<double> step, along;
  std::optional<Matrix> of_judges;
  ProfileProduct wanted;
};

void bound_add_profile_product(const BoundLikelihood& likelihood, std::size_t first,
                               std::size_t last, const Row<double>& share,
                               const NumberMatrix& vectors, const std::optional<RoomMatrix>& judged,
                               const RoomMatrix& product) {
  const BoundProduct bound(likelihood, {first, last}, share, vectors, judged);
  check_size("product", product.shape(0), vectors.shape(0));
  check_size("A row of product", product.shape(1), vectors.shape(1));
  const nb::gil_scoped_release released;
  passes().add_profile_product(bound.wanted, room_of(product));
}

void bound_add_profile_energy(const BoundLikelihood& likelihood, std::size_t first,
                              std::size_t last, const Row<double>& share,
                              const NumberMatrix& vectors, const std::optional<RoomMatrix>& judged,
                              const RoomRow& energy) {
  const BoundProduct bound(likelihood, {first, last}, share, vectors, judged);
  check_size("energy", energy.shape(0), vectors.shape(1));
  const nb::gil_scoped_release released;
  passes().add_profile_energy(bound.wanted, room_of(energy));
}

void bound_add_mixed_sum(const BoundLikelihood& likelihood, std::size_t first, std::size_t last,
                         const Row<double>& factor, const RoomRow& total) {
  const LikelihoodAt& at = likelihood.of(Range{first, last});
  check_size("factor", factor.shape(0), likelihood.n_judges());
  check_size("total", total.shape(0), likelihood.n_items());
  const nb::gil_scoped_release released;
  passes().add_mixed_sum(at, {first, last}, span_of(factor), room_of(total));
}

void bound_set_mixed_squares(const BoundLikelihood& likelihood, std::size_t first, std::size_t last,
                             const std::optional<Sparse>& of_lists, const Row<double>& variance,
                             const RoomRow& square) {
  const LikelihoodAt& at = likelihood.of(Range{first, last});
  const std::size_t n = likelihood.n_items();
  check_size("variance", variance.shape(0), n);
  check_size("square", square.shape(0), likelihood.n_judges());
  std::optional<SparseRows> rows;
  if (of_lists) {
    rows = bound_rows(*of_lists, n);
    check_size("of_lists", rows->rows(), likelihood.n_judges());
  }
  const nb::gil_scoped_release released;
  std::vector<double> column(n);
  passes().set_mixed_squares(at, {first, last}, rows ? &*rows : nullptr, span_of(variance), column,
                             room_of(square));
}

// --- tastes --------------------------------------------------------------------------------------

using Moments = std::tuple<Array, Array, Array, nb::ndarray<nb::numpy, std::int64_t>>;

Moments bound_taste_moments(const BoundLikelihood& likelihood, std::size_t first, std::size_t last,
                            const RoomRow& size, const RoomRow& length, const RoomRow& curvature,
                            const StartRow& opinions) {
  const std::size_t m = likelihood.n_judges();
  const LikelihoodAt& at = likelihood.of(Range{first, last});
  check_size("size", size.shape(0), m);
  check_size("length", length.shape(0), m);
  check_size("curvature", curvature.shape(0), m);
  check_size("opinions", opinions.shape(0), m);
  TasteMoments found;
  {
    const nb::gil_scoped_release released;
    found = taste_moments(
        at, {first, last},
        {room_of(size), room_of(length), room_of(curvature), {opinions.data(), opinions.shape(0)}});
  }
  return {array_of(std::move(found.excess)), array_of(std::move(found.shared)),
          array_of(std::move(found.own)), array_of(std::move(found.item))};
}

std::tuple<double, double, double> bound_moment_sums(const Row<double>& excess,
                                                     const Row<double>& expected,
                                                     const Row<double>& own, double variance) {
  check_size("expected", expected.shape(0), excess.shape(0));
  check_size("own", own.shape(0), excess.shape(0));
  const nb::gil_scoped_release released;
  const MomentSums sums = moment_sums(span_of(excess), span_of(expected), span_of(own), variance);
  return {sums.observed, sums.expected, sums.square};
}

double bound_taste_size(const BoundLikelihood& likelihood, std::size_t judge) {
  if (judge >= likelihood.n_judges()) refuse("There is no such judge.");
  const LikelihoodAt& at = likelihood.of(Range{judge, judge + 1});
  const nb::gil_scoped_release released;
  return taste_size(at, judge);
}

std::size_t bound_add_tastes(const BoundLikelihood& likelihood, std::size_t first, std::size_t last,
                             const Row<double>& weight, const Row<double>& accuracy_curvature,
                             const RoomMatrix& upper, const RoomMatrix& pull,
                             const RoomMatrix& moved) {
  const std::size_t n = likelihood.n_items(), m = likelihood.n_judges();
  const LikelihoodAt& at = likelihood.of(Range{first, last});
  check_size("weight", weight.shape(0), m);
  check_size("accuracy_curvature", accuracy_curvature.shape(0), m);
  check_size("upper", upper.shape(0), n);
  check_size("A row of upper", upper.shape(1), n);
  for (const RoomMatrix& rows : {pull, moved}) {
    check_size("Rows of judges", rows.shape(0), last - first);
    check_size("A row of a judge", rows.shape(1), n);
  }
  const TasteMatrix matrix{span_of(weight), span_of(accuracy_curvature), room_of(upper),
                           room_of(pull), room_of(moved)};
  const nb::gil_scoped_release released;
  return add_tastes(at, {first, last}, matrix);
}

}  // namespace

void bind_information(nb::module_& m) {
  nb::class_<BoundLikelihood>(m, "LikelihoodAt")
      .def(nb::init<const BoundNoise&, const BoundPairVotes&, const BoundListVotes*,
                    const BoundEffects*, std::array<std::int64_t, 4>, std::size_t, Row<double>,
                    Row<double>, std::optional<Row<double>>, std::optional<Ready>>(),
           nb::kw_only(), "noise"_a, "pairs"_a, "lists"_a.none(), "effects"_a.none(), "indices"_a,
           "size"_a, "score"_a.noconvert(), "accuracy"_a.noconvert(),
           "likeness"_a.noconvert().none() = nb::none(), "ready"_a.noconvert().none() = nb::none(),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
           nb::keep_alive<1, 5>());
  m.def("add_curvature", &bound_add_curvature, "at"_a, "rule"_a, "first"_a, "last"_a,
        "diagonal"_a.noconvert(), "accuracy_curvature"_a.noconvert());
  m.def("add_blocks", &bound_add_blocks, "at"_a, "judges"_a.noconvert(),
        "upper"_a.noconvert().none(), "rows"_a.noconvert(), "accuracy_curvature"_a.noconvert());
  m.def("sparse_blocks", &bound_sparse_blocks, "at"_a, "judges"_a.noconvert(),
        "upper"_a.noconvert().none(), "entries"_a.noconvert().none() = nb::none());
  m.def("subtract_squares", &bound_subtract_squares, "rows"_a.noconvert(), "share"_a.noconvert(),
        "upper"_a.noconvert());
  m.def("set_squares", &bound_set_squares, "rows"_a.noconvert(), "covariance"_a.noconvert(),
        "square"_a.noconvert());
  m.def("add_profile_product", &bound_add_profile_product, "at"_a, "first"_a, "last"_a,
        "share"_a.noconvert(), "vectors"_a.noconvert(), "judged"_a.noconvert().none(),
        "product"_a.noconvert());
  m.def("add_profile_energy", &bound_add_profile_energy, "at"_a, "first"_a, "last"_a,
        "share"_a.noconvert(), "vectors"_a.noconvert(), "judged"_a.noconvert().none(),
        "energy"_a.noconvert());
  m.def("add_mixed_sum", &bound_add_mixed_sum, "at"_a, "first"_a, "last"_a, "factor"_a.noconvert(),
        "total"_a.noconvert());
  m.def("set_mixed_squares", &bound_set_mixed_squares, "at"_a, "first"_a, "last"_a,
        "of_lists"_a.noconvert().none(), "variance"_a.noconvert(), "square"_a.noconvert());
  m.def("taste_moments", &bound_taste_moments, "at"_a, "first"_a, "last"_a, nb::kw_only(),
        "size"_a.noconvert(), "length"_a.noconvert(), "curvature"_a.noconvert(),
        "opinions"_a.noconvert());
  m.def("moment_sums", &bound_moment_sums, "excess"_a.noconvert(), "expected"_a.noconvert(),
        "own"_a.noconvert(), "variance"_a);
  m.def("taste_size", &bound_taste_size, "at"_a, "judge"_a);
  m.def("add_tastes", &bound_add_tastes, "at"_a, "first"_a, "last"_a, nb::kw_only(),
        "weight"_a.noconvert(), "accuracy_curvature"_a.noconvert(), "upper"_a.noconvert(),
        "pull"_a.noconvert(), "moved"_a.noconvert());
}

}  // namespace juryrank
