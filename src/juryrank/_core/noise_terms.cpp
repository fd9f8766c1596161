#include "noise_terms.hpp"

#include <cmath>

namespace juryrank::JURYRANK_LEVEL {

void noise_terms(const Noise& noise, Numbers x, Room value, Room gradient, Room curvature) {
  with_family(noise, [&](const auto& family) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double at = x[k];
      const Tail tail = family.tail(std::abs(at));
      value[k] = family.value(at, tail);
      gradient[k] = gradient_of(at, tail);
      curvature[k] = family.curvature(at, tail);
    }
  });
}

}  // namespace juryrank::JURYRANK_LEVEL
