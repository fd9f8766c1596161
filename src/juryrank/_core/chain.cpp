#include "chain.hpp"

#include <algorithm>
#include <cmath>

#include "accuracies.hpp"
#include "cpus.hpp"
#include "elementary.hpp"

namespace juryrank {
namespace {

// Accuracy times opinion, in log-odds, beyond which no votes lead.
constexpr double kFarthest = 500.0;
// Rounds after which everything is moved together.
constexpr std::size_t kTogetherEvery = 2;
// Rounds after which a score may jump between camps, once the chain has found its place.
constexpr std::size_t kCampsEvery = 4;
constexpr double kFirstStepOfJudges = 0.7, kFirstStepOfUnits = 0.3;

double mean(Numbers values) {
  double total = 0.0;
  for (const double value : values) total += value;
  return total / static_cast<double>(values.size());
}

// The largest of the absolute values; NaN if one of them is. In lanes, so that it vectorises.
JURYRANK_FOR_MORE_CPUS
double largest(Numbers values) {
  constexpr std::size_t kLanes = 8;
  double most[kLanes] = {}, nothing[kLanes] = {};
  const std::size_t whole = values.size() - values.size() % kLanes;
  for (std::size_t k = 0; k < whole; k += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double size = std::abs(values[k + l]);
      most[l] = size > most[l] ? size : most[l];
      nothing[l] += 0.0 * size;  // NaN for NaN, and for infinity, which is too large as well
    }
  for (std::size_t k = whole; k < values.size(); ++k) {
    most[0] = std::max(most[0], std::abs(values[k]));
    nothing[0] += 0.0 * values[k];
  }
  double found = 0.0;
  for (std::size_t l = 0; l < kLanes; ++l) found = std::max(found, most[l]) + nothing[l];
  return found;
}

}  // namespace

Chain::Chain(Setting setting, std::unique_ptr<VotesPass> votes, const Start& start,
             std::uint64_t seed)
    : setting_(std::move(setting)),
      votes_(std::move(votes)),
      n_(setting_.n_items),
      m_(setting_.n_judges),
      cells_(setting_.opinions.tastes()),
      size_(setting_.opinions.size()),
      free_(setting_.fixed_accuracy.empty()),
      random_(seed),
      own_(cells_, 0.0),
      side_(m_),
      mixing_(cells_, 1.0),
      scales_(start.scales),
      step_of_judges_(m_, kFirstStepOfJudges),
      step_of_units_(m_, kFirstStepOfUnits),
      accuracy_(m_),
      by_judge_(m_),
      accepted_(m_) {
  const EffectLayout& layout = setting_.effects;
  for (std::size_t u = 0; u < m_; ++u) side_[u] = start.accuracy[u] < 0.0 ? -1.0 : 1.0;
  if (free_)
    for (const double g : start.accuracy) own_.push_back(accuracies::theta_of(std::abs(g)));
  for (const std::int64_t first : layout.own)
    for (std::size_t u = 0; u < m_; ++u)
      own_.push_back(start.effects[static_cast<std::size_t>(first) + u]);
  const double centre = mean(start.score);
  for (const double s : start.score) common_.push_back(s - centre);
  for (const std::int64_t at : layout.common)
    common_.push_back(start.effects[static_cast<std::size_t>(at)]);
  for (const std::int64_t u : setting_.opinions.judge)
    owner_.push_back(static_cast<std::size_t>(u));
  for (std::size_t run = 0; run < free_ + layout.own.size(); ++run)
    for (std::size_t u = 0; u < m_; ++u) owner_.push_back(u);
  state_.resize(size_ + layout.size);
  for (auto* cells : {&by_cell_, &by_cell2_, &by_cell3_}) cells->resize(cells_);
  for (auto* items : {&by_item_, &by_item2_, &by_item3_}) items->resize(n_);
  const std::size_t all = own_.size() + common_.size() + 3;
  for (auto* each : {&position_, &momentum_, &gradient_, &velocity_, &prior_, &mass_, &step_})
    each->resize(all);
  here_ = room();
  there_ = room();
  look_up(own_, common_, true, here_);
}

// --- the unknowns --------------------------------------------------------------------------------

void Chain::set_accuracy(Numbers theta, std::span<double> found) const {
  if (!free_) {
    std::copy(setting_.fixed_accuracy.begin(), setting_.fixed_accuracy.end(), found.begin());
    return;
  }
  for (std::size_t u = 0; u < m_; ++u) found[u] = side_[u] * accuracies::magnitude(theta[u]);
}

std::vector<double> Chain::accuracy() const {
  std::vector<double> found(m_);
  set_accuracy(theta(), found);
  return found;
}

std::vector<double> Chain::opinion() const {
  std::vector<double> found(common_.begin(), common_.begin() + static_cast<std::ptrdiff_t>(n_));
  if (!cells_) return found;
  found.resize(cells_);
  for (std::size_t c = 0; c < cells_; ++c)
    found[c] = common_[static_cast<std::size_t>(setting_.opinions.item[c])] + own_[c];
  return found;
}

std::vector<double> Chain::effects() const {
  const EffectLayout& layout = setting_.effects;
  std::vector<double> found(layout.size);
  for (std::size_t k = 0; k < layout.common.size(); ++k)
    found[static_cast<std::size_t>(layout.common[k])] = common_[n_ + k];
  auto next = own_.begin() + static_cast<std::ptrdiff_t>(cells_ + (free_ ? m_ : 0));
  for (const std::int64_t first : layout.own) {
    std::copy_n(next, m_, found.begin() + first);
    next += static_cast<std::ptrdiff_t>(m_);
  }
  return found;
}

double Chain::loss() const {
  double total = 0.0;
  for (const double value : here_.value) total += value;
  return total;
}

// Opinions and effects, as the votes see them, and accuracies.
void Chain::set_state(Numbers own, Numbers common) {
  const EffectLayout& layout = setting_.effects;
  if (cells_) {
    for (std::size_t c = 0; c < cells_; ++c)
      state_[c] = common[static_cast<std::size_t>(setting_.opinions.item[c])] + own[c];
  } else {
    std::copy_n(common.begin(), n_, state_.begin());
  }
  for (std::size_t k = 0; k < layout.common.size(); ++k)
    state_[size_ + static_cast<std::size_t>(layout.common[k])] = common[n_ + k];
  std::size_t next = cells_ + (free_ ? m_ : 0);
  for (const std::int64_t first : layout.own)
    for (std::size_t u = 0; u < m_; ++u)
      state_[size_ + static_cast<std::size_t>(first) + u] = own[next++];
  set_accuracy(own.subspan(cells_, free_ ? m_ : 0), accuracy_);
}

bool Chain::leads_somewhere() const {
  return largest(accuracy_) * largest(Numbers(state_).first(size_)) < kFarthest;
}

VotesAt Chain::room() const {
  return {std::vector<double>(m_), std::vector<double>(size_ + setting_.effects.size),
          std::vector<double>(m_)};
}

// The likelihood at a point; not a number where a move has lost its way, so that it is not
// accepted.
void Chain::look_up(Numbers own, Numbers common, bool values, VotesAt& found) {
  set_state(own, common);
  if (leads_somewhere()) {
    votes_->at(state_, accuracy_, values, found);
    return;
  }
  for (auto* lost : {&found.value, &found.state, &found.accuracy})
    std::fill(lost->begin(), lost->end(), kNan);
}

VotesAt Chain::votes_anew() {
  VotesAt found = room();
  look_up(own_, common_, true, found);
  return found;
}

// Of the likelihood in the judges' unknowns.
void Chain::own_gradient(const VotesAt& votes, Numbers own, std::span<double> found) const {
  std::copy_n(votes.state.begin(), cells_, found.begin());
  std::size_t next = cells_;
  if (free_)
    for (std::size_t u = 0; u < m_; ++u, ++next)
      found[next] = votes.accuracy[u] * side_[u] * accuracies::gradient(own[next]);
  for (const std::int64_t first : setting_.effects.own)
    for (std::size_t u = 0; u < m_; ++u)
      found[next++] = votes.state[size_ + static_cast<std::size_t>(first) + u];
}

// Of the likelihood in the common unknowns.
void Chain::common_gradient(const VotesAt& votes, std::span<double> found) const {
  if (cells_) {
    std::fill_n(found.begin(), n_, 0.0);
    for (std::size_t c = 0; c < cells_; ++c)
      found[static_cast<std::size_t>(setting_.opinions.item[c])] += votes.state[c];
  } else {
    std::copy_n(votes.state.begin(), n_, found.begin());
  }
  const auto& common = setting_.effects.common;
  for (std::size_t k = 0; k < common.size(); ++k)
    found[n_ + k] = votes.state[size_ + static_cast<std::size_t>(common[k])];
}

// Of the prior of the judges' unknowns.
void Chain::own_precision(std::span<double> found) const {
  const double of_tastes = 1.0 / (scales_.taste * scales_.taste);
  for (std::size_t c = 0; c < cells_; ++c) found[c] = mixing_[c] * of_tastes;
  std::size_t next = cells_;
  if (free_)
    for (std::size_t u = 0; u < m_; ++u)
      found[next++] = 1.0 / (scales_.accuracy * scales_.accuracy);
  for (const double sd : scales_.own)
    for (std::size_t u = 0; u < m_; ++u) found[next++] = 1.0 / (sd * sd);
}

// --- the metric ----------------------------------------------------------------------------------

void Chain::measure(const Precision& told) {
  const double of_effects = 1.0 / (setting_.priors.effect_sd * setting_.priors.effect_sd);
  const double square = scales_.score * scales_.score;
  std::vector<double> common(told.common.begin(), told.common.end());
  for (double& precision : common) precision += of_effects;
  told_of_own_.assign(told.own.begin(), told.own.end());
  for (std::size_t u = 0; free_ && u < m_; ++u) {  // of accuracies, now of theta
    const double gradient = accuracies::gradient(theta()[u]);
    told_of_own_[cells_ + u] *= gradient * gradient;
  }
  metric_ = Metric(told.score, n_, 1.0, 1.0 / square, common);
  metric_in_units_ = Metric(told.score, n_, square, 1.0, common);
  told_in_units_ = told_of_own_;
  for (std::size_t c = 0; c < cells_; ++c) told_in_units_[c] *= scales_.taste * scales_.taste;
  for (std::size_t u = 0; free_ && u < m_; ++u)
    told_in_units_[cells_ + u] *= scales_.accuracy * scales_.accuracy;
}

// --- one round -----------------------------------------------------------------------------------

void Chain::round() {
  if (!own_.empty()) move_judges();
  move_scores();
  if (cells_) {
    jump_with_opinions_held();
    if (adapting_ || rounds_ % kCampsEvery == 0) jump_between_camps();
    if (free_) move_units_of_judges();
    draw_precisions();
    move_origins_of_judges();
    move_scores_with_opinions_held();
  }
  draw_scales();
  if (rounds_ % kTogetherEvery == 0) move_together();
  if (free_) {
    move_gauge();
    draw_sides();
  }
  ++rounds_;
}

}  // namespace juryrank
