#include "opinions.hpp"

#include <numeric>

namespace juryrank {
namespace {

// Where each group of codes begins, if they are sorted, and the last one ends.
std::vector<std::size_t> begins(Codes code, std::size_t groups) {
  std::vector<std::size_t> begin(groups + 1, 0);
  for (const std::int64_t c : code) ++begin[static_cast<std::size_t>(c) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  return begin;
}

}  // namespace

Opinions::Opinions(Codes items, Codes judges, std::size_t n_items, std::size_t n_judges)
    : item(items.begin(), items.end()),
      judge(judges.begin(), judges.end()),
      begin(begins(judges, n_judges)) {
  if (judge.empty()) return;
  item_begin_ = begins(items, n_items);
  by_item_.resize(item.size());
  judge_by_item_.resize(item.size());
  std::vector<std::size_t> next(item_begin_.begin(), item_begin_.end() - 1);
  for (std::size_t cell = 0; cell < item.size(); ++cell) {
    const std::size_t at = next[static_cast<std::size_t>(item[cell])]++;
    by_item_[at] = static_cast<std::int64_t>(cell);
    judge_by_item_[at] = judge[cell];
  }
}

Codes Opinions::of_item(std::size_t i) const {
  return Codes(by_item_).subspan(item_begin_[i], item_begin_[i + 1] - item_begin_[i]);
}

Codes Opinions::judges_of_item(std::size_t i) const {
  return Codes(judge_by_item_).subspan(item_begin_[i], item_begin_[i + 1] - item_begin_[i]);
}

}  // namespace juryrank
