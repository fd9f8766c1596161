#include "hamiltonian.hpp"

#include "cpus.hpp"

namespace juryrank {
namespace {

JURYRANK_FOR_MORE_CPUS
void kick_all(std::size_t count, double factor, const double* __restrict step,
              const double* __restrict gradient, double* __restrict momentum) {
  for (std::size_t k = 0; k < count; ++k) momentum[k] -= factor * step[k] * gradient[k];
}

// sum += a b
JURYRANK_FOR_MORE_CPUS
void add_products(std::size_t count, const double* __restrict a, const double* __restrict b,
                  double* __restrict sum) {
  for (std::size_t k = 0; k < count; ++k) sum[k] += a[k] * b[k];
}

JURYRANK_FOR_MORE_CPUS
void divide_all(std::size_t count, const double* __restrict a, const double* __restrict b,
                double* __restrict found) {
  for (std::size_t k = 0; k < count; ++k) found[k] = a[k] / b[k];
}

}  // namespace

void kick(double factor, Numbers step, Numbers gradient, std::span<double> momentum) {
  kick_all(momentum.size(), factor, step.data(), gradient.data(), momentum.data());
}

void drift(Numbers step, Numbers velocity, std::span<double> position) {
  add_products(position.size(), step.data(), velocity.data(), position.data());
}

void divide(Numbers momentum, Numbers mass, std::span<double> velocity) {
  divide_all(velocity.size(), momentum.data(), mass.data(), velocity.data());
}

void add_prior(Numbers prior, Numbers position, std::span<double> gradient) {
  add_products(gradient.size(), prior.data(), position.data(), gradient.data());
}

}  // namespace juryrank
