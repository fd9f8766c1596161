// Room to work in: on the stack where little is needed. It begins with anything in it.
#pragma once

#include <cstddef>
#include <memory>

#include "arrays.hpp"

namespace juryrank {

class Scratch {
 public:
  explicit Scratch(std::size_t size) : size_(size) {
    if (size > kFew) many_ = std::make_unique_for_overwrite<double[]>(size);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // The next so many numbers; all together no more than was asked for.
  Room take(std::size_t count) {
    const Room room(data() + taken_, count);
    taken_ += count;
    return room;
  }
  Matrix take(std::size_t rows, std::size_t columns) {
    return {take(rows * columns).data(), rows, columns};
  }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kFew = 256;
  double* data() { return many_ ? many_.get() : few_; }

  std::size_t size_, taken_ = 0;
  double few_[kFew];
  std::unique_ptr<double[]> many_;
};

}  // namespace juryrank
