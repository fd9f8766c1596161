// Lists, for Python.
#include "bindings.hpp"
#include "bound_votes.hpp"

namespace juryrank {

void bind_lists(nb::module_&) {}

}  // namespace juryrank
