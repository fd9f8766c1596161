// Sums over votes on pairs, for Python.
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "bound_votes.hpp"
#include "passes.hpp"

namespace juryrank {
namespace {

void bound_noise_terms(const BoundNoise& noise, const Row<double>& x, const RoomRow& value,
                       const RoomRow& gradient, const RoomRow& curvature) {
  check_size("value", value.shape(0), x.shape(0));
  check_size("gradient", gradient.shape(0), x.shape(0));
  check_size("curvature", curvature.shape(0), x.shape(0));
  const nb::gil_scoped_release released;
  passes().noise_terms(noise.noise(), span_of(x), room_of(value), room_of(gradient),
                       room_of(curvature));
}

}  // namespace

void bind_passes(nb::module_& m) {
  m.attr("cpu_level") = level();
  m.def("noise_terms", &bound_noise_terms, "noise"_a, "x"_a.noconvert(), "value"_a.noconvert(),
        "gradient"_a.noconvert(), "curvature"_a.noconvert());
}

}  // namespace juryrank
