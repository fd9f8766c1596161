#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "passes.hpp"

#ifdef JURYRANK_HAS_LEVELS
#ifdef _MSC_VER
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

namespace juryrank {
namespace {

// What a level is called, and its passes.
struct Level {
  std::string name;
  const Passes* passes;
};

// Passes of the baseline, but for integrals over rankings, which take long: nothing is fused in
// them, so that the bits are the same at every level.
Passes portable_at(const Level& level) {
  Passes found = baseline::kPasses;
  found.panel_chain = level.passes->panel_chain;
  found.panel_hessian = level.passes->panel_hessian;
  return found;
}

#ifdef JURYRANK_HAS_LEVELS
struct Registers {
  std::uint32_t a, b, c, d;
};

// Asked directly, since the compilers' own functions for it need libraries that not all have.
Registers cpuid(std::uint32_t leaf) {
  Registers found{};
#ifdef _MSC_VER
  int all[4];
  __cpuidex(all, static_cast<int>(leaf), 0);
  found = {static_cast<std::uint32_t>(all[0]), static_cast<std::uint32_t>(all[1]),
           static_cast<std::uint32_t>(all[2]), static_cast<std::uint32_t>(all[3])};
#else
  __get_cpuid_count(leaf, 0, &found.a, &found.b, &found.c, &found.d);
#endif
  return found;
}

// Which registers the operating system saves.
std::uint64_t saved_registers() {
#ifdef _MSC_VER
  return _xgetbv(0);
#else
  std::uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32) | low;
#endif
}

bool has(std::uint32_t bits, std::uint32_t wanted) { return (bits & wanted) == wanted; }

// As the x86-64 psABI defines them.
int highest_level() {
  const Registers basic = cpuid(1);
  constexpr std::uint32_t kFma = 1u << 12, kMovbe = 1u << 22, kOsxsave = 1u << 27, kAvx = 1u << 28;
  constexpr std::uint32_t kF16c = 1u << 29;
  if (!has(basic.c, kFma | kMovbe | kOsxsave | kAvx | kF16c)) return 2;
  const std::uint64_t saved = saved_registers();
  constexpr std::uint64_t kVectors = 0x6, kWideVectors = 0xE6;
  if ((saved & kVectors) != kVectors) return 2;
  const Registers more = cpuid(7), extended = cpuid(0x80000001u);
  constexpr std::uint32_t kBmi1 = 1u << 3, kAvx2 = 1u << 5, kBmi2 = 1u << 8, kLzcnt = 1u << 5;
  if (!has(more.b, kBmi1 | kAvx2 | kBmi2) || !has(extended.c, kLzcnt)) return 2;
  constexpr std::uint32_t kF = 1u << 16, kDq = 1u << 17, kCd = 1u << 28, kBw = 1u << 30;
  constexpr std::uint32_t kVl = 1u << 31;
  const bool wide = has(more.b, kF | kDq | kCd | kBw | kVl);
  return wide && (saved & kWideVectors) == kWideVectors ? 4 : 3;
}

Level chosen_level() {
  const Level levels[] = {{"v2", &baseline::kPasses}, {"v3", &v3::kPasses}, {"v4", &v4::kPasses}};
  const int highest = highest_level();
  const char* wanted = std::getenv("JURYRANK_CPU");
  if (!wanted || !*wanted) return levels[highest - 2];
  for (int k = 0; k < 3; ++k) {
    if (levels[k].name != wanted) continue;
    if (k + 2 > highest)
      throw std::runtime_error("JURYRANK_CPU is " + levels[k].name + ", which this CPU is not.");
    return levels[k];
  }
  throw std::runtime_error("JURYRANK_CPU must be v2, v3 or v4, not '" + std::string(wanted) + "'.");
}
#else
Level chosen_level() { return {"baseline", &baseline::kPasses}; }
#endif

struct Chosen {
  Level level;
  Passes portable;
};

Chosen& chosen() {
  static Chosen found;
  return found;
}

thread_local bool portable = false;

}  // namespace

void choose_level() {
  const Level level = chosen_level();
  chosen() = {level, portable_at(level)};
}
const Passes& passes() { return portable ? chosen().portable : *chosen().level.passes; }

PortablePasses::PortablePasses(bool wanted) { portable = wanted; }
PortablePasses::~PortablePasses() { portable = false; }

const std::string& level() { return chosen().level.name; }

}  // namespace juryrank
