#include "list_curvature.hpp"

#include <algorithm>

#include "lists.hpp"

namespace juryrank {
namespace {

constexpr Effects kNoEffects{{}, {}, {}, false};

}  // namespace

ListCurvature::ListCurvature(const LikelihoodAt& at) : at_(at) {
  std::size_t longest = 0;
  for (std::size_t k = 0; at.lists && k < at.lists->number(); ++k) {
    const Range entries = at.lists->entries_of(k);
    longest = std::max(longest, entries.last - entries.first);
  }
  for (auto* room : {&score_, &location_, &gradient_}) room->resize(longest);
  const std::size_t most = longest + (at.effects ? at.effects->sizes.size() : 0);
  hessian_.resize(most * most);
}

Items ListCurvature::items() const {
  return at_.lists->item.subspan(at_.lists->entries_of(list_).first, length_);
}

void ListCurvature::look_at(std::size_t judge, std::size_t list) {
  const ListVotes& lists = *at_.lists;
  const Range entries = lists.entries_of(list);
  list_ = list;
  length_ = entries.last - entries.first;
  for (std::size_t i = 0; i < length_; ++i) {
    score_[i] = at_.score[static_cast<std::size_t>(lists.item[entries.first + i])];
    location_[i] = at_.accuracy[judge] * score_[i];
  }
  const bool other_noise = at_.likeness || at_.ready;
  const Effects& effects = at_.effects && !other_noise ? *at_.effects : kNoEffects;
  ties_ = effects.sizes.size();
  if (at_.ready) return take_ready();
  const OneList one{{location_.data(), length_},
                    lists.level.subspan(entries.first, length_),
                    static_cast<std::size_t>(lists.ranked[list])};
  const Numbers tie = ties_ ? effects.tie_of(judge) : Numbers();
  list_hessian(one, effects, tie, {gradient_.data(), length_}, {hessian_.data(), size(), size()});
  if (at_.likeness)
    for (std::size_t k = 0; k < size() * size(); ++k) hessian_[k] *= (*at_.likeness)[list];
}

void ListCurvature::take_ready() {
  const std::size_t entry = at_.lists->entries_of(list_).first;
  std::copy_n(at_.ready->gradient.data() + entry, length_, gradient_.data());
  std::copy_n(at_.ready->hessian.data() + at_.ready->begin[list_], length_ * length_,
              hessian_.data());
}

double ListCurvature::along(std::size_t i) const {
  double total = 0.0;
  for (std::size_t j = 0; j < length_; ++j) total += hessian(i, j) * score_[j];
  return total;
}

}  // namespace juryrank
