"""What results must be: exact rational arithmetic, rounded once by a rule written here. Nothing of warpfold is used."""

from fractions import Fraction
from math import isqrt

import numpy as np

# Bits of the significand, and the exponent of the least subnormal.
FORMATS = {"float16": (11, -24), "bfloat16": (8, -133), "float32": (24, -149), "float64": (53, -1074)}
LARGEST = {"float16": 65504, "bfloat16": (2**8 - 1) * 2**120, "float32": (2**24 - 1) * 2**104, "float64": (2**53 - 1) * 2**971}
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
REAL = ["bool", *SIGNED, *UNSIGNED, *FLOATS]
ALL = [*REAL, *COMPLEX]


def fractions(x):
    """The elements as rational numbers."""
    return [Fraction(v) if isinstance(v, int) else Fraction(float(v)) for v in np.asarray(x).ravel().tolist()]


def to_float(value, name):
    """The number of a format nearest to a rational one, ties to even, as a Python float."""
    bits, least = FORMATS[name]
    if value == 0:
        return 0.0
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - bits + 1, least)
    rounded = round(magnitude / unit) * unit  # Python rounds ties to even.
    result = float("inf") if rounded > LARGEST[name] else float(rounded)
    return result if value > 0 else -result


def root(value, name):
    """The square root of a rational number, rounded once."""
    if value == 0:
        return 0.0
    # So many bits that only an exact root could be a tie: a sticky bit stands for the rest.
    shift = 2 * (200 + max(0, value.denominator.bit_length()))
    scaled = (value.numerator << shift) // value.denominator
    whole = isqrt(scaled)
    is_exact = whole * whole == scaled and (value.numerator << shift) % value.denominator == 0
    return to_float(Fraction(2 * whole + (not is_exact), 2 ** (shift // 2 + 1)), name)


def variance(values, correction=0):
    """The exact variance."""
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((v - mean) ** 2 for v in values), Fraction(0)) / (len(values) - correction)


def bits(x):
    """The bits of a scalar or an array, so that -0 and NaN compare."""
    x = np.asarray(x)
    return x.dtype.name, x.shape, x.tobytes()


def same(result, expected):
    """Whether a result is the expected one, to the bit and the type."""
    assert bits(result) == bits(expected), f"{result!r} is not {expected!r}"


def sample(name, shape, seed=0):
    """Elements of a type whose plain sums round, as far as the type lets them."""
    rng = np.random.default_rng(seed)
    if name == "bool":
        return rng.random(shape) < 0.7
    if name in SIGNED + UNSIGNED:
        info = np.iinfo(name)
        # Of few enough bits that no sum of them overflows.
        low, high = max(info.min, -(2**40)), min(info.max, 2**40)
        return rng.integers(low, high, shape, endpoint=True).astype(name)
    spread = {"float16": 4, "float32": 30, "float64": 200}

    def part(of):
        return (rng.standard_normal(shape) * 2.0 ** rng.integers(-spread[of], spread[of], shape)).astype(of)

    if name in COMPLEX:
        of = {"complex64": "float32", "complex128": "float64"}[name]
        return (part(of) + 1j * part(of)).astype(name)
    return part(name)
