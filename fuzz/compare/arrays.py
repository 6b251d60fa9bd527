"""Files of .npy, whole and damaged, and what NumPy makes of them."""

import io
import re
import struct
import warnings

import numpy

CODES = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
# What is refused here and read by NumPy, by words of the message.
STRICTER = {
    "does not reduce": "a type that is not reduced",
    "byte order": "a type that does not say its byte order",
    "goes on after": "bytes after the elements",
    "a bool is": "a bool that is neither 0 nor 1",
    "two-byte elements": "two bytes that may be a bfloat16, which --dtype says",
    "stands twice": "a header that says something twice",
}


def generate(random):
    """The bytes of a file."""
    code = random.choice(CODES)
    order = random.choice("<<<>>" if code[1:] != "1" else "|||<>")
    shape = random.choice([(), (0,), (1,), (random.randrange(40),), (random.randrange(5), random.randrange(5)), (2, 0, 3), (3, 4, 5), (1, 7, 1), (2, 3, 2, 2), (1,) * random.choice([8, 33, 60])])
    fortran = random.random() < 0.4
    size = int(code[1:])
    count = 1
    for axis in shape:
        count *= axis
    data = bytes(random.randrange(2) for _ in range(count)) if code == "b1" else random.randbytes(count * size)
    version = random.choice([1, 1, 2, 3])
    head = f"{{'descr': '{order}{code}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    if random.random() < 0.5:
        head = spelled(random, order + code, fortran, shape)
    padding = random.choice([64, 64, 16, 1])
    prefix = 10 if version == 1 else 12
    end = random.choice(["\n", "\n", "\n", "", " "])
    head += " " * (-(prefix + len(head) + len(end)) % padding) + end
    head = head.encode("utf-8" if version == 3 else "latin1", "replace")
    file = b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(head)) + head + data
    return damaged(random, file) if random.random() < 0.25 else file


def spelled(random, descr, fortran, shape):
    """The same header in other words, some of them wrong."""
    odd = random.random()
    if odd < 0.15:
        descr = random.choice(["f8", "=f8", "|f8", "float64", "<f16", "<U2", "|S2", "|O", "<M8[ns]", "|V2", "|V3", "<q", "", "x", "<i3", ">>i4", "<c4", "!f4"])
    shown = {True: "True", False: "False"}[fortran]
    if odd > 0.95:
        shown = random.choice(["1", "0", "None", "'True'", "true"])
    axes = [str(axis) for axis in shape]
    if odd > 0.9:
        axes = [random.choice([axis, axis + "L", "-" + axis, "0" + axis, axis + ".0", "0x1", "99999999999999999999", "1_0", "True"]) for axis in axes]
    tuple_ = random.choice(["({})", "({})", "( {} )", "[{}]" if odd < 0.2 else "({})"]).format(random.choice([", ", ",", " , "]).join(axes) + ("," if len(axes) == 1 or axes and random.random() < 0.3 else ""))
    quote = random.choice("'''\"")
    items = [f"{quote}descr{quote}: {quote}{descr}{quote}", f"'fortran_order' :{shown}", f'"shape":{tuple_}']
    random.shuffle(items)
    if odd > 0.97:
        items.append("'extra': 1")
    if 0.2 < odd < 0.23:
        items.pop()
    if 0.23 < odd < 0.25:
        items.append(items[0])
    return "{" + random.choice([", ", ",", " ,\t"]).join(items) + random.choice(["", ",", ", "]) + random.choice(["}", "}", "}", "} "])


def damaged(random, file):
    kind = random.randrange(6)
    at = random.randrange(len(file))
    if kind == 0:
        return file[:at]
    if kind == 1:
        return file + random.randbytes(random.randrange(1, 9))
    if kind == 2:
        return file[:at] + bytes([random.randrange(256)]) + file[at + 1 :]
    if kind == 3:
        return file[:6] + bytes([random.randrange(6), random.randrange(2)]) + file[8:]
    if kind == 4:
        return file[:8] + random.randbytes(2) + file[10:]
    return file[:at] + file[at + 1 :]


def expected(file):
    """Type, shape and elements in C order as native bytes, and whether NumPy left bytes over; or None with its reason."""
    stream = io.BytesIO(file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = numpy.lib.format.read_array(stream, allow_pickle=False, max_header_size=1 << 20)
    except Exception as error:  # Whatever NumPy says of foreign bytes.
        return None, f"{type(error).__name__}: {error}"
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return (str(native.dtype), list(array.shape), native.tobytes("C"), array.dtype.str), None


def stricter(file, said):
    """Why a file that NumPy reads is refused by right; None where there is no such reason."""
    named = next((name for words, name in STRICTER.items() if words in said), None)
    head = file.partition(b"}")[0]
    if named is None and "damaged .npy header" in said and re.search(rb"0x|\d_\d|\b00|-0|\+\d|[uUrR]['\"]|\x0c", head):
        return "Python that no writer of .npy writes, such as 0x1 or u'f8'"
    if named is None and "something follows the dictionary" in said and re.search(rb"[#\x0c]", file[len(head) :]):
        return "a comment or a form feed in the header"
    return named


def looser(file, why):
    """Why a file that NumPy refuses is read by right; None where there is no such reason."""
    if "Cannot parse header" not in why:
        return None
    if re.search(rb"\} *\r", file):
        return "a carriage return among the blanks after the header"
    is_long = file[6:7] == b"\x03" and re.search(rb"\dL", file.partition(b"}")[0])
    return "Python 2's integers (3L) in a header of version 3" if is_long else None
