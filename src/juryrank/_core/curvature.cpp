#include "curvature.hpp"

#include <vector>

#include "list_curvature.hpp"
#include "pair_curvature.hpp"
#include "passes.hpp"
#include "touched.hpp"

namespace juryrank {
namespace {

class CurvaturePass {
 public:
  explicit CurvaturePass(const LikelihoodAt& at) : at_(at), work_(at.size), lists_(at) {}

  // C_u without the prior; A and b_u are added to.
  double add_judge(std::size_t judge);
  // Subtracts share b_u^2 from A, and forgets b_u.
  void profile(std::size_t judge, double share);
  void add_to(Room diagonal) const;

 private:
  // Next to each other, as both are looked up together.
  struct Unknown {
    double curvature, mixed;  // in A, in b_u
  };

  double add_pairs(std::size_t judge);
  void add_order(std::size_t judge, Range votes, const PairBlock& block);
  void add_tie(std::size_t judge, Range votes, const PairBlock& block);
  double add_lists(std::size_t judge);
  void add_list_ties(std::size_t judge);
  void profile(Unknown& unknown, double share) {
    unknown.curvature -= share * unknown.mixed * unknown.mixed;
    unknown.mixed = 0.0;
  }

  const LikelihoodAt& at_;
  std::vector<Unknown> work_;
  ListCurvature lists_;
};

double CurvaturePass::add_judge(std::size_t judge) {
  return add_pairs(judge) + (at_.lists ? add_lists(judge) : 0.0);
}

double CurvaturePass::add_pairs(std::size_t judge) {
  const double square = at_.accuracy[judge] * at_.accuracy[judge];
  const bool plain = at_.pairs_are_plain();
  double own = 0.0;
  over_blocks(at_, judge, passes().pair_curvature, [&](Range votes, const PairBlock& block) {
    for (std::size_t i = 0; i < votes.last - votes.first; ++i) {
      own += block.gap[i] * block.gap[i] * block.curvature[i];
      Unknown& up = work_[static_cast<std::size_t>(at_.pairs.winner[votes.first + i])];
      up.curvature += square * block.curvature[i];
      up.mixed += block.mixed[i];
      Unknown& down = work_[static_cast<std::size_t>(at_.pairs.loser[votes.first + i])];
      down.curvature += square * block.curvature[i];
      down.mixed -= block.mixed[i];
    }
    if (!plain && at_.pairs.side) add_order(judge, votes, block);
    if (!plain && at_.pairs.tied) add_tie(judge, votes, block);
  });
  return own;
}

void CurvaturePass::add_order(std::size_t judge, Range votes, const PairBlock& block) {
  double curvature = 0.0, mixed = 0.0;
  for (std::size_t i = 0; i < votes.last - votes.first; ++i) {
    const double side = (*at_.pairs.side)[votes.first + i];
    curvature += side * side * block.curvature[i];
    mixed += side * block.gap[i] * block.curvature[i];
  }
  for (const std::size_t index : touched_order(at_.index, judge)) {
    work_[index].curvature += curvature;
    work_[index].mixed += mixed;
  }
}

void CurvaturePass::add_tie(std::size_t judge, Range votes, const PairBlock& block) {
  double curvature = 0.0, mixed = 0.0;
  for (std::size_t i = 0; i < votes.last - votes.first; ++i) {
    curvature += block.tie_tie[i];
    mixed += block.gap[i] * block.x_tie[i];
  }
  for (const std::size_t index : touched_tie(at_.index, 0, judge)) {
    work_[index].curvature += curvature;
    work_[index].mixed += mixed;
  }
}

double CurvaturePass::add_lists(std::size_t judge) {
  const double accuracy = at_.accuracy[judge];
  const Range own_lists = at_.lists->lists_of(judge);
  double own = 0.0;
  for (std::size_t k = own_lists.first; k < own_lists.last; ++k) {
    lists_.look_at(judge, k);
    const Items items = lists_.items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const double along = lists_.along(i);
      Unknown& unknown = work_[static_cast<std::size_t>(items[i])];
      unknown.curvature += lists_.weight() * accuracy * accuracy * lists_.hessian(i, i);
      unknown.mixed += lists_.weight() * (lists_.gradient(i) + accuracy * along);
      own += lists_.weight() * lists_.score(i) * along;
    }
    add_list_ties(judge);
  }
  return own;
}

void CurvaturePass::add_list_ties(std::size_t judge) {
  const std::size_t length = lists_.length(), ties = lists_.ties();
  for (std::size_t t = 0; t < ties; ++t) {
    const double along = lists_.weight() * lists_.along(length + t);
    for (const std::size_t index : touched_tie(at_.index, t, judge)) work_[index].mixed += along;
    if (at_.index.tie)
      work_[*at_.index.tie + t].curvature +=
          lists_.weight() * lists_.hessian(length + t, length + t);
    if (!at_.index.own_tie) continue;
    // What a judge adds is added to the weight of every size.
    for (std::size_t r = 0; r < ties; ++r)
      work_[*at_.index.own_tie + judge].curvature +=
          lists_.weight() * lists_.hessian(length + t, length + r);
  }
}

void CurvaturePass::profile(std::size_t judge, double share) {
  const auto item = [&](std::int32_t code) {
    profile(work_[static_cast<std::size_t>(code)], share);  // a second visit changes nothing
  };
  const Range own = at_.pairs.of(judge);
  for (std::size_t k = own.first; k < own.last; ++k) {
    item(at_.pairs.winner[k]);
    item(at_.pairs.loser[k]);
  }
  if (at_.lists) {
    const Range entries = at_.lists->entries_of_judge(judge);
    for (std::size_t e = entries.first; e < entries.last; ++e) item(at_.lists->item[e]);
  }
  const std::size_t sizes = at_.effects ? at_.effects->sizes.size() : 0;
  for (std::size_t t = 0; t < sizes; ++t)
    for (const std::size_t index : touched_tie(at_.index, t, judge)) profile(work_[index], share);
  for (const std::size_t index : touched_order(at_.index, judge)) profile(work_[index], share);
}

void CurvaturePass::add_to(Room diagonal) const {
  for (std::size_t i = 0; i < work_.size(); ++i) diagonal[i] += work_[i].curvature;
}

}  // namespace

void add_curvature(const LikelihoodAt& at, const AccuracyRule& rule, Range judges, Room diagonal,
                   Room accuracy_curvature) {
  CurvaturePass pass(at);
  for (std::size_t u = judges.first; u < judges.last; ++u) {
    const double own = rule.precision + pass.add_judge(u);
    accuracy_curvature[u] = own;
    pass.profile(u, rule.free && own > 0.0 ? 1.0 / own : 0.0);
  }
  pass.add_to(diagonal);
}

}  // namespace juryrank
