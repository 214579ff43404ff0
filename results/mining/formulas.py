"""Formulas of statistics as Spark columns: Spark SQL has neither lgamma nor erfc."""

import math
from collections.abc import Callable
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

Z95 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: 95 % intervals are two-sided."""
_SHIFT = 8
_TABULATED = 1_000
"""Counts from which Stirling's series needs no further terms."""
_LEAST = 1e-300
_TERMS = 20_000


def wilson(hits: Column, runs: Column, z: float = Z95) -> tuple[Column, Column]:
    """Return the ends of Wilson's score interval for the rate behind `hits` of `runs`; 0 and 1 without any runs.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927.
    """
    n = runs.cast("double")
    p = hits / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    spread = z / (1 + z * z / n) * F.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (
        F.when(n > 0, F.greatest(F.lit(0.0), centre - spread)).otherwise(0.0),
        F.when(n > 0, F.least(F.lit(1.0), centre + spread)).otherwise(1.0),
    )


def entropy(p: Column) -> Column:
    """Return the binary entropy -p log2 p - (1-p) log2 (1-p) in bits; 0 for a rate of 0 or 1."""

    def part(q: Column) -> Column:
        return F.when(q > 0, -q * F.log2(q)).otherwise(0.0)

    return part(p) + part(1 - p)


def log_gamma(x: Column) -> Column:
    """Return ln Gamma(x) for x > 0, within 1e-9: Stirling's series at x + 8, less ln (x (x+1) ... (x+7)).

    `x` is computed several times: let it be a column of its frame, or an argument of `let`.
    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.1.41 and 6.1.15.
    """
    z = x + _SHIFT
    series = (1 / 12 - (1 / 360 - 1 / (1260 * z * z)) / (z * z)) / z
    below = reduce(lambda product, step: product * (x + step), range(1, _SHIFT), x)
    return (z - 0.5) * F.log(z) - z + 0.5 * math.log(2 * math.pi) + series - F.log(below)


def log_gamma_of_count(count: Column, shift: float) -> Column:
    """Return ln Gamma(count + shift) for a whole number from 0 on and a `shift` above 0, within 1e-9.

    Counts are small, so most values are read from a table: `log_gamma` takes a microsecond. `count` is computed several
    times: let it be a column of its frame.
    """
    # One text: an array of numbers would take a call to the JVM for each. Spark parses it once for each query.
    values = ",".join(repr(math.lgamma(each + shift)) for each in range(_TABULATED))
    table = F.split(F.lit(values), ",").cast("array<double>")
    z = count + shift
    beyond = (z - 0.5) * F.log(z) - z + 0.5 * math.log(2 * math.pi) + 1 / (12 * z)
    return F.when(count < _TABULATED, F.get(table, count.cast("int"))).otherwise(beyond)


def let(value: Column, use: Callable[[Column], Column]) -> Column:
    """Return `use(value)`, with the value computed once."""
    return F.transform(F.array(value), use)[0]


def log_factorial(n: Column) -> Column:
    """Return ln n! for a count."""
    return let(n.cast("double") + 1, log_gamma)


def normal_tail(z: Column) -> Column:
    """Return P(N > z), within 1.2e-7 of its value, also far out; at least 1e-300.

    Source: Numerical Recipes, erfcc (a Chebyshev fit of erfc).
    """
    x = F.abs(z) / math.sqrt(2)
    t = 1 / (1 + 0.5 * x)
    coefficients = (
        0.17087277,
        -0.82215223,
        1.48851587,
        -1.13520398,
        0.27886807,
        -0.18628806,
        0.09678418,
        0.37409196,
        1.00002368,
    )
    polynomial = reduce(lambda sum_, each: sum_ * t + each, coefficients[1:], F.lit(coefficients[0]))
    upper = F.greatest(0.5 * t * F.exp(-x * x - 1.26551223 + t * polynomial), F.lit(_LEAST))
    return F.when(z >= 0, upper).otherwise(1 - upper)


def fisher_tail(both: Column, first: Column, second: Column, total: Column) -> Column:
    """Return the one-sided p-value of Fisher's exact test: P(overlap >= `both`) of two random sets of a `total`.

    The sets have `first` and `second` items. It adds min(first, second) - both + 1 terms, at most 20,000, so it is for
    rows that were aggregated, not for results. At least 1e-300; 1 if the overlap is not above its expectation.
    Source: R. A. Fisher, The logic of inductive inference, 1935.
    """
    k, a, b, n = (each.cast("double") for each in (both, first, second, total))

    def tail(of: Column) -> Column:
        k, a, b, n = (of[name] for name in ("k", "a", "b", "n"))
        ways = log_factorial(a) + log_factorial(b) + log_factorial(n - a) + log_factorial(n - b) - log_factorial(n)
        rest = log_factorial(k) + log_factorial(a - k) + log_factorial(b - k) + log_factorial(n - a - b + k)

        def add(done: Column, each: Column) -> Column:
            """Add the next term, which is a ratio of the one before."""
            ratio = (a - each + 1) * (b - each + 1) / (each * (n - a - b + each))
            return F.struct((done["sum"] + done["term"] * ratio).alias("sum"), (done["term"] * ratio).alias("term"))

        # The terms are multiples of the first one, which may be too small for a double.
        one = F.struct(F.lit(1.0).alias("sum"), F.lit(1.0).alias("term"))
        last = F.least(a, b, k + _TERMS)
        further = F.when(last > k, F.sequence((k + 1).cast("long"), last.cast("long"))).otherwise(
            F.array().cast("array<bigint>")
        )
        multiple = F.aggregate(further, one, add, lambda done: done["sum"])
        return F.exp(F.greatest(ways - rest + F.log(multiple), F.lit(math.log(_LEAST))))

    table = F.struct(k.alias("k"), a.alias("a"), b.alias("b"), n.alias("n"))
    return F.when(k * n > a * b, F.least(let(table, tail), F.lit(1.0))).otherwise(1.0)
