#include "exponential_lists.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace juryrank {
namespace {

// Where a coefficient is next to nothing its multiplier may be any number, but must be one.
constexpr double kLargest = 1e200;

// Coefficients of p(part x) in place of those of p(x); `rest` is 1 - part.
void restrict_to(double part, double rest, Room c) {
  for (std::size_t r = 1; r < c.size(); ++r)
    for (std::size_t i = c.size() - 1; i >= r; --i) c[i] = rest * c[i - 1] + part * c[i];
}

// The transpose of that map.
void restrict_back(double part, double rest, Room c) {
  const std::size_t last = c.size() - 1;
  for (std::size_t r = last; r >= 1; --r) {
    c[r - 1] += rest * c[r];
    for (std::size_t i = r; i < last; ++i) c[i] = part * c[i] + rest * c[i + 1];
    c[last] *= part;
  }
}

double dot(Numbers a, Numbers b) {
  double total = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

// From the last item to the first, each turns a polynomial into one of a degree more. What it turns
// is kept, scaled so that it is 1 at 0, and for ranked items brought to [0, W_j].
class Polynomials {
 public:
  Polynomials(Numbers location, std::size_t ranked)
      : location_(location),
        ranked_(ranked),
        top_(ranked + 1),
        kept_(location.size() * (location.size() + 1) / 2) {
    const auto rest = location.begin() + static_cast<std::ptrdiff_t>(ranked);
    top_[ranked] =
        static_cast<std::size_t>(std::max_element(rest, location.end()) - location.begin());
    for (std::size_t j = ranked; j-- > 0;) top_[j] = location[j] > highest(j + 1) ? j : top_[j + 1];
  }

  double log_probability() {
    const std::size_t n = location_.size();
    of(n - 1)[0] = 1.0;
    for (std::size_t q = n - 1; q >= ranked_; --q) multiply(q);
    double log_p = 0.0;
    for (std::size_t j = ranked_; j-- > 0;) log_p += integrate(j);
    return log_p;
  }

  // d P = sum_l multiplier_l d p_l for the polynomials after each other, from the first item on.
  void set_gradient(Room gradient) {
    std::fill(gradient.begin(), gradient.end(), 0.0);
    std::vector<double> multiplier(location_.size() + 1, 0.0);
    multiplier[0] = 1.0;
    for (std::size_t j = 0; j < ranked_; ++j) integrate_back(j, multiplier, gradient);
    for (std::size_t q = ranked_; q < location_.size(); ++q) multiply_back(q, multiplier, gradient);
  }

 private:
  // What item i turns; of degree n - 1 - i.
  Room of(std::size_t i) {
    const std::size_t count = location_.size() - i;
    return Room(kept_).subspan(count * (count - 1) / 2, count);
  }
  double highest(std::size_t j) const { return location_[top_[j]]; }
  // exp(m_q - M) of an item of the rest.
  double fall(std::size_t q) const { return std::exp(location_[q] - highest(ranked_)); }

  // By 1 - fall x, whose coefficients are 1 and 1 - fall.
  void multiply(std::size_t q) {
    if (q == 0) return;
    const Room p = of(q), next = of(q - 1);
    const double end = -std::expm1(location_[q] - highest(ranked_));
    const std::size_t degree = p.size();
    const double over = 1.0 / static_cast<double>(degree);
    next[0] = p[0];
    for (std::size_t l = 1; l < degree; ++l) {
      const double share = static_cast<double>(l) * over;
      next[l] = (1.0 - share) * p[l] + share * end * p[l - 1];
    }
    next[degree] = end * p[degree - 1];
  }

  void multiply_back(std::size_t q, std::vector<double>& multiplier, Room gradient) {
    const Room p = of(q);
    const double end = -std::expm1(location_[q] - highest(ranked_));
    const std::size_t degree = p.size();
    const double over = 1.0 / static_cast<double>(degree);
    double of_end = 0.0;
    for (std::size_t l = 0; l < degree; ++l) {
      const double share = static_cast<double>(l + 1) * over;
      of_end += multiplier[l + 1] * share * p[l];
      const double kept = (1.0 - static_cast<double>(l) * over) * multiplier[l];
      multiplier[l] = kept + share * end * multiplier[l + 1];
    }
    const double push = fall(q) * of_end / rescaled(Room(multiplier).first(degree), p);
    gradient[q] += push;
    gradient[top_[ranked_]] -= push;
  }

  // What log P gains.
  double integrate(std::size_t j) {
    const Room p = of(j);
    if (top_[j] == j) {
      const double step = highest(j + 1) - location_[j];
      restrict_to(std::exp(step), -std::expm1(step), p);
    }
    double total = 0.0;
    for (const double each : p) total += each;
    if (j > 0) {
      const Room next = of(j - 1);
      double left = next[p.size()] = 0.0;
      for (std::size_t l = p.size(); l-- > 0;) next[l] = left += p[l];
      for (std::size_t l = 0; l < p.size(); ++l) next[l] /= total;
    }
    return location_[j] - highest(j) + std::log(total / static_cast<double>(p.size()));
  }

  void integrate_back(std::size_t j, std::vector<double>& all, Room gradient) {
    const Room p = of(j), multiplier = Room(all).first(p.size());
    double sum = 0.0;
    for (double& each : multiplier) each = sum += each;
    rescaled(multiplier, p);
    if (top_[j] != j) {
      gradient[j] -= 1.0;
      gradient[top_[j]] += 1.0;
      return;
    }
    // Where p is brought to a part c of its interval, dp / d log c = x p'.
    double push = 0.0;
    for (std::size_t l = 1; l < p.size(); ++l)
      push += static_cast<double>(l) * multiplier[l] * (p[l] - p[l - 1]);
    gradient[j] += push;
    gradient[top_[j + 1]] -= push;
    const double step = highest(j + 1) - location_[j];
    restrict_back(std::exp(step), -std::expm1(step), multiplier);
  }

  // Scales the multipliers so that their product with p is 1; what it was.
  double rescaled(Room multiplier, Numbers p) {
    const double total = dot(multiplier, p);
    for (double& each : multiplier) each = std::min(each / total, kLargest);
    return total;
  }

  Numbers location_;
  std::size_t ranked_;
  std::vector<std::size_t> top_;  // where the highest of the items from j on is
  std::vector<double> kept_;
};

}  // namespace

double exponential_pass(Numbers location, std::size_t ranked, Room gradient) {
  Polynomials polynomials(location, ranked);
  const double log_p = polynomials.log_probability();
  polynomials.set_gradient(gradient);
  return std::max(-log_p, 0.0);
}

}  // namespace juryrank
