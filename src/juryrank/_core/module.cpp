// Python's view of the core.
#include "bindings.hpp"
#include "passes.hpp"

NB_MODULE(_core, m) {
  // What is alive when Python ends is not lost, and nobody else's business.
  nanobind::set_leak_warnings(false);
  juryrank::choose_level();
  juryrank::bind_votes(m);
  juryrank::bind_passes(m);
  juryrank::bind_sums(m);
  juryrank::bind_lists(m);
  juryrank::bind_information(m);
  juryrank::bind_cells(m);
  juryrank::bind_chain(m);
}
