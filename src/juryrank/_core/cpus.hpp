// Loops that are compiled for wider vectors too, and chosen when the module is loaded.
//
// The bits are the same: each number is worked out by the same operations, none of which are fused.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define JURYRANK_FOR_MORE_CPUS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define JURYRANK_FOR_MORE_CPUS
#endif
