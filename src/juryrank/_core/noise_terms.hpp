// A noise, pointwise.
#pragma once

#include "noise.hpp"

JURYRANK_BEGIN_LEVEL

// Sets g(x), g'(x) and g''(x) for g = -log F.
void noise_terms(const Noise& noise, Numbers x, Room value, Room gradient, Room curvature);

JURYRANK_END_LEVEL
