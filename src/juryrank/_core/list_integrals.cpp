#include "list_integrals.hpp"

#include <cmath>
#include <cstddef>

#include "elementary.hpp"
#include "lanes.hpp"
#include "one_noise.hpp"

// Values at the nodes of a block's panels stand in a row for each node and a column for each panel,
// so that sums over the nodes run over many panels at once. Rows are filled up to whole lanes with
// panels of no width.
namespace juryrank::JURYRANK_LEVEL {
namespace {

constexpr double kForwardFrom = 16.0;  // the decay from where the recurrence upwards is stable
constexpr double kSmallestChance = 1e-300;
constexpr double kNothing = 1e-120;
constexpr double kLogRootTwoPi = 0.9189385332046728;
constexpr double kRootTwo = 1.4142135623730951, kRootHalf = 0.7071067811865476;

double larger(double a, double b) { return a > b ? a : b; }

double largest(const double* values, std::size_t whole) {
  double lane[kLanes];
  for (std::size_t l = 0; l < kLanes; ++l) lane[l] = values[l];
  for (std::size_t i = kLanes; i < whole; i += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) lane[l] = larger(values[i + l], lane[l]);
  double top = lane[0];
  for (std::size_t l = 1; l < kLanes; ++l) top = larger(lane[l], top);
  return top;
}

// --- integrals with a decaying factor ------------------------------------------------------------

// The moments I_m(x) = int_{-1}^x e^(-decay (x - v)) P_m(v) dv of the Legendre polynomials obey,
// since (2m+1) P_m = P'_{m+1} - P'_{m-1},
//
//   decay I_{m+1} + (2m+1) I_m - decay I_{m-1} = P_{m+1}(x) - P_{m-1}(x).
//
// `moments` begins with I_0; upwards this is stable for large decays.
void set_moments_upwards(const Quadrature& q, double decay, const double* left,
                         double (&moments)[kOrders + 1][kTargetsRow]) {
  const double over = 1.0 / decay;
  for (std::size_t i = 0; i < kTargetsRow; ++i)
    moments[1][i] = (q.node[i] + left[i] - moments[0][i]) * over;
  for (std::size_t m = 1; m + 1 < kNodes; ++m) {
    const auto odd = static_cast<double>(2 * m + 1);
    for (std::size_t i = 0; i < kTargetsRow; ++i)
      moments[m + 1][i] = moments[m - 1][i] + (q.step[m][i] - odd * moments[m][i]) * over;
  }
}

// For small ones it is solved from above, where the moments are next to nothing.
void set_moments_downwards(const Quadrature& q, double decay,
                           double (&moments)[kOrders + 1][kTargetsRow]) {
  double ratio[kOrders + 1] = {};
  for (std::size_t i = 0; i < kTargetsRow; ++i) moments[kOrders][i] = 0.0;
  for (std::size_t m = kOrders - 1; m > 0; --m) {
    const double inverse = 1.0 / (static_cast<double>(2 * m + 1) + decay * ratio[m + 1]);
    ratio[m] = decay * inverse;
    for (std::size_t i = 0; i < kTargetsRow; ++i)
      moments[m][i] = (q.step[m][i] - decay * moments[m + 1][i]) * inverse;
  }
  for (std::size_t m = 1; m < kNodes; ++m)
    for (std::size_t i = 0; i < kTargetsRow; ++i) moments[m][i] += ratio[m] * moments[m - 1][i];
}

// Weights of int_{-1}^x e^(-decay (x - v)) p(v) dv on the values of p at the nodes.
void set_decaying_weights(const Quadrature& q, double decay, Weights& weights) {
  double moments[kOrders + 1][kTargetsRow];
  double* left = weights[kNodes];
  for (std::size_t i = 0; i < kTargetsRow; ++i) {
    left[i] = std::exp(-decay * (1.0 + q.node[i]));
    moments[0][i] = -std::expm1(-decay * (1.0 + q.node[i])) / decay;
  }
  if (decay >= kForwardFrom)
    set_moments_upwards(q, decay, left, moments);
  else
    set_moments_downwards(q, decay, moments);
  for (std::size_t j = 0; j < kNodes; ++j) {
    double total[kTargetsRow] = {};
    for (std::size_t m = 0; m < kNodes; ++m)
      for (std::size_t i = 0; i < kTargetsRow; ++i) total[i] += q.lagrange[m][j] * moments[m][i];
    for (std::size_t i = 0; i < kTargetsRow; ++i) weights[j][i] = total[i];
  }
}

// Integrals from a panel's end backwards have the mirror image of these weights.
std::size_t mirrored(std::size_t at, bool backwards) {
  return backwards && at < kNodes ? kNodes - 1 - at : at;
}

// --- one block's panels --------------------------------------------------------------------------

struct Block {
  std::size_t first, last;    // its panels
  std::size_t panels, whole;  // how many, and with those of no width
  double y;
};

// The integral within each panel, from its start to each of its nodes and to its end.
void integrate_panels(const Weights& weights, bool backwards, const Block& block,
                      std::size_t columns, const double* width, const double* source, double* out) {
  for (std::size_t p = 0; p < block.whole; p += kLanes) {
    EachLane value[kNodes], own;
    for (std::size_t j = 0; j < kNodes; ++j)
      set_lanes(value[j], source + mirrored(j, backwards) * columns + p);
    set_lanes(own, width + p);
    for (std::size_t i = 0; i < kTargets; ++i) {
      EachLane total{};
      for (std::size_t j = 0; j < kNodes; ++j) total += weights[j][i] * value[j];
      keep_lanes(own * total, out + mirrored(i, backwards) * columns + p);
    }
  }
}

// Adds to each panel's integrals what came before it; the last row becomes that. The whole.
double chain_panels(const Weights& weights, bool backwards, const Block& block, std::size_t columns,
                    double* out) {
  double *starts = out + kNodes * columns, start = 0.0;
  for (std::size_t n = 0; n < block.panels; ++n) {
    const std::size_t p = backwards ? block.panels - 1 - n : n;
    const double own = starts[p];
    starts[p] = start;
    start = start * weights[kNodes][kNodes] + own;
  }
  for (std::size_t i = 0; i < kNodes; ++i) {
    const double left = weights[kNodes][mirrored(i, backwards)];
    double* row = out + i * columns;
    for (std::size_t p = 0; p < block.whole; ++p) row[p] += left * starts[p];
  }
  return start;
}

// --- the chain -----------------------------------------------------------------------------------

class Chain {
 public:
  explicit Chain(const PanelChain& chain)
      : noise_(chain.noise),
        normal_(chain.noise.family == Family::normal),
        location_(chain.location),
        panels_(chain.panels),
        ranked_(chain.panels.ranked()),
        columns_(chain.panels.columns),
        size_(kNodes * columns_),
        next_(chain.room.data()),
        quadrature_(quadrature()) {
    density_ = take(ranked_ * size_);
    inner_ = take(ranked_ * size_);
    hazard_ = take((location_.size() - ranked_) * size_);
    running_ = take(size_ + columns_);
    carried_ = take(size_);
    product_ = take(size_);
    nodes_ = take(size_);
    width_ = take(columns_);
    shrunk_ = take(ranked_);
    kept_weights_ = reinterpret_cast<Weights*>(take(ranked_ * sizeof(Weights) / sizeof(double)));
    for (std::size_t i = 0; i < size_ + columns_; ++i) running_[i] = 0.0;
    for (std::size_t i = 0; i < size_; ++i) carried_[i] = product_[i] = 0.0;
  }

  // From the last item to the first: L, of which only inner_j = g_j L_{j+1} is kept. log P.
  double down() {
    std::size_t b = panels_.y.size() - 1;
    enter(b);
    double log_p = normal_ ? set_rest_if_normal() : set_rest();
    for (std::size_t j = ranked_; j-- > 0;) {
      while (j < panels_.first[b]) enter(--b);
      double *g = density_ + j * size_, *inner = inner_ + j * size_;
      log_p += normal_ ? set_density_if_normal(j, g) : set_density(j, g);
      multiply(g, carried_, inner);
      // Upwards, item j - 1 has the decay and the panels that item j has downwards.
      if (panels_.tilt[j] > 0.0 && even_)
        set_decaying_weights(quadrature_, panels_.tilt[j] * width_[0], kept_weights_[j]);
      const double end = integrate(j, false, inner);
      if (j > 0)
        shrunk_[j] = carry(end, panels_.tilt[j] > 0.0, true, j > panels_.first[b] ? b : b - 1);
      else
        shrunk_[j] = larger(end, kSmallestChance);
      log_p += std::log(shrunk_[j]);
    }
    return log_p;
  }

  // Keeps U of every item, for second derivatives.
  void keep_all_above() {
    above_ = take(ranked_ * size_);
    total_ = take(ranked_);
    products_ = take(location_.size() * size_);
  }

  // From the first to the last: U, and the coincidences of neighbours.
  void up(Room gradient) {
    for (double& each : gradient) each = 0.0;
    for (std::size_t i = 0; i < size_; ++i) carried_[i] = 1.0;
    for (std::size_t j = 0, b = 0; j < ranked_; ++j) {
      if (j == panels_.first[b + 1]) ++b;
      if (j == panels_.first[b]) enter(b);
      const double* inner = inner_ + j * size_;
      const double total = larger(sum(carried_, inner), kSmallestChance);
      if (above_) keep_above(j, total);
      if (j + 1 == ranked_) {
        meet_rest(j, inner, total, gradient);
        break;
      }
      multiply(carried_, density_ + j * size_, product_);
      const std::size_t below = j + 1 < panels_.first[b + 1] ? b : b + 1;
      const double meet = sum_of_both(below, inner_ + (j + 1) * size_) / (total * shrunk_[j + 1]);
      gradient[j] -= meet;
      gradient[j + 1] += meet;
      const double end = integrate(j + 1, true, product_);
      carry(end, panels_.tilt[j + 1] > 0.0, false, below);
    }
  }

  // Under normal noise moving item i changes log f(y_i - m_i) by y_i - m_i, so that with a_i, that
  // minus its mean given the ranking,
  //
  //   d^2 -log P / dm_i dm_j = [i = j] - E(a_i a_j);
  //
  // of the rest, F(y_k - m_q) takes the place of f, and its hazard r_q that of y_q - m_q. Given
  // y_j, what is above does not depend on what is below: E(a_i a_j) is int U_j f_j a_j L^i_{j+1} /
  // P, with L^i as L but for a factor a_i at item i. `gradient` is that of -log P.
  void set_hessian(Numbers gradient, Matrix hessian) {
    std::size_t b = panels_.y.size() - 1;
    enter(b);
    look_at_rest(gradient, hessian);
    for (std::size_t j = ranked_; j-- > 0;) {
      while (j < panels_.first[b]) enter(--b);
      for (std::size_t i = j + 1; i < location_.size() && j + 1 < ranked_; ++i)
        multiply(density_ + j * size_, products_ + i * size_, products_ + i * size_);
      meet_all(j, gradient[j], hessian);
      if (j == 0) break;
      for (std::size_t i = j; i < location_.size(); ++i) {
        double* product = products_ + i * size_;
        const double end = integrate(j, false, product);
        move(1.0 / shrunk_[j], end, true, j > panels_.first[b] ? b : b - 1, product);
      }
    }
  }

 private:
  void keep_above(std::size_t j, double total) {
    for (std::size_t i = 0; i < size_; ++i) above_[j * size_ + i] = carried_[i];
    total_[j] = total;
  }

  // E(a_i a_j) of all items i below j, and of j itself; sets its own product.
  void meet_all(std::size_t j, double gradient, Matrix hessian) {
    const double shift = block_.y - location_[j] + gradient;
    const double *above = above_ + j * size_, *inner = inner_ + j * size_;
    double *own = products_ + j * size_, *with = product_;
    for (std::size_t i = 0; i < size_; ++i) {
      const double a = nodes_[i] + shift;
      with[i] = above[i] * a;
      own[i] = inner[i] * a;
    }
    for (std::size_t i = j; i < location_.size(); ++i) {
      const double both = sum(with, products_ + i * size_) / total_[j];
      hessian.at(i, j) = hessian.at(j, i) = (i == j ? 1.0 : 0.0) - both;
    }
  }

  // Sets the products of the items of the rest, and their second derivatives.
  void look_at_rest(Numbers gradient, Matrix hessian) {
    const std::size_t last = ranked_ - 1;
    const double *above = above_ + last * size_, *inner = inner_ + last * size_;
    for (std::size_t q = ranked_; q < location_.size(); ++q) {
      double *own = products_ + q * size_, *hazard = hazard_ + (q - ranked_) * size_;
      for (std::size_t i = 0; i < size_; ++i) own[i] = inner[i] * (gradient[q] - hazard[i]);
    }
    for (std::size_t q = ranked_; q < location_.size(); ++q) {
      const double* hazard = hazard_ + (q - ranked_) * size_;
      const double shift = block_.y - location_[q];
      for (std::size_t i = 0; i < size_; ++i) product_[i] = above[i] * (gradient[q] - hazard[i]);
      for (std::size_t o = ranked_; o <= q; ++o) {
        const double both = sum(product_, products_ + o * size_) / total_[last];
        hessian.at(q, o) = hessian.at(o, q) = -both;
      }
      // F'' / F is not the square of F' / F.
      for (std::size_t i = 0; i < size_; ++i)
        product_[i] = above[i] * hazard[i] * (hazard[i] + nodes_[i] + shift);
      hessian.at(q, q) += sum(product_, inner) / total_[last];
    }
  }

  double* take(std::size_t count) {
    double* found = next_;
    next_ += count;
    return found;
  }

  Block block_of(std::size_t b) const {
    const Range span = panels_.span[b];
    const std::size_t panels = span.last - span.first;
    return {span.first, span.last, panels, whole_rows(panels), panels_.y[b]};
  }

  // Works on the panels of a block from now on: nodes are measured from its y.
  void enter(std::size_t b) {
    block_ = block_of(b);
    even_ = true;
    for (std::size_t p = 0; p < columns_; ++p) {
      const bool real = p < block_.panels;
      width_[p] = real ? panels_.half[block_.first + p] : 0.0;
      even_ = even_ && (!real || width_[p] == width_[0]);
    }
    for (std::size_t i = 0; i < kNodes; ++i)
      for (std::size_t p = 0; p < columns_; ++p)
        nodes_[i * columns_ + p] =
            p < block_.panels
                ? (panels_.middle[block_.first + p] - block_.y) + width_[p] * quadrature_.node[i]
                : 0.0;
  }

  // Sets g = e^(-lean (t - y)) f(t - m) up to a constant, whose logarithm it is. The square is
  // completed: g is a bell around y + shift.
  double set_density_if_normal(std::size_t j, double* __restrict g) const {
    const double lean = panels_.tilt[j] - panels_.tilt[j + 1], away = location_[j] - block_.y;
    const double shift = away - lean;
    const double* nodes = nodes_;
    for (std::size_t i = 0; i < size_; ++i) {
      const double d = nodes[i] - shift;
      g[i] = exp_minus(0.5 * d * d);
    }
    return -0.5 * away * away + 0.5 * shift * shift - kLogRootTwoPi;
  }

  double set_density(std::size_t j, double* __restrict g) const {
    const TabulatedNoise table(noise_);
    const double lean = panels_.tilt[j] - panels_.tilt[j + 1], above = block_.y - location_[j];
    const double at_y = table.log_density(above), peak = at_y > -kInfinity ? at_y : 0.0;
    for (std::size_t i = 0; i < size_; ++i)
      g[i] = exp_of(table.log_density(nodes_[i] + above) - lean * nodes_[i] - peak);
    return peak;
  }

  // Sets carried = e^(-lean (t - y)) L_{k+1}(t), scaled to at most 1 but for factors that are
  // numbers, and the hazards f_q / F_q of each item of the rest. The logarithm of the scale.
  double set_rest_if_normal() {
    double *log_l = carried_, *product = product_;
    start_rest(log_l, product);
    for (std::size_t q = ranked_; q < location_.size(); ++q) {
      add_normal_below(block_.y - location_[q], log_l, product, hazard_ + (q - ranked_) * size_);
      if ((q - ranked_) % 16 != 15) continue;
      for (std::size_t i = 0; i < size_; ++i) {
        log_l[i] += log_of_normal(product[i]);
        product[i] = 1.0;
      }
    }
    return scale_rest(log_l, product);
  }

  double set_rest() {
    const TabulatedNoise table(noise_);
    double *log_l = carried_, *product = product_;
    start_rest(log_l, product);
    for (std::size_t q = ranked_; q < location_.size(); ++q) {
      double* hazard = hazard_ + (q - ranked_) * size_;
      for (std::size_t i = 0; i < size_; ++i) {
        const double x = nodes_[i] + (block_.y - location_[q]);
        const double log_below = table.log_below(x);
        log_l[i] += log_below;
        hazard[i] = log_below > -kInfinity ? exp_of(table.log_density(x) - log_below) : 0.0;
      }
    }
    return scale_rest(log_l, product);
  }

  void start_rest(double* log_l, double* product) const {
    const double lean = panels_.tilt[ranked_];
    for (std::size_t i = 0; i < size_; ++i) {
      log_l[i] = -lean * nodes_[i];
      product[i] = 1.0;
    }
  }

  double scale_rest(double* __restrict log_l, const double* __restrict product) const {
    const double top = largest(log_l, size_);
    for (std::size_t i = 0; i < size_; ++i) log_l[i] = product[i] * exp_minus(top - log_l[i]);
    return top;
  }

  // With a = |x| / sqrt 2 and q as for pairs, F(-|x|) = e^(-a^2) / (2 sqrt(pi) (a + q)).
  void add_normal_below(double above, double* __restrict log_l, double* __restrict product,
                        double* __restrict hazard) const {
    const double* nodes = nodes_;
    for (std::size_t i = 0; i < size_; ++i) {
      const double x = nodes[i] + above, a = kRootHalf * std::abs(x);
      const double tail = a + Normal::q(a);
      const double over = 1.0 / (Normal::kTwoRootPi * tail);
      const double below = exp_minus(a * a) * over;
      const bool under = x < 0.0;
      log_l[i] -= under ? a * a : 0.0;
      product[i] *= under ? over : 1.0 - below;
      hazard[i] = kRootTwo * tail * (under ? 1.0 : below / (1.0 - below));
    }
  }

  void multiply(const double* one, const double* other, double* out) const {
    for (std::size_t i = 0; i < kNodes; ++i)
      for (std::size_t p = 0; p < block_.whole; ++p)
        out[i * columns_ + p] = one[i * columns_ + p] * other[i * columns_ + p];
  }

  // int e^(-tilt_j |t - v|) source(v) dv over v below t (above, if backwards), into `running`.
  double integrate(std::size_t j, bool backwards, const double* source) {
    const double decay = panels_.tilt[j];
    if (decay > 0.0 && !even_) return integrate_uneven(decay, backwards, source);
    const Weights* weights = decay > 0.0 ? &kept_weights_[j] : &quadrature_.plain;
    integrate_panels(*weights, backwards, block_, columns_, width_, source, running_);
    return chain_panels(*weights, backwards, block_, columns_, running_);
  }

  // Over panels of different widths, one by one.
  double integrate_uneven(double decay, bool backwards, const double* source) {
    Weights weights;
    double known = 0.0, start = 0.0;
    for (std::size_t n = 0; n < block_.panels; ++n) {
      const std::size_t p = backwards ? block_.panels - 1 - n : n;
      if (known != width_[p]) set_decaying_weights(quadrature_, decay * width_[p], weights);
      known = width_[p];
      double total[kTargetsRow] = {};
      for (std::size_t k = 0; k < kNodes; ++k)
        for (std::size_t i = 0; i < kTargetsRow; ++i)
          total[i] += weights[k][i] * source[mirrored(k, backwards) * columns_ + p];
      for (std::size_t i = 0; i < kTargets; ++i)
        running_[mirrored(i, backwards) * columns_ + p] =
            width_[p] * total[i] + start * weights[kNodes][i];
      start = running_[kNodes * columns_ + p];
    }
    return start;
  }

  // Scales `running` to at most 1, and carries it to the panels of another block. What it was
  // divided by.
  double carry(double end, bool decays, bool upwards, std::size_t b) {
    double top = larger(end, kSmallestChance);  // without decay an integral is largest at its end
    for (std::size_t i = 0; decays && i < kNodes; ++i)
      top = larger(largest(running_ + i * columns_, block_.whole), top);
    move(1.0 / top, end, upwards, b, carried_);
    return top;
  }

  // Beyond its own panels `running` stays at its end, before them it is 0. What is far too small to
  // matter becomes 0: numbers next to underflow are slow to compute with.
  void move(double factor, double end, bool upwards, std::size_t b, double* out) const {
    const Block other = block_of(b);
    const std::size_t from = other.first > block_.first ? other.first : block_.first;
    const std::size_t to = other.last < block_.last ? other.last : block_.last;
    if (from > other.first || to < other.last) fill_outside(other, end * factor, upwards, out);
    for (std::size_t i = 0; from < to && i < kNodes; ++i) {
      double* here = out + i * columns_ + (from - other.first);
      const double* there = running_ + i * columns_ + (from - block_.first);
      for (std::size_t p = 0; p < to - from; ++p) {
        const double scaled = there[p] * factor;
        here[p] = std::abs(scaled) > kNothing ? scaled : 0.0;
      }
    }
  }

  void fill_outside(const Block& other, double end, bool upwards, double* out) const {
    for (std::size_t p = 0; p < other.panels; ++p) {
      const double value = (p + other.first >= block_.last) == upwards ? end : 0.0;
      for (std::size_t i = 0; i < kNodes; ++i) out[i * columns_ + p] = value;
    }
  }

  // int one(t) other(t) dt over the block's panels.
  double sum(const double* one, const double* other) const {
    double total = 0.0;
    for (std::size_t i = 0; i < kNodes; ++i) {
      const double *left = one + i * columns_, *right = other + i * columns_;
      double lane[kLanes] = {};
      for (std::size_t p = 0; p < block_.whole; p += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l)
          lane[l] += width_[p + l] * left[p + l] * right[p + l];
      total += quadrature_.weight[i] * sum_of_lanes(lane);
    }
    return total;
  }

  // int product(t) inner(t) dt, the latter on the panels of another block.
  double sum_of_both(std::size_t b, const double* inner) const {
    const Block other = block_of(b);
    if (other.first == block_.first && other.last == block_.last) return sum(product_, inner);
    const std::size_t from = other.first > block_.first ? other.first : block_.first;
    const std::size_t to = other.last < block_.last ? other.last : block_.last;
    double total = 0.0;
    for (std::size_t i = 0; from < to && i < kNodes; ++i) {
      const double* left = product_ + i * columns_ + (from - block_.first);
      const double* right = inner + i * columns_ + (from - other.first);
      const double* width = width_ + (from - block_.first);
      double part = 0.0;
      for (std::size_t p = 0; p < to - from; ++p) part += width[p] * left[p] * right[p];
      total += quadrature_.weight[i] * part;
    }
    return total;
  }

  void meet_rest(std::size_t j, const double* inner, double total, Room gradient) {
    multiply(carried_, inner, product_);
    for (std::size_t q = ranked_; q < location_.size(); ++q) {
      const double meet = sum(product_, hazard_ + (q - ranked_) * size_) / total;
      gradient[j] -= meet;
      gradient[q] += meet;
    }
  }

  const Noise& noise_;
  bool normal_;
  Numbers location_;
  const PanelView& panels_;
  std::size_t ranked_, columns_, size_;
  double* next_;
  const Quadrature& quadrature_;
  double *density_, *inner_, *hazard_, *running_, *carried_, *product_, *nodes_, *width_, *shrunk_;
  double *above_ = nullptr, *total_ = nullptr, *products_ = nullptr;
  Weights* kept_weights_;  // of decaying integrals to each item, where panels are even
  Block block_{};
  bool even_ = true;
};

}  // namespace

double panel_chain(const PanelChain& task, Room gradient) {
  Chain chain(task);
  const double log_p = chain.down();
  chain.up(gradient);
  return larger(-log_p, 0.0);
}

double panel_hessian(const PanelChain& task, Room gradient, Matrix hessian) {
  Chain chain(task);
  chain.keep_all_above();
  const double log_p = chain.down();
  chain.up(gradient);
  chain.set_hessian(gradient, hessian);
  return larger(-log_p, 0.0);
}

}  // namespace juryrank::JURYRANK_LEVEL
