"""Integer results that were left on a GPU before anybody knew whether they fit."""

pending = []

# Results that are kept at most before they are looked at.
MOST = 1024


def note(name, dtype, pair, shape):
    """The low 64 bits of an exact result of two words, which is looked at later."""
    if len(pending) >= MOST:
        check()
    pending.append((name, dtype, pair))
    low = pair[:1].clone() if hasattr(pair, "clone") else pair[:1].copy()
    return low.reshape(tuple(shape))


def check():
    """Raises where an integer result that ``overflow='defer'`` left on a GPU did not fit its 64 bits.

    It waits for those results, once each. Without one, the values that were given are exact.

    Raises
    ------
    OverflowError
        For the first that did not fit.

    Examples
    --------
    >>> import warpfold as wf
    >>> wf.check()
    """
    looked_at = pending[:]
    pending.clear()
    for name, dtype, pair in looked_at:
        low, high = (word % 2**64 for word in pair.tolist())
        is_signed = dtype.startswith("int")
        # Of a sum the words are one number; of a product the second says whether the first is all of it.
        fits = high == 0 if name == "prod" or not is_signed else high == (2**64 - 1 if low >> 63 else 0)
        if not fits:
            held = "int64" if is_signed else "uint64"
            raise OverflowError(
                f"{name} of {dtype} was left on a GPU and is a number that {held} cannot hold; dtype='float64' rounds it, overflow='wrap' keeps the low 64 bits"
            )
