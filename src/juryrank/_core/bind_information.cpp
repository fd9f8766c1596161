// Curvature and information, for Python.
#include "bindings.hpp"
#include "bound_votes.hpp"

namespace juryrank {

void bind_information(nb::module_&) {}

}  // namespace juryrank
