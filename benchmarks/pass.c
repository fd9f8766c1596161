/* One pass over votes sorted by judge: the objective of HBTL and both its gradients.
 *
 *     J = sum_u sum_{k of u} w_k g(a_u (s_winner - s_loser)),   g(x) = log(1 + exp(-x))
 *
 * Without weights (NULL) all are 1.
 *
 * In blocks: gather the differences, do the maths (which the compiler makes vectors of), scatter.
 * With OpenMP every thread takes a run of judges of about as many votes and has its own gradient.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { BLOCK = 256 };

static double one_judge(int64_t first, int64_t last, const int32_t *restrict winner,
                        const int32_t *restrict loser, const double *restrict weight, double a,
                        const double *restrict score, double *restrict gradient, double *da)
{
    double d[BLOCK], v[BLOCK], p[BLOCK];
    double value = 0.0, by_accuracy = 0.0;
    for (int64_t at = first; at < last; at += BLOCK) {
        const int count = last - at < BLOCK ? (int)(last - at) : BLOCK;
        for (int k = 0; k < count; k++)
            d[k] = score[winner[at + k]] - score[loser[at + k]];
        for (int k = 0; k < count; k++) {
            const double x = a * d[k], e = exp(-fabs(x)), q = 1.0 / (1.0 + e);
            v[k] = log(1.0 + e) + fmax(-x, 0.0);
            p[k] = -(x >= 0.0 ? e * q : q);
        }
        if (weight)
            for (int k = 0; k < count; k++) {
                v[k] *= weight[at + k];
                p[k] *= weight[at + k];
            }
        for (int k = 0; k < count; k++) {
            value += v[k];
            by_accuracy += p[k] * d[k];
        }
        for (int k = 0; k < count; k++) {
            gradient[winner[at + k]] += a * p[k];
            gradient[loser[at + k]] -= a * p[k];
        }
    }
    *da = by_accuracy;
    return value;
}

static int64_t judge_at(int64_t vote, const int64_t *start, int64_t judges)
{
    int64_t low = 0, high = judges;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (start[middle] < vote)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double some_judges(int64_t first, int64_t last, const int64_t *start, const int32_t *winner,
                          const int32_t *loser, const double *weight, const double *accuracy,
                          const double *score, double *gradient, double *accuracy_gradient)
{
    double value = 0.0;
    for (int64_t u = first; u < last; u++)
        value += one_judge(start[u], start[u + 1], winner, loser, weight, accuracy[u], score, gradient,
                           &accuracy_gradient[u]);
    return value;
}

int has_threads(void)
{
#ifdef _OPENMP
    return 1;
#else
    return 0;
#endif
}

/* `gradient` (of the scores) must be zero; `accuracy_gradient` is overwritten. */
double votes_pass(int64_t judges, int64_t items, const int64_t *start, const int32_t *winner,
                  const int32_t *loser, const double *weight, const double *score,
                  const double *accuracy, double *gradient, double *accuracy_gradient, int threads)
{
    double total = 0.0;
    if (threads <= 1)
        return some_judges(0, judges, start, winner, loser, weight, accuracy, score, gradient,
                           accuracy_gradient);
#pragma omp parallel for num_threads(threads) reduction(+ : total) schedule(static, 1)
    for (int part = 0; part < threads; part++) {
        double *own = calloc((size_t)items, sizeof *own);
        const int64_t votes = start[judges];
        const int64_t first = judge_at(votes * part / threads, start, judges);
        const int64_t last =
            part + 1 == threads ? judges : judge_at(votes * (part + 1) / threads, start, judges);
        total += some_judges(first, last, start, winner, loser, weight, accuracy, score, own,
                             accuracy_gradient);
#pragma omp critical
        for (int64_t i = 0; i < items; i++)
            gradient[i] += own[i];
        free(own);
    }
    return total;
}
