// Cells, crowds and the coding of votes, for Python.
#include "bindings.hpp"
#include "bound_votes.hpp"

namespace juryrank {

void bind_cells(nb::module_&) {}

}  // namespace juryrank
