"""Expressions of named arrays, written with Python's operators."""


class Expression(str):
    """The text of an expression, which operators and functions make longer ones of.

    Functions of the language are methods: ``wf.arg("x").sqrt()`` is ``sqrt(x)``.
    """

    __slots__ = ()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"an expression has no attribute {name!r}")
        return lambda *others: Expression(f"{name}({', '.join(map(_text, (self, *others)))})")

    def __abs__(self):
        return Expression(f"abs({self})")

    def __neg__(self):
        return Expression(f"(-{self})")

    def __pos__(self):
        return self

    def __invert__(self):
        return Expression(f"(~{self})")

    def __round__(self, ndigits=None):
        if ndigits is not None:
            raise TypeError("an expression is rounded to whole numbers; leave out the digits")
        return Expression(f"round({self})")

    def __bool__(self):
        raise TypeError("an expression has no truth before it has arrays; write & for and, | for or, and compare two things at a time")

    __hash__ = str.__hash__


def _text(operand):
    """An operand as the language has it."""
    if isinstance(operand, Expression):
        return str.__str__(operand)
    if isinstance(operand, bool):
        return "true" if operand else "false"
    if isinstance(operand, (int, float)) or hasattr(operand, "__float__") and getattr(operand, "ndim", 0) == 0:
        # The shortest decimal that is this number: a scalar of NumPy has that of its own type.
        is_own = isinstance(operand, (int, float)) or type(operand).__module__ == "numpy"
        number = str(operand if is_own else operand.item())
        return f"({number})" if number.startswith("-") else number
    raise TypeError(f"{type(operand).__name__} is neither an expression nor a number; name an array by wf.arg and give it by keyword")


def _operator(sign, is_turned):
    def operator(self, other):
        try:
            other = _text(other)
        except TypeError:
            return NotImplemented
        return Expression(f"({other} {sign} {self})" if is_turned else f"({self} {sign} {other})")

    return operator


for _name, _sign in (
    ("add", "+"),
    ("sub", "-"),
    ("mul", "*"),
    ("truediv", "/"),
    ("floordiv", "//"),
    ("mod", "%"),
    ("pow", "**"),
    ("and", "&"),
    ("or", "|"),
    ("xor", "^"),
):
    setattr(Expression, f"__{_name}__", _operator(_sign, False))
    setattr(Expression, f"__r{_name}__", _operator(_sign, True))
for _name, _sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
    setattr(Expression, f"__{_name}__", _operator(_sign, False))


def arg(name, /):
    """An array by its name, to make an expression of: the array itself is given by keyword.

    Parameters
    ----------
    name : str
        The keyword.

    Returns
    -------
    str
        The text of the expression; operators and functions of it give longer ones.

    Examples
    --------
    >>> import numpy as np
    >>> import warpfold as wf
    >>> x, y = wf.arg("x"), wf.arg("y")
    >>> abs(x - y)
    'abs((x - y))'
    >>> wf.sum(abs(x - y), x=np.array([1.0, 5.0]), y=np.array([4.0, 3.0]), where=x != y)
    np.float64(5.0)
    """
    return Expression(name if name.isidentifier() else f'"{name}"')
