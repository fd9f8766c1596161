// Hot files are compiled once for each level of CPU (x86-64-v2, v3 and v4; once elsewhere), and
// what runs is chosen when the module is loaded: see passes.hpp.
//
// Whatever they define stands in a namespace of its level, so that the linker cannot take a
// function for a newer CPU where one for an older CPU was meant. Other files see the level
// `baseline`.
#pragma once

#ifndef JURYRANK_LEVEL
#define JURYRANK_LEVEL baseline
#endif

#define JURYRANK_BEGIN_LEVEL \
  namespace juryrank {       \
  inline namespace JURYRANK_LEVEL {
#define JURYRANK_END_LEVEL \
  }                        \
  }
