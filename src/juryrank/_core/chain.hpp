// A Markov chain whose states are draws from the posterior; chain.py states the model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "metric.hpp"
#include "opinions.hpp"
#include "random.hpp"
#include "votes_pass.hpp"

namespace juryrank {

struct GammaPrior {
  double shape, rate;
};

struct Priors {
  GammaPrior score, accuracy, taste, own;  // of the scales
  double backwards, forwards;              // the share of backwards judges ~ Beta
  std::vector<double> degrees;             // those that tastes may have, all as likely
  double effect_sd;                        // of the effects of all judges
};

struct Scales {
  double score, accuracy, taste;
  std::vector<double> own;  // of what sets single judges apart in ties and sides
  double degrees, backwards;
};

// What stands where among the effects: some are those of all judges, and runs of one for each judge
// begin at `own`.
struct EffectLayout {
  std::size_t size;
  std::vector<std::int64_t> common, own;
};

// What does not change.
struct Setting {
  std::size_t n_items, n_judges;
  Opinions opinions;
  Juries juries;
  EffectLayout effects;
  std::vector<double> fixed_accuracy;  // empty if accuracies are estimated
  std::vector<double> say;             // of each judge in which end is up
  Priors priors;
};

// Where the chain begins.
struct Start {
  Numbers score, effects, accuracy;
  Scales scales;
};

// About how much votes tell of each unknown where the others are held: second derivatives.
struct Precision {
  Numbers own;     // of the judges' unknowns
  Numbers common;  // of the common effects
  Numbers score;   // items x items, or a diagonal
};

enum Move {
  kJudges,
  kScores,
  kJumps,
  kCamps,
  kUnits,
  kScaleDraws,
  kTogether,
  kGaugeMove,
  kAllTurned,
  kJuriesTurned,
  kTurnedWithOpinions,
  kTurned,
  kMoves
};

struct Tally {
  double accepted = 0.0, tried = 0.0;
  void add(bool yes) {
    accepted += yes;
    tried += 1.0;
  }
};

// The state of a chain: two vectors hold the unknowns but for the scales, `own` those of judges
// (tastes, then theta if accuracies are free, then own effects), `common` the scores and the
// effects of all judges.
class Chain {
 public:
  Chain(Setting setting, std::unique_ptr<VotesPass> votes, const Start& start, std::uint64_t seed);

  // Choose the metric by what votes tell where the chain is.
  void measure(const Precision& told);
  // All moves, one after the other.
  void round();

  const Setting& setting() const { return setting_; }
  const Scales& scales() const { return scales_; }
  const VotesAt& here() const { return here_; }
  std::size_t rounds() const { return rounds_; }
  std::size_t n_own() const { return own_.size(); }
  Numbers score() const { return Numbers(common_).first(n_); }
  Numbers taste() const { return Numbers(own_).first(cells_); }
  Numbers theta() const { return Numbers(own_).subspan(cells_, free_ ? m_ : 0); }
  std::vector<double> opinion() const;
  std::vector<double> accuracy() const;
  std::vector<double> effects() const;
  double loss() const;
  const std::array<Tally, kMoves>& tallies() const { return tally_; }
  void stop_adapting() { adapting_ = false; }

  // The likelihood where the chain is, worked out anew.
  VotesAt votes_anew();
  // The space of `move_together`: where the chain is in it; its potential and its gradient.
  std::vector<double> position_together() const;
  double potential_together(Numbers position, std::span<double> gradient);

 private:
  class Together;

  // --- the unknowns (chain.cpp)
  void set_accuracy(Numbers theta, std::span<double> found) const;
  void set_state(Numbers own, Numbers common);
  bool leads_somewhere() const;
  void look_up(Numbers own, Numbers common, bool values, VotesAt& found);
  VotesAt room() const;
  void own_gradient(const VotesAt& votes, Numbers own, std::span<double> found) const;
  void common_gradient(const VotesAt& votes, std::span<double> found) const;
  void own_precision(std::span<double> found) const;

  // --- judges, and scores (judges.cpp, scores.cpp)
  void move_judges();
  void keep_moves_of_judges();
  void move_scores();
  void jump_with_opinions_held();
  void score_weights(Numbers opinion, Numbers score, std::span<double> found);
  void jump_between_camps();
  void gains_if_raised(const Raise& raise, std::span<double> found);
  std::size_t item_to_jump();
  void set_scores(Numbers score, Numbers opinion);
  void move_scores_with_opinions_held();
  void move_units_of_judges();
  void move_origins_of_judges();
  void from_centre(std::span<double> found) const;
  void stretch_gradients(std::size_t judge, double factor);

  // --- scales (scales.cpp)
  void log_densities(Numbers taste, std::span<double> found) const;
  void draw_precisions();
  void draw_precisions_of(std::size_t first, std::size_t last);
  void draw_scales();
  double drawn_scale(const GammaPrior& prior, double square, std::size_t count, double old);
  void move_together();
  void move_gauge();
  void stretch_scores(double c);

  // --- which end is up (sides.cpp)
  void draw_sides();
  void relabel();
  void turn_all(double& backwards, double& forwards);
  void turn_juries();
  void turn_with_opinions();
  void turn_judges();
  double log_odds_of_backwards() const;

  Setting setting_;
  std::unique_ptr<VotesPass> votes_;
  std::size_t n_, m_, cells_, size_;  // items, judges, tastes, opinions
  bool free_;
  Random random_;
  std::vector<double> own_, common_, side_, mixing_;
  std::vector<std::size_t> owner_;  // the judge of each of its own unknowns
  Scales scales_;
  VotesAt here_, there_;  // the likelihood where the chain is, and where a move has led

  std::vector<double> told_of_own_, told_in_units_;
  Metric metric_, metric_in_units_;
  std::vector<double> step_of_judges_, step_of_units_;
  double step_of_scores_ = 0.5, step_together_ = 0.2, step_of_gauge_ = 0.3;
  std::size_t rounds_ = 0;
  bool adapting_ = true;
  std::array<Tally, kMoves> tally_{};

  // Room for what moves work with.
  std::vector<double> state_, accuracy_;
  std::vector<double> position_, momentum_, gradient_, velocity_, prior_, mass_, step_;
  std::vector<double> by_cell_, by_cell2_, by_cell3_, by_judge_, by_item_, by_item2_, by_item3_;
  std::vector<char> accepted_;
};

// What the log-density of the logarithm of a scale gains if the scale is multiplied.
double prior_gain(const GammaPrior& prior, double scale, double factor);

}  // namespace juryrank
