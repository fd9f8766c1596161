// A stand-in until lists are in the core: plain Luce alone.
#include "lists.hpp"

#include <algorithm>
#include <cmath>

namespace juryrank {

void list_hessian(const OneList& list, const Effects&, Numbers, Room gradient, Matrix hessian) {
  const std::size_t h = list.location.size();
  std::fill_n(hessian.data, hessian.rows * hessian.columns, 0.0);
  std::fill_n(gradient.data(), h, 0.0);
  const std::size_t choices = h ? std::min(list.ranked, h - 1) : 0;
  for (std::size_t j = 0; j < choices; ++j) {
    double top = list.location[j], mass = 0.0;
    for (std::size_t i = j; i < h; ++i) top = std::max(top, list.location[i]);
    for (std::size_t i = j; i < h; ++i) mass += std::exp(list.location[i] - top);
    gradient[j] -= 1.0;
    for (std::size_t i = j; i < h; ++i) {
      const double p = std::exp(list.location[i] - top) / mass;
      gradient[i] += p;
      hessian.at(i, i) += p;
      for (std::size_t o = j; o < h; ++o)
        hessian.at(i, o) -= p * (std::exp(list.location[o] - top) / mass);
    }
  }
}

}  // namespace juryrank
