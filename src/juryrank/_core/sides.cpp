// Which judges vote backwards, and with them which end is up.
#include <algorithm>
#include <cmath>

#include "accuracies.hpp"
#include "chain.hpp"
#include "elementary.hpp"

namespace juryrank {
namespace {

// Rounds after which single judges may be turned round.
constexpr std::size_t kTurnEvery = 5;

}  // namespace

double Chain::log_odds_of_backwards() const {
  return log_of(scales_.backwards / (1.0 - scales_.backwards));
}

void Chain::draw_sides() {
  relabel();
  double backwards = 0.0, forwards = 0.0;  // judges, each as far as it has a say
  for (std::size_t u = 0; u < m_; ++u) (side_[u] < 0.0 ? backwards : forwards) += setting_.say[u];
  turn_all(backwards, forwards);
  // The turn was drawn with pi integrated out, so that pi must be drawn before it is used.
  const Priors& priors = setting_.priors;
  scales_.backwards = random_.beta(priors.backwards + backwards, priors.forwards + forwards);
  if (setting_.juries.number > 1) turn_juries();
  if (cells_) turn_with_opinions();
  if (rounds_ % kTurnEvery == 0) turn_judges();
}

// Whether a judge near 0 is a backwards one, its accuracy being what it is.
void Chain::relabel() {
  const double odds = log_odds_of_backwards();
  for (std::size_t u = 0; u < m_; ++u) {
    double& theta = own_[cells_ + u];
    const double size = accuracies::magnitude(theta);
    if (!(std::abs(size) < accuracies::kShift)) continue;
    const double as_it_is = accuracies::log_density(size, scales_.accuracy);
    const double other =
        setting_.say[u] * odds * side_[u] + accuracies::log_density(-size, scales_.accuracy);
    if (random_.uniform() < 1.0 / (1.0 + exp_of(as_it_is - other))) {
      side_[u] = -side_[u];
      theta = accuracies::theta_of(-size);
    }
  }
}

// (-s, -b, -k), the share of backwards judges integrated out.
void Chain::turn_all(double& backwards, double& forwards) {
  const Priors& priors = setting_.priors;
  const double gain = log_beta(priors.backwards + forwards, priors.forwards + backwards) -
                      log_beta(priors.backwards + backwards, priors.forwards + forwards);
  const bool accepted = log_of(random_.uniform()) < gain;
  tally_[kAllTurned].add(accepted);
  if (!accepted) return;
  for (double& side : side_) side = -side;
  for (std::size_t k = 0; k < cells_; ++k) own_[k] = -own_[k];
  stretch_scores(-1.0);
  std::swap(backwards, forwards);
}

// (-s, -b, -k) of the judges and items of one jury.
void Chain::turn_juries() {
  const Juries& juries = setting_.juries;
  const double odds = log_odds_of_backwards();
  std::vector<double> gain(juries.number, 0.0), sign(juries.number, 1.0);
  for (std::size_t u = 0; u < m_; ++u)
    gain[static_cast<std::size_t>(juries.judge[u])] += setting_.say[u] * side_[u];
  for (std::size_t j = 0; j < juries.number; ++j) {
    const bool accepted = log_of(random_.uniform()) < gain[j] * odds;
    tally_[kJuriesTurned].add(accepted);
    if (accepted) sign[j] = -1.0;
  }
  const auto of_item = [&](std::size_t i) {
    return sign[static_cast<std::size_t>(juries.item[i])];
  };
  const auto of_judge = [&](std::size_t u) {
    return sign[static_cast<std::size_t>(juries.judge[u])];
  };
  for (std::size_t u = 0; u < m_; ++u) {
    side_[u] *= of_judge(u);
    here_.accuracy[u] *= of_judge(u);
  }
  for (std::size_t k = 0; k < cells_; ++k) own_[k] *= of_judge(owner_[k]);
  for (std::size_t i = 0; i < n_; ++i) common_[i] *= of_item(i);
  for (std::size_t k = 0; k < size_; ++k)
    here_.state[k] *= of_item(static_cast<std::size_t>(setting_.opinions.item[k]));
}

// Turn single judges round together with their opinions, so that votes stay as likely.
//
// m'_ui = 2 c_u - m_ui with c_u the mean score of the judge's items; the precisions of its tastes
// are integrated out, and drawn anew.
void Chain::turn_with_opinions() {
  const std::span<double> turned(by_cell_), old_density(by_cell2_), new_density(by_cell3_);
  const double odds = log_odds_of_backwards();
  from_centre(turned);
  for (std::size_t k = 0; k < cells_; ++k) turned[k] = -2.0 * turned[k] - own_[k];
  log_densities(taste(), old_density);
  log_densities(turned, new_density);
  for (std::size_t u = 0; u < m_; ++u) {
    const std::size_t first = setting_.opinions.begin[u], last = setting_.opinions.begin[u + 1];
    double gain = setting_.say[u] * odds * side_[u];
    for (std::size_t k = first; k < last; ++k) gain += new_density[k] - old_density[k];
    const bool accepted = log_of(random_.uniform()) < gain;
    tally_[kTurnedWithOpinions].add(accepted);
    if (!accepted) continue;
    side_[u] = -side_[u];
    std::copy(turned.begin() + static_cast<std::ptrdiff_t>(first),
              turned.begin() + static_cast<std::ptrdiff_t>(last),
              own_.begin() + static_cast<std::ptrdiff_t>(first));
    draw_precisions_of(first, last);
    stretch_gradients(u, -1.0);
  }
}

// Turn single judges round, their opinions held.
void Chain::turn_judges() {
  const double odds = log_odds_of_backwards();
  for (double& side : side_) side = -side;
  look_up(own_, common_, true, there_);
  bool any = false;
  for (std::size_t u = 0; u < m_; ++u) {
    const double gain = here_.value[u] - there_.value[u] - setting_.say[u] * odds * side_[u];
    const bool accepted = log_of(random_.uniform()) < gain;
    tally_[kTurned].add(accepted);
    if (!accepted) side_[u] = -side_[u];
    any = any || accepted;
  }
  if (any) look_up(own_, common_, true, here_);
}

}  // namespace juryrank
