#!/usr/bin/env python3
"""Compares our statistics with numpy and scipy on seeded random cases of awkward kinds.

Usage: check_stats.py <stats_oracle>     exit code 0: agree, 1: differ, 77: scipy is missing

Agreement is 1e-9 relative. Three exceptions, explained where they are made: sums that cancel, the
Student quantile (scipy's own is off by 2e-9, so it is refined here) and the bootstrap, whose random
draws differ from scipy's. Means and deviations are exact here (rational arithmetic): numpy's lose
digits when the spread is tiny beside the level.
"""
import math
import statistics
import subprocess
import sys
import warnings

try:
    import numpy as np
    from scipy import special, stats
except ImportError as missing:
    print(f"SKIPPED: {missing}; install python3-scipy or set TRILOBITE_SCIPY_PYTHON")
    sys.exit(77)

RELATIVE = 1e-9
PERCENTS = [0, 1, 25, 33.3, 50, 75, 95, 99, 100]
rng = np.random.default_rng(20240607)


class Case:
    """One line for the oracle, what we expect, and how far from it each figure may be (absolute)."""

    def __init__(self, command, lists, expected, slack=0.0):
        self.command = command
        self.lists = [np.atleast_1d(np.array(values, dtype=float)) for values in lists]
        self.expected = expected          # list of numbers, or None for "must be an error"
        self.slack = slack

    def line(self):
        lists = (f"{len(values)} " + " ".join(repr(float(v)) for v in values) for values in self.lists)
        return f"{self.command} " + " ".join(lists)

    def complaint(self, answer):
        if answer.startswith("error:") or self.expected is None:
            if answer.startswith("error:") and self.expected is None:
                return None
            return f"expected {self.expected}, got '{answer}'"
        ours = [float(word) for word in answer.split()]
        if len(ours) != len(self.expected):
            return f"expected {len(self.expected)} figures, got '{answer}'"
        for i, (our, their) in enumerate(zip(ours, self.expected)):
            if not math.isclose(our, their, rel_tol=RELATIVE, abs_tol=self.slack):
                return f"figure {i}: ours {our!r}, numpy/scipy {their!r}"
        return None


def samples():
    """Samples of every awkward kind: tied, constant, tiny, skewed, of huge spread, far from zero."""
    for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 29, 30, 31, 100, 1001):
        yield rng.normal(10, 2, n)
        yield rng.normal(0, 1, n)
        yield rng.lognormal(0, 1, n)
        yield rng.pareto(0.8, n)
        yield 10.0 ** rng.uniform(-30, 30, n)
        yield 1e9 + rng.normal(0, 1e-3, n)
        yield -1e-12 * rng.exponential(1, n)
        yield rng.integers(0, 4, n).astype(float)
        yield rng.integers(-50, 50, n).astype(float)
        yield np.full(n, 0.1)
        yield np.where(rng.random(n) < 0.1, 1e6, rng.normal(100, 1, n))


def rounding_of(*lists):
    """What rounding does to a sum of these values: a mean near zero of values of both signs keeps
    only absolute accuracy, some units in the last place of the largest value."""
    return 1e-14 * max(float(np.max(np.abs(values))) for values in lists)


def exact_mean(x):
    return statistics.mean(x.tolist())


def exact_sd(x):
    return statistics.stdev(x.tolist()) if len(x) > 1 else 0.0


def student_quantile(probability, dof):
    t = stats.t.ppf(probability, dof)
    for _ in range(3):
        survival = special.betainc(dof / 2, 0.5, dof / (dof + t * t)) / 2
        t += (survival - (1 - probability)) / stats.t.pdf(t, dof)
    return t


def describe_case(x):
    q1, q3 = np.percentile(x, [25, 75])
    iqr = q3 - q1
    severe_low, severe_high = np.sum(x < q1 - 3 * iqr), np.sum(x > q3 + 3 * iqr)
    outliers = [severe_low, np.sum(x < q1 - 1.5 * iqr) - severe_low,
                np.sum(x > q3 + 1.5 * iqr) - severe_high, severe_high]
    mad = stats.median_abs_deviation(x)
    expected = [np.median(x), exact_mean(x), exact_sd(x), mad, mad / stats.norm.ppf(0.75), np.min(x), np.max(x)]
    return Case("describe", [x], expected + list(np.percentile(x, PERCENTS)) + outliers, rounding_of(x))


def median_interval_case(x, confidence):
    """Hettmansperger & Sheather (1986), written as plainly as possible."""
    x = np.sort(x)
    n = len(x)
    reach = {d: 1 - 2 * stats.binom.cdf(d - 1, n, 0.5) for d in range(1, n // 2 + 2)}
    depths = [d for d in range(1, n // 2 + 1) if reach[d] >= confidence]
    if not depths:
        return Case("median_interval", [x, confidence], [x[0], x[-1]])
    d = max(depths)
    share = (reach[d] - confidence) / (reach[d] - reach[d + 1])
    weight = (n - d) * share / (d + (n - 2 * d) * share)
    expected = [(1 - weight) * x[d - 1] + weight * x[d], (1 - weight) * x[n - d] + weight * x[n - d - 1]]
    return Case("median_interval", [x, confidence], expected, rounding_of(x))


def bootstrap_case(x):
    result = stats.bootstrap((x,), np.mean, n_resamples=20000, method="BCa", random_state=1)
    low, high = result.confidence_interval
    # 20,000 other random resamples: the 2.5 % quantile wanders by sqrt(0.025 * 0.975 / 20000) = 0.0011
    # in level, about 2 % of a standard error; six times that (in both runs) is 4 % of the width.
    return Case("bootstrap", [x], [low, high], 0.04 * (high - low))


def mann_whitney_case(x, y):
    result = stats.mannwhitneyu(x, y, alternative="two-sided", method="auto")
    return Case("mann_whitney", [x, y], [result.statistic, result.pvalue])


def welch_case(x, y):
    if min(len(x), len(y)) < 2 or (np.ptp(x) == 0 and np.ptp(y) == 0):
        return Case("welch", [x, y], None)
    sx, sy = exact_sd(x), exact_sd(y)
    result = stats.ttest_ind_from_stats(exact_mean(x), sx, len(x), exact_mean(y), sy, len(y), equal_var=False)
    vx, vy = sx ** 2 / len(x), sy ** 2 / len(y)
    dof = (vx + vy) ** 2 / (vx ** 2 / (len(x) - 1) + vy ** 2 / (len(y) - 1))
    half = student_quantile(0.975, dof) * math.sqrt(vx + vy)
    difference = exact_mean(x) - exact_mean(y)
    # Means that nearly cancel keep their absolute accuracy only, and t is their difference in
    # standard errors.
    slack = rounding_of(x, y) * max(1.0, 1.0 / math.sqrt(vx + vy))
    return Case("welch", [x, y], [result.statistic, dof, result.pvalue, difference - half, difference + half], slack)


def theil_sen_case(x, y):
    if len(x) < 2 or np.ptp(x) == 0:
        return Case("theil_sen", [x, y], None)
    line = stats.theilslopes(y, x, alpha=0.95)
    expected = [line.slope, line.intercept, line.low_slope, line.high_slope]
    if any(math.isnan(value) for value in expected):
        return None     # scipy gives up when ties leave no variance; we give the middle slopes
    return Case("theil_sen", [x, y], expected, rounding_of(y, [line.slope * np.median(x)]))


def cases():
    pool = list(samples())
    for x in pool:
        yield describe_case(x)
        for confidence in (0.5, 0.9, 0.95, 0.999):
            yield median_interval_case(x, confidence)
    for _ in range(400):
        x, y = (pool[i] for i in rng.integers(0, len(pool), 2))
        if min(len(x), len(y)) > 8 or max(len(x), len(y)) <= 100:   # scipy's exact test is slow beyond
            yield mann_whitney_case(x, y)
        yield welch_case(x, y)
    for _ in range(300):     # small and without ties: the exact distribution
        n, m = rng.integers(1, 9), rng.integers(1, 40)
        yield mann_whitney_case(rng.normal(0, 1, n), rng.normal(rng.choice([0, 1, 5]), 1, m))
    yield mann_whitney_case(rng.normal(0, 1, 8), rng.normal(0.3, 1, 100))
    for n in (1, 2, 3, 4, 5, 10, 30, 100):
        for slope in (0.0, 1e-6, -3.0):
            x = np.arange(n, dtype=float)
            yield theil_sen_case(x, 5 + slope * x + rng.normal(0, 1, n))
            yield theil_sen_case(rng.integers(0, 6, n).astype(float), rng.integers(0, 6, n).astype(float))
            yield theil_sen_case(rng.normal(0, 1, n), slope * x + rng.pareto(1, n))
            yield theil_sen_case(x, np.full(n, 7.0))
            yield theil_sen_case(np.full(n, 7.0), x)
    for x in (rng.normal(10, 1, 30), rng.lognormal(0, 0.5, 30), rng.exponential(1, 50), rng.integers(0, 5, 25)):
        yield bootstrap_case(x)
    yield Case("describe", [[]], None)
    yield Case("describe", [[2.0, -1e101]], None)


def main():
    warnings.simplefilter("ignore")     # scipy warns about the very degenerate cases we look for
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    todo = [case for case in cases() if case is not None]
    run = subprocess.run([sys.argv[1]], input="\n".join(case.line() for case in todo) + "\n",
                         capture_output=True, text=True, check=True)
    answers = run.stdout.splitlines()
    if len(answers) != len(todo):
        sys.exit(f"asked {len(todo)} questions, got {len(answers)} answers")
    bad = 0
    counts = {}
    for case, answer in zip(todo, answers):
        counts[case.command] = counts.get(case.command, 0) + 1
        complaint = case.complaint(answer)
        if complaint:
            bad += 1
            print(f"{case.command}: {complaint}\n    {case.line()[:300]}")
    print(f"{len(todo) - bad} of {len(todo)} cases agree with numpy {np.__version__}:",
          ", ".join(f"{name} {count}" for name, count in counts.items()))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
