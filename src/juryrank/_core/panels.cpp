#include "panels.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "one_noise.hpp"

namespace juryrank {
namespace {

constexpr double kWindow = 8.0;              // standard deviations to either side of the likely y
constexpr double kFaint = 38.0;              // e^-38 of the peak adds nothing to an integral
constexpr double kCrowdRoot = 5.0 / 2.0;     // panels are so many widths over the root of the crowd
constexpr double kCrowdPower = 130.0 / 2.0;  // and so many over the crowd to the power of 1.4
constexpr double kCrowdReach = 0.625;        // a crowd is counted so many widths to either side
constexpr double kJumpCrowd = 2.0;
constexpr double kLeastTilt = 0.5;  // per half panel; below, L is tame enough without
constexpr double kSteepest = TabulatedNoise::kSteepest;
constexpr int kWalkSteps = 400;
constexpr std::size_t kMostPanels = 1 << 20;

// Ranked items from ... to, which share a y.
struct Block {
  std::size_t first, last;
  double y;
};

// Lays the panels of one list. Items: ranked_ of them in order, then the rest.
//
// With c items in one location, each is confined by the others to about 1/sqrt(c) of a standard
// deviation, and L rises by up to e^(0.4 c) per standard deviation: panels get narrow.
class Layer {
 public:
  Layer(const Noise& noise, Numbers location, std::size_t ranked, Panels& panels)
      : noise_(noise),
        normal_(noise.family == Family::normal),
        location_(location),
        ranked_(ranked),
        panels_(panels) {
    panels.middle.clear();
    panels.half.clear();
    panels.tilt.assign(ranked + 1, 0.0);
  }

  void lay() {
    pool();
    const std::size_t blocks = panels_.y.size();
    panels_.span.resize(blocks);
    for (auto* room : {&crowd_, &left_, &right_, &sharp_}) room->resize(blocks);
    count_crowds(kCrowdReach * noise_.width);
    for (std::size_t b = 0; b < blocks; ++b) look_at(b);
    for (std::size_t b = blocks; b > 0;) b = lay_overlapping(b);
  }

 private:
  std::size_t items() const { return location_.size(); }
  Block block(std::size_t b) const {
    return {panels_.first[b], panels_.first[b + 1], panels_.y[b]};
  }
  double density_gradient(double x) const {
    return normal_ ? -x : TabulatedNoise(noise_).density_gradient(x);
  }

  // --- where the mass lies: the most likely y that obeys the ranking

  // Neighbours out of order are pooled.
  void pool() {
    auto& first = panels_.first;
    auto& y = panels_.y;
    first.clear();
    y.clear();
    for (std::size_t j = 0; j < ranked_; ++j) {
      first.push_back(j);
      y.push_back(common_y(j, j + 1));
      while (y.size() > 1 && y.back() > y[y.size() - 2]) {
        first.pop_back();
        y.pop_back();
        y.back() = common_y(first.back(), j + 1);
      }
    }
    first.push_back(ranked_);
  }

  // The most likely common y of the items a to b, and of the rest if b is ranked_.
  double common_y(std::size_t a, std::size_t b) const {
    return normal_ ? common_y_if_normal(a, b) : common_y_of_table(a, b);
  }

  double common_y_if_normal(std::size_t a, std::size_t b) const {
    const auto count = static_cast<double>(b - a);
    double mean = 0.0;
    for (std::size_t j = a; j < b; ++j) mean += location_[j] / count;
    double y = mean;
    if (b < ranked_) return y;
    // Newton's method on a convex, piecewise quadratic function, from the left.
    for (std::size_t step = 0; step < items(); ++step) {
      double above = 0.0, number = 0.0;
      for (std::size_t q = ranked_; q < items(); ++q)
        if (location_[q] > y) {
          above += location_[q] - mean;
          number += 1.0;
        }
      const double last = y;
      y = mean + above / (count + number);
      if (y <= last || number == 0.0) break;
    }
    return y;
  }

  double common_y_of_table(std::size_t a, std::size_t b) const {
    const TabulatedNoise table(noise_);
    double low = location_[a], high = location_[a];
    for (std::size_t j = a; j < b; ++j) {
      low = std::min(low, location_[j]);
      high = std::max(high, location_[j]);
    }
    if (b == ranked_)
      for (std::size_t q = ranked_; q < items(); ++q) high = std::max(high, location_[q]);
    low += table.low();
    high += table.high();
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (low + high);
      (pull(table, a, b, middle) > 0.0 ? low : high) = middle;
    }
    return 0.5 * (low + high);
  }

  // The gradient at a common y of the log-densities of the items a to b, and of the rest if b is
  // ranked_: an item of the rest need not be at y, only below, so it pulls up, never down.
  double pull(const TabulatedNoise& table, std::size_t a, std::size_t b, double y) const {
    double total = 0.0;
    for (std::size_t i = a; i < b; ++i) {
      const double x = y - location_[i];
      if (x < table.low())
        total += kSteepest;
      else if (x > table.high())
        total -= kSteepest;
    }
    for (std::size_t i = a; i < b; ++i) total += table.density_gradient(y - location_[i]);
    if (b < ranked_) return total;
    for (std::size_t q = ranked_; q < items(); ++q) {
      const double x = y - location_[q];
      total += std::max(table.density_gradient(x), 0.0);
      if (x < table.low()) total += kSteepest;
    }
    return total;
  }

  // --- what a block needs

  void look_at(std::size_t b) {
    const Block own = block(b);
    const double width = panel_width(crowd_[b]);
    set_tilts(own, 0.5 * width);
    if (normal_) {
      left_[b] = own.y - kWindow;
      right_[b] = own.y + kWindow;
    } else {
      left_[b] = left_end(own);
      right_[b] = right_end(own);
      sharp_[b] = sharpest(own, width, crowd_[b]);
    }
  }

  // How many items lie within reach of each block; the rest is where the last block is.
  void count_crowds(double reach) {
    const auto& y = panels_.y;
    const std::size_t blocks = y.size();
    std::size_t low = 0, high = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      while (y[low] > y[b] + reach) ++low;
      while (high < blocks && y[high] >= y[b] - reach) ++high;
      crowd_[b] = static_cast<double>(panels_.first[high] - panels_.first[low]);
      if (high == blocks)
        for (std::size_t q = ranked_; q < items(); ++q)
          crowd_[b] += location_[q] > y[blocks - 1] - reach ? 1.0 : 0.0;
    }
  }

  double panel_width(double crowd) const {
    return noise_.width *
           std::min({1.0, kCrowdRoot / std::sqrt(crowd), kCrowdPower / std::pow(crowd, 1.4)});
  }

  // Multipliers of the constraints within a block.
  void set_tilts(const Block& own, double half) {
    auto& tilt = panels_.tilt;
    double total = 0.0;
    for (std::size_t j = own.first; j < own.last; ++j) {
      total -= density_gradient(own.y - location_[j]);
      tilt[j + 1] = total;
    }
    tilt[own.last] = 0.0;
    if (own.last == ranked_)
      for (std::size_t q = ranked_; q < items(); ++q)
        tilt[ranked_] += std::max(density_gradient(own.y - location_[q]), 0.0);
    for (std::size_t j = own.first + 1; j <= own.last; ++j)
      if (tilt[j] * half < kLeastTilt) tilt[j] = 0.0;
  }

  // log L_{k+1}(t).
  double log_rest(const TabulatedNoise& table, double t) const {
    double total = 0.0;
    for (std::size_t q = ranked_; q < items(); ++q) total += table.log_below(t - location_[q]);
    return total;
  }

  static double or_nothing(double log) { return log > -kInfinity ? log : 0.0; }
  double step_of_walk(int n) const { return noise_.width * (0.25 + 0.05 * n); }

  // log g_j(t), but for a constant.
  double log_tilted(const TabulatedNoise& table, std::size_t j, double y, double t) const {
    const double lean = panels_.tilt[j] - panels_.tilt[j + 1];
    return table.log_density(t - location_[j]) - lean * (t - y) -
           or_nothing(table.log_density(y - location_[j]));
  }

  // Below it the block adds nothing: a lower item of the block is faint there, and so all are.
  double left_end(const Block& own) const {
    const TabulatedNoise table(noise_);
    double reach = own.y;
    for (std::size_t j = own.first; j < own.last; ++j) {
      double t = own.y;
      for (int n = 0; n < kWalkSteps; ++n) {
        const double decayed = panels_.tilt[j] * std::max(reach - t, 0.0);
        if (log_tilted(table, j, own.y, t) - decayed < -kFaint) break;
        t -= step_of_walk(n);
      }
      reach = t;
    }
    if (own.last < ranked_) return reach;
    const double top = or_nothing(log_rest(table, own.y));
    double t = own.y;
    for (int n = 0; n < kWalkSteps && t >= reach; ++n) {
      if (log_rest(table, t) - panels_.tilt[ranked_] * (t - own.y) - top < -kFaint) break;
      t -= step_of_walk(n);
    }
    return std::max(reach, t);
  }

  // Above it the block adds nothing.
  double right_end(const Block& own) const {
    const TabulatedNoise table(noise_);
    double reach = own.y;
    for (std::size_t j = own.last; j-- > own.first;) {
      double t = own.y;
      for (int n = 0; n < kWalkSteps; ++n) {
        const double decayed = panels_.tilt[j + 1] * std::max(t - reach, 0.0);
        if (t > own.y && log_tilted(table, j, own.y, t) - decayed < -kFaint) break;
        t += step_of_walk(n);
      }
      reach = t;
    }
    return reach;
  }

  // The scale on which a block's densities change at its y, at most `width`. Next to a jump of a
  // density the tilts matter too, since the mass falls off like e^(-tilt t); and the crowd, since
  // the lowest of c items is about 1/c above the jump.
  double sharpest(const Block& own, double width, double crowd) const {
    const TabulatedNoise table(noise_);
    const double step = 1e-3 * noise_.width;
    double curvature = 0.0;
    bool jump = false;
    const std::size_t last = own.last == ranked_ ? items() : own.last;
    for (std::size_t j = own.first; j < last; ++j) {
      const double x = own.y - location_[j];
      bool near = x < table.low() + step || x > table.high() - step;
      for (const double kink : noise_.kinks) {
        near = near || std::abs(x - kink) < step;
        jump = jump || std::abs(x - kink) < width;
      }
      if (near) continue;
      const double rise = table.density_gradient(x - step) - table.density_gradient(x + step);
      curvature = std::max(curvature, rise / (2.0 * step));
    }
    double least = curvature > 0.0 ? std::min(width, 2.0 / std::sqrt(curvature)) : width;
    if (jump) {
      least = std::min(least, kJumpCrowd * noise_.width / crowd);
      for (std::size_t j = own.first + 1; j <= own.last; ++j)
        if (panels_.tilt[j] > 0.0) least = std::min(least, 3.0 / panels_.tilt[j]);
    }
    return std::max(least, 1e-9 * width);
  }

  // --- the panels themselves

  // Those of the blocks before b whose windows overlap, which share panels; far apart, there is
  // nothing between them: L and U are constant there. The first of these blocks.
  std::size_t lay_overlapping(std::size_t b) {
    std::size_t c = b - 1;
    double low = left_[c], high = right_[c], most = crowd_[c];
    while (c > 0 && left_[c - 1] <= high) {
      --c;
      low = std::min(low, left_[c]);
      high = std::max(high, right_[c]);
      most = std::max(most, crowd_[c]);
    }
    const double width = panel_width(most);
    if (normal_)
      set_even_ends(low, high, width);
    else
      set_graded_ends(low, high, width, {c, b});
    for (std::size_t d = c; d < b; ++d) panels_.span[d] = span_between(left_[d], right_[d]);
    const std::size_t number = ends_.size() - 1;
    for (std::size_t p = 0; p < number; ++p) {
      panels_.middle.push_back(0.5 * (ends_[p + 1] + ends_[p]));
      panels_.half.push_back(normal_ ? 0.5 * (high - low) / static_cast<double>(number)
                                     : 0.5 * (ends_[p + 1] - ends_[p]));
    }
    if (panels_.half.size() > kMostPanels) throw std::length_error("A list needs too many panels.");
    return c;
  }

  Range span_between(double left, double right) const {
    const std::size_t count = panels_.middle.size(), number = ends_.size() - 1;
    const auto index = [&](auto at) { return static_cast<std::size_t>(at - ends_.begin()); };
    std::size_t before = index(std::upper_bound(ends_.begin(), ends_.end(), left));
    before = before ? before - 1 : 0;
    std::size_t after =
        std::min(index(std::lower_bound(ends_.begin(), ends_.end(), right)), number);
    if (normal_) {
      before = before / 4 * 4;
      after = (after + 3) / 4 * 4;
    }
    return {count + before, count + after};
  }

  // Of equal panels, four or eight or ...: their columns are worked on in fours.
  void set_even_ends(double low, double high, double width) {
    const double fours = std::ceil(0.25 * (high - low) / width);
    if (!(fours < static_cast<double>(kMostPanels)))
      throw std::length_error("A list needs too many panels.");
    const std::size_t number = 4 * static_cast<std::size_t>(fours);
    ends_.resize(number + 1);
    for (std::size_t p = 0; p < number; ++p)
      ends_[p] = low + (high - low) * static_cast<double>(p) / static_cast<double>(number);
    ends_[number] = high;
  }

  // Of panels that are narrow next to the sharp blocks, and end at every kink.
  void set_graded_ends(double low, double high, double width, Range blocks) {
    set_cuts(low, high);
    ends_.assign(1, low);
    for (std::size_t c = 1; c < cuts_.size(); ++c) {
      while (ends_.back() < cuts_[c]) {
        const double t = ends_.back(), left = cuts_[c] - t;
        double step = width;
        for (std::size_t b = blocks.first; b < blocks.last; ++b)
          step = std::min(step, std::max(sharp_[b], 0.4 * std::abs(t - panels_.y[b])));
        const bool last = left <= step * (1.0 + 1e-9) || t + step == t;
        ends_.push_back(last ? cuts_[c] : t + std::min(step, 0.5 * left));
        if (ends_.size() > kMostPanels) throw std::length_error("A list needs too many panels.");
      }
    }
  }

  // `low` and `high`, and between them all points where some density has a kink, each once.
  void set_cuts(double low, double high) {
    cuts_ = {low, high};
    for (const double m : location_)
      for (const double kink : noise_.kinks)
        if (low < m + kink && m + kink < high) cuts_.push_back(m + kink);
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  }

  const Noise& noise_;
  bool normal_;
  Numbers location_;
  std::size_t ranked_;
  Panels& panels_;
  std::vector<double> crowd_, left_, right_, sharp_;  // of each block
  std::vector<double> ends_, cuts_;
};

}  // namespace

void lay_panels(const Noise& noise, Numbers location, std::size_t ranked, Panels& panels) {
  Layer(noise, location, ranked, panels).lay();
}

std::size_t room_for(const PanelView& panels, std::size_t items) {
  const std::size_t ranked = panels.ranked(), rest = items - ranked;
  const std::size_t rows = kNodes * (2 * ranked + rest + 4) + 2;
  return rows * panels.columns + ranked * (1 + sizeof(Weights) / sizeof(double));
}

std::size_t room_for_hessian(const PanelView& panels, std::size_t items) {
  const std::size_t ranked = panels.ranked();
  return room_for(panels, items) + ranked + kNodes * (ranked + items) * panels.columns;
}

}  // namespace juryrank
