#include "lists.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "exponential_lists.hpp"
#include "list_integrals.hpp"
#include "lists_as_one.hpp"
#include "luce.hpp"
#include "passes.hpp"
#include "tied_lists.hpp"

namespace juryrank {

// --- Gumbel noise --------------------------------------------------------------------------------

Along list_along(const OneList& list, Numbers direction, const Effects& effects, Numbers tie) {
  if (effects.as_one) return as_one_along(list, direction, tie[0]);
  if (tie.empty()) return luce_along(list.location, direction, list.ranked);
  return tied_along(list, direction, {effects.sizes, tie});
}

double list_pass(const OneList& list, const Effects& effects, Numbers tie, Room gradient,
                 Room tie_gradient) {
  if (effects.as_one) return as_one_pass(list, tie[0], gradient, tie_gradient[0]);
  if (tie.empty()) return luce_pass(list.location, list.ranked, gradient);
  return tied_pass(list, {effects.sizes, tie}, gradient, tie_gradient);
}

void list_hessian(const OneList& list, const Effects& effects, Numbers tie, Room gradient,
                  Matrix hessian) {
  const std::size_t size = list.location.size() + tie.size();
  for (std::size_t i = 0; i < size; ++i) std::fill_n(hessian.row(i), size, 0.0);
  if (effects.as_one)
    as_one_hessian(list, tie[0], gradient, hessian);
  else if (tie.empty())
    luce_hessian(list.location, list.ranked, gradient, hessian);
  else
    tied_hessian(list, {effects.sizes, tie}, gradient, hessian);
}

// --- any noise -----------------------------------------------------------------------------------

namespace {

constexpr double kNearlyNothing = 1e-6;
// Numbers of room that a thread keeps, for rankings of up to some 450 items: new pages for each of
// them would take the system longer than what is done with them.
constexpr std::size_t kKept = 1 << 23;

// Room that grows.
class Arena {
 public:
  Room of(std::size_t size) {
    if (size > size_) {
      room_ = std::make_unique_for_overwrite<double[]>(size);
      size_ = size;
    }
    return {room_.get(), size};
  }
  void give_back() {
    if (size_ > kKept) *this = Arena();
  }

 private:
  std::unique_ptr<double[]> room_;
  std::size_t size_ = 0;
};

PanelView view_of(const Panels& panels) {
  std::size_t most = 0;
  for (const Range& span : panels.span) most = std::max(most, span.last - span.first);
  constexpr std::size_t kLanes = 8;
  const std::size_t columns = std::max(most + kLanes - 1, kLanes) / kLanes * kLanes;
  return {panels.first, panels.y, panels.tilt, panels.span, panels.middle, panels.half, columns};
}

// `work` on the panels of a list, in as much room as `room_for` says.
template <typename RoomFor, typename Work>
double on_panels(const Noise& noise, Numbers location, std::size_t ranked, RoomFor room_for,
                 Work work) {
  thread_local Panels panels;
  thread_local Arena arena;
  lay_panels(noise, location, ranked, panels);
  const PanelView view = view_of(panels);
  const Room room = arena.of(room_for(view, location.size()));
  const double value = work(PanelChain{noise, location, view, room});
  arena.give_back();
  return value;
}

double integrated(const Noise& noise, Numbers location, std::size_t ranked, Room gradient) {
  return on_panels(noise, location, ranked, room_for,
                   [&](const PanelChain& chain) { return passes().panel_chain(chain, gradient); });
}

// h(t) = -log F(-t) of the difference, and h'(t).
struct PairTail {
  double value, gradient;
};

PairTail pair_tail(const Noise& noise, double t) {
  const Table table(noise);
  return {table.h(t), table.tail(t).first};
}

// A table of a density ends somewhere, so that P would be 0 far out of order. There, an item more
// than `farthest` = G below a worse one is lifted to G below it, and what the lift hides is added
// from the pair: c (h(gap) - h(G)), which goes on as a parabola. So the value is continuous and
// rises with each such gap, and the gradient is the value's own. For two items c = 1, which gives
// the pair's value; in a list c = 2, since there one item may have to do alone what two share in a
// pair, and the gradient must not fall where the lift begins: the value would not be convex.
double tabulated(const Noise& noise, Numbers location, std::size_t ranked, Room gradient) {
  std::vector<double> lifted(location.begin(), location.end());
  std::vector<std::size_t> above(ranked, location.size());
  const auto rest = location.begin() + static_cast<std::ptrdiff_t>(ranked);
  auto top = static_cast<std::size_t>(std::max_element(rest, location.end()) - location.begin());
  for (std::size_t j = ranked; j-- > 0;) {
    if (location[j] < location[top] - noise.farthest) {
      lifted[j] = location[top] - noise.farthest;
      above[j] = top;
    }
    if (location[j] > location[top]) top = j;
  }
  double value = integrated(noise, lifted, ranked, gradient);
  const double share = location.size() == 2 ? 1.0 : 2.0;
  const double usual = pair_tail(noise, noise.farthest).value;
  for (std::size_t j = 0; j < ranked; ++j) {
    if (above[j] == location.size()) continue;
    const PairTail tail = pair_tail(noise, location[above[j]] - location[j]);
    value += share * (tail.value - usual);
    gradient[above[j]] += gradient[j] + share * tail.gradient;
    gradient[j] = -share * tail.gradient;
  }
  return value;
}

// As far as numbers hold it.
double held_chain_pass(const Noise& noise, Numbers location, std::size_t ranked, Room gradient) {
  switch (noise.family) {
    case Family::gumbel:
      return luce_pass(location, ranked, gradient);
    case Family::exponential:
      return exponential_pass(location, ranked, gradient);
    case Family::normal:
      return integrated(noise, location, ranked, gradient);
    case Family::table:
      break;
  }
  return tabulated(noise, location, ranked, gradient);
}

bool are_finite(Numbers values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace

// Of hundreds of items in the opposite order P is too small for any number to hold. There, the
// value goes on as a straight line from as far on the way out as it can be worked out: no answer is
// there, but a search may begin there and must find its way back.
double chain_pass(const Noise& noise, Numbers location, std::size_t ranked, Room gradient) {
  const std::size_t n = location.size();
  std::fill(gradient.begin(), gradient.end(), 0.0);
  if (n < 2 || ranked < 1) return 0.0;
  if (!are_finite(location)) {
    std::fill(gradient.begin(), gradient.end(), kNan);
    return kNan;
  }
  ranked = std::min(ranked, n - 1);
  double value = held_chain_pass(noise, location, ranked, gradient), part = 1.0;
  std::vector<double> nearer;
  while (!(std::isfinite(value) && are_finite(gradient)) && part > kNearlyNothing) {
    part *= 0.5;
    nearer.resize(n);
    for (std::size_t i = 0; i < n; ++i) nearer[i] = part * location[i];
    value = held_chain_pass(noise, nearer, ranked, gradient);
  }
  if (part == 1.0) return value;
  double along = 0.0;
  for (std::size_t i = 0; i < n; ++i) along += gradient[i] * location[i];
  return value + (1.0 - part) * along;
}

namespace {

// The step of central differences, in panel widths.
constexpr double kDifference = 1e-4;

void set_differences(const Noise& noise, Numbers location, std::size_t ranked, Matrix hessian) {
  const std::size_t n = location.size();
  const double step = kDifference * noise.width;
  std::vector<double> moved(location.begin(), location.end()), above(n), below(n);
  for (std::size_t i = 0; i < n; ++i) {
    moved[i] = location[i] + step;
    chain_pass(noise, moved, ranked, above);
    moved[i] = location[i] - step;
    chain_pass(noise, moved, ranked, below);
    moved[i] = location[i];
    for (std::size_t o = 0; o < n; ++o) hessian.at(i, o) = (above[o] - below[o]) / (2.0 * step);
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t o = 0; o < i; ++o)
      hessian.at(i, o) = hessian.at(o, i) = 0.5 * (hessian.at(i, o) + hessian.at(o, i));
}

}  // namespace

void chain_hessian(const Noise& noise, Numbers location, std::size_t ranked, Matrix hessian) {
  const std::size_t n = location.size();
  std::fill_n(hessian.data, n * n, 0.0);
  if (n < 2 || ranked < 1) return;
  if (noise.family == Family::normal && are_finite(location)) {
    std::vector<double> gradient(n);
    on_panels(
        noise, location, std::min(ranked, n - 1), room_for_hessian,
        [&](const PanelChain& chain) { return passes().panel_hessian(chain, gradient, hessian); });
    if (are_finite({hessian.data, n * n})) return;
  }
  set_differences(noise, location, ranked, hessian);
}

}  // namespace juryrank
