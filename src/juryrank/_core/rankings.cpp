#include "rankings.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "luce.hpp"

namespace juryrank {
namespace {

template <typename T>
std::vector<T> copied(std::span<const T> values) {
  return {values.begin(), values.end()};
}

}  // namespace

Rankings::Rankings(const ListVotes& votes, std::optional<Pairs> pairs, std::size_t opinions,
                   Ties ties, const EffectIndex& effects)
    : start_(copied(votes.start)),
      begin_(copied(votes.begin)),
      item_(copied(votes.item)),
      level_(copied(votes.level)),
      ranked_(copied(votes.ranked)),
      weight_(copied(votes.weight)),
      pairs_(std::move(pairs)),
      ties_(std::move(ties)),
      effects_(effects) {
  std::size_t longest = 0;
  for (std::size_t k = 0; k < ranked_.size(); ++k) {
    const Range in = votes.entries_of(k);
    longest = std::max(longest, in.last - in.first);
  }
  location_.resize(longest * kLanes);
  in_lanes_.resize(longest * kLanes);
  gradient_.resize(item_.size());
  loss_.resize(ranked_.size());
  is_ready_.resize(ranked_.size());
  for (auto* room : {&tie_, &tie_gradient_, &of_list_}) room->resize(ties_.sizes.size());
  index_by_opinion(opinions);
  if (ties_.sizes.empty()) fill_lanes();
}

void Rankings::fill_lanes() {
  const ListVotes all = lists();
  std::map<std::pair<std::size_t, std::size_t>, Group> open;  // by length and number ranked
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> filled;
  for (std::size_t u = 0; u < all.judges(); ++u) {
    const Range own = all.lists_of(u);
    for (std::size_t k = own.first; k < own.last; ++k) {
      const Range in = all.entries_of(k);
      const auto kind = std::pair(in.last - in.first, static_cast<std::size_t>(ranked_[k]));
      Group& group = open[kind];
      std::size_t& lane = filled[kind];
      group.list[lane] = static_cast<std::uint32_t>(k);
      group.judge[lane] = static_cast<std::uint32_t>(u);
      if (++lane < kLanes) continue;
      lane = 0;
      group.length = kind.first;
      group.ranked = kind.second;
      group.item.resize(group.length * kLanes);
      for (std::size_t e = 0; e < group.length; ++e)
        for (std::size_t l = 0; l < kLanes; ++l)
          group.item[e * kLanes + l] = item_[all.entries_of(group.list[l]).first + e];
      groups_.push_back(group);
    }
  }
}

void Rankings::index_by_opinion(std::size_t opinions) {
  const ListVotes all = lists();
  lists_begin_.assign(opinions + 1, 0);
  for (const std::int32_t i : item_) ++lists_begin_[static_cast<std::size_t>(i) + 1];
  std::partial_sum(lists_begin_.begin(), lists_begin_.end(), lists_begin_.begin());
  lists_of_.resize(item_.size());
  judge_of_.resize(item_.size());
  std::vector<std::size_t> next(lists_begin_.begin(), lists_begin_.end() - 1);
  for (std::size_t u = 0; u < all.judges(); ++u) {
    const Range own = all.lists_of(u);
    for (std::size_t k = own.first; k < own.last; ++k) {
      const Range in = all.entries_of(k);
      for (std::size_t e = in.first; e < in.last; ++e) {
        const std::size_t at = next[static_cast<std::size_t>(item_[e])]++;
        lists_of_[at] = static_cast<std::uint32_t>(k);
        judge_of_[at] = static_cast<std::uint32_t>(u);
      }
    }
  }
}

bool Rankings::are_of(const Opinions& opinions) const {
  if (pairs_ && !pairs_->are_of(opinions)) return false;
  for (std::size_t opinion = 0; opinion + 1 < lists_begin_.size(); ++opinion)
    for (std::size_t at = lists_begin_[opinion]; at < lists_begin_[opinion + 1]; ++at)
      if (opinions.judge[opinion] != static_cast<std::int64_t>(judge_of_[at])) return false;
  return true;
}

void Rankings::at(Numbers state, Numbers accuracy, bool values, VotesAt& found) {
  if (pairs_) {
    pairs_->at(state, accuracy, values, found);
  } else {
    std::fill(found.state.begin(), found.state.end(), 0.0);
    std::fill(found.accuracy.begin(), found.accuracy.end(), 0.0);
    std::fill(found.value.begin(), found.value.end(), 0.0);
  }
  lanes_at(state, accuracy, values);
  const ListVotes all = lists();
  for (std::size_t u = 0; u < all.judges(); ++u) judge_at(all, u, state, accuracy[u], found);
}

void Rankings::lanes_at(Numbers state, Numbers accuracy, bool values) {
  for (const Group& group : groups_) {
    double own[kLanes], loss[kLanes] = {};
    for (std::size_t l = 0; l < kLanes; ++l) own[l] = accuracy[group.judge[l]];
    for (std::size_t e = 0; e < group.item.size(); ++e)
      location_[e] = own[e % kLanes] * state[index(group.item[e])];
    const bool ready = luce_pass_in_lanes(
        {group.length, group.ranked, location_.data(), in_lanes_.data(), values ? loss : nullptr});
    for (std::size_t l = 0; l < kLanes; ++l) {
      const std::size_t k = group.list[l];
      is_ready_[k] = ready;
      if (!ready) continue;
      loss_[k] = loss[l];
      double* gradient = gradient_.data() + begin_[k];
      for (std::size_t e = 0; e < group.length; ++e) gradient[e] = in_lanes_[e * kLanes + l];
    }
  }
}

void Rankings::judge_at(const ListVotes& all, std::size_t judge, Numbers state, double accuracy,
                        VotesAt& found) {
  const Range own = all.lists_of(judge);
  if (own.first == own.last) return;
  set_tie(judge, state);
  std::fill(tie_gradient_.begin(), tie_gradient_.end(), 0.0);
  const Effects effects{ties_.sizes, tie_, {}, ties_.as_one};
  double value = 0.0, of_accuracy = 0.0;
  for (std::size_t k = own.first; k < own.last; ++k) {
    const Range in = all.entries_of(k);
    const std::size_t length = in.last - in.first;
    const std::int32_t* item = item_.data() + in.first;
    const Room gradient = Room(gradient_).subspan(in.first, length);
    if (!is_ready_[k]) {
      for (std::size_t e = 0; e < length; ++e) location_[e] = accuracy * state[item[e]];
      const OneList list{Numbers(location_).first(length), all.level.subspan(in.first, length),
                         static_cast<std::size_t>(ranked_[k])};
      std::fill(of_list_.begin(), of_list_.end(), 0.0);
      loss_[k] = list_pass(list, effects, tie_, gradient, of_list_);
    }
    const double weight = weight_[k];
    value += weight * loss_[k];
    for (std::size_t t = 0; t < of_list_.size(); ++t) tie_gradient_[t] += weight * of_list_[t];
    for (std::size_t e = 0; e < length; ++e) {
      const double pull = weight * gradient[e];
      of_accuracy += pull * state[item[e]];
      found.state[item[e]] += accuracy * pull;
    }
  }
  found.value[judge] += value;
  found.accuracy[judge] += of_accuracy;
  add_tie_gradient(judge, found);
}

void Rankings::set_tie(std::size_t judge, Numbers state) {
  const double own = effects_.own_tie ? state[*effects_.own_tie + judge] : 0.0;
  for (std::size_t t = 0; t < tie_.size(); ++t)
    tie_[t] = (effects_.tie ? state[*effects_.tie + t] : 0.0) + own;
}

void Rankings::add_tie_gradient(std::size_t judge, VotesAt& found) const {
  for (std::size_t t = 0; t < tie_gradient_.size(); ++t) {
    if (effects_.tie) found.state[*effects_.tie + t] += tie_gradient_[t];
    if (effects_.own_tie) found.state[*effects_.own_tie + judge] += tie_gradient_[t];
  }
}

double Rankings::loss(const ListVotes& all, std::size_t k, Numbers state, double accuracy,
                      std::size_t raised, double by) {
  const Range in = all.entries_of(k);
  const std::size_t length = in.last - in.first;
  for (std::size_t e = 0; e < length; ++e) {
    const auto i = static_cast<std::size_t>(item_[in.first + e]);
    location_[e] = accuracy * (i == raised ? state[i] + by : state[i]);
  }
  const OneList list{Numbers(location_).first(length), all.level.subspan(in.first, length),
                     static_cast<std::size_t>(ranked_[k])};
  const Effects effects{ties_.sizes, tie_, {}, ties_.as_one};
  return weight_[k] * list_pass(list, effects, tie_, Room(gradient_).first(length), of_list_);
}

void Rankings::rise(const VotesAt& here, Numbers state, Numbers accuracy, const Raise& raise,
                    std::span<double> change) {
  std::fill(change.begin(), change.end(), 0.0);
  if (pairs_) pairs_->rise(here, state, accuracy, raise, change);
  const ListVotes all = lists();
  for (std::size_t c = 0; c < raise.cells.size(); ++c) {
    const auto cell = static_cast<std::size_t>(raise.cells[c]);
    const auto judge = static_cast<std::size_t>(raise.judge[c]);
    set_tie(judge, state);
    for (std::size_t at = lists_begin_[cell]; at < lists_begin_[cell + 1]; ++at) {
      if (judge_of_[at] != judge) continue;
      const std::size_t k = lists_of_[at];
      change[c] += loss(all, k, state, accuracy[judge], cell, raise.by) -
                   loss(all, k, state, accuracy[judge], cell, 0.0);
    }
  }
}

}  // namespace juryrank
