// Opinions: what each judge thinks of each item it has seen, m_ui = s_i + b_ui.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "votes_pass.hpp"

namespace juryrank {

// Who has an opinion of what, judge by judge. In the plain model all judges have the scores in
// common: `item` counts the items, and `judge` is empty.
class Opinions {
 public:
  Opinions(Codes item, Codes judge, std::size_t n_items, std::size_t n_judges);

  std::size_t size() const { return item.size(); }
  std::size_t tastes() const { return judge.size(); }
  // Those of one item, and their judges.
  Codes of_item(std::size_t i) const;
  Codes judges_of_item(std::size_t i) const;

  std::vector<std::int64_t> item, judge;
  std::vector<std::size_t> begin;  // where the opinions of each judge begin, and the last ones end

 private:
  std::vector<std::size_t> item_begin_;
  std::vector<std::int64_t> by_item_, judge_by_item_;
};

// Judges and items that are connected: who has voted on an item is in its jury.
struct Juries {
  std::vector<std::int64_t> item, judge;
  std::size_t number;
};

}  // namespace juryrank
