"""Texts of every dialect, and what Python's csv module and the rules of docs/text.md make of them."""

import csv
import io
import re
import struct

FLOAT = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.I)
INTEGER = re.compile(r"[+-]?\d+")
RANGES = {"int64": (-(2**63), 2**63 - 1), "uint8": (0, 255)}
MISSING = {"", "na", "n/a", "null", "none"}
BLANKS = " \t\n\r\f"


class Refused(Exception):
    """Why there are no elements."""


def generate(random):
    """A case: options, and cells in a layout."""
    decimal = random.choice(".....,")
    delimiter = random.choice([None, ";", "\t", "|", " "] if decimal == "," else [None, None, None, ",", ";", "\t", " "])
    extension = random.choice(["csv", "csv", "tsv", "txt", ""])
    if decimal == "," and delimiter is None and extension == "csv":
        delimiter = ";"
    case = {
        "kind": "text",
        "dtype": random.choice(["float64", "float64", "float64", "int64", "uint8"]),
        "extension": extension,
        "delimiter": delimiter,
        "comment": random.choice([None, None, None, "#", "%"]),
        "decimal": decimal,
        "header": random.choice(["auto", "auto", "auto", "yes", "no"]),
        "missing": random.choice(["error", "error", "nan", "skip", "skip"]),
        "column": random.choice([None, None, None, "1", "2", "3", "a", "x", "e5"]),
    }
    if case["missing"] == "nan" and case["dtype"] != "float64":
        case["missing"] = "skip"
    mark = delimiter or {"csv": ",", "tsv": "\t"}.get(extension) or random.choice(["\t", ";" if decimal == "," else ",", " "])
    end = random.choice(["\n", "\n", "\n", "\r\n", "\r"])
    width = random.choice([1, 1, 2, 3, 4])
    rows, bare = [], []
    for row in range(random.choice([0, 1, 2, 3, 5, 9])):
        is_head = row == 0 and random.random() < 0.6
        cells = [cell(random, case, is_head) for _ in range(width)]
        if random.random() < 0.02:
            cells = cells[:-1] or cells * 2
        both = [shown(random, text, mark) for text in cells]
        rows.append(mark.join(with_blanks for with_blanks, _ in both))
        bare.append(mark.join(plain for _, plain in both))
        for _ in range(random.choice([0] * 12 + [1, 2])):
            extra = random.choice(["", "", "  ", "#note", "# 1,2", '#"', "%x"])
            rows.append(extra)
            bare.append(extra)
    last = random.choice(["", end, end, end + end])
    start = random.choice([""] * 8 + ["\ufeff"])
    text = start + end.join(rows) + (last if rows else "")
    plain = end.join(bare) + (last if rows else "")
    if random.random() < 0.03:
        # A cut anywhere, such as within quotes.
        text = plain = plain[: random.randrange(len(plain) + 1)]
    return case, text, plain


def cell(random, case, is_head):
    if is_head and random.random() < 0.9:
        return random.choice(["a", "b", "x", "price", "größe", "e5", "_1", "nancy", "two words", "q\"q", "2020", "NA"][: random.choice([8, 8, 8, 12])])
    kind = random.random()
    if kind < 0.08:
        return random.choice(["", "NA", "na", "N/A", "null", "None", "none"])
    if kind < 0.12:
        return random.choice(["x", "+ 5", "−1", "1_000", "0x10", "1.2.3", "--1", "inf.", "nan(1)", "12:00", "1e", ".", "true", "#1", "1,5", "300", "1e400", "-inf", "nan", "9223372036854775808", "j", "1+2j", "\t", "a,b", 'say "x"', "two\nlines"])
    if case["dtype"] != "float64":
        return random.choice(["0", "1", "7", "+9", "-5", "255", "256", "007"]) if kind < 0.3 else str(random.randrange(256))
    text = random.choice([repr(random.uniform(-1e3, 1e3)), repr(random.random() * 10 ** random.randrange(-300, 300)), str(random.randrange(10**18)), f"{random.randrange(1000)}.", f".{random.randrange(1000)}", f"{random.random():.40f}", f"{random.randrange(99)}E+{random.randrange(9)}"])
    return text.replace(".", case["decimal"]) if random.random() < 0.97 else text


def shown(random, text, mark):
    """A cell as it stands in the text, and the same as csv takes it: without the blanks around quotes that are allowed here."""
    must = mark != " " and (mark in text or '"' in text or "\n" in text or "\r" in text)
    if mark != " " and (must or random.random() < 0.15) and random.random() < 0.97:
        quoted = '"' + text.replace('"', '""' if random.random() < 0.98 else '"') + '"'
        before, behind = (random.choice([""] * 9 + [" ", "  "]) for _ in range(2))
        return before + quoted + behind, quoted
    blanks = ["", "", "", "", " "]
    text = random.choice(blanks) + text + random.choice(blanks)
    return text, text


def expected(case, text, plain):
    """The elements as bytes, the line of names or None, rows, and what is left out; or Refused."""
    # Every line end is one, in quotes too.
    plain = plain.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    rows = records(case, plain)
    pick, names_at, width, at = None, None, None, 0
    first, numbers, left_out, count = None, [], [], 0
    for line, cells, is_table in rows:
        if pick is None:
            pick, named = choose(case["column"], cells)
            is_header = judge(case, named, pick, cells)
            # Where a place in the row counts, words have one width as tables have.
            width = len(cells) if is_table or pick != "all" or case["missing"] == "skip" else None
            if is_header:
                names_at = line
                first = "names" if case["header"] == "auto" and not named else None
                continue
            first = cells if case["header"] == "auto" and pick != "all" else None
        elif first == "names":
            first = None
        elif first is not None:
            for above, below in zip(kinds_of(case, first), cells):
                if above != "number" and kind_of(case, below) == "number":
                    raise Refused("neither names nor numbers")
            first = None
        if pick != "all" and pick >= len(cells):
            raise Refused("has no column")
        if width is not None and len(cells) != width:
            raise Refused("columns, and the lines before")
        count += 1
        wanted = cells if pick == "all" else [cells[pick]]
        if case["missing"] == "skip" and any(is_missing(one) for one in wanted):
            left_out += range(at, at + len(wanted))
            at += len(wanted)
            continue
        for one in wanted:
            numbers.append(number(case, one))
            at += 1
    if first == "names":
        raise Refused("no row of numbers follows")
    if pick is None and case["column"] is not None:
        raise Refused("has no row")
    code = {"float64": "d", "int64": "q", "uint8": "B"}[case["dtype"]]
    return struct.pack(f"={len(numbers)}{code}", *numbers), names_at, count, left_out


def records(case, text):
    """Lines from 1, cells without blanks around them, and whether rows must be of one length."""
    comment, mark = case["comment"], case["delimiter"] or {"csv": ",", "tsv": "\t"}.get(case["extension"])
    if mark is None:
        is_telling = lambda line: line.strip(BLANKS) and not (comment and line.startswith(comment))
        head = next(filter(is_telling, text.split("\n")), "").strip(BLANKS)
        other = ";" if case["decimal"] == "," else ","
        mark = "\t" if "\t" in head else other if other in head else " "
    if mark == " ":
        for line, row in enumerate(text.split("\n"), 1):
            cells = [cell for cell in re.split(f"[{BLANKS}]+", row) if cell]
            if cells and not (comment and row.startswith(comment)):
                yield line, cells, False
        return
    state = {"is_new": True, "line": 0, "start": 0}

    def lines():
        for line in io.StringIO(text, newline=""):
            state["line"] += 1
            if state["is_new"] and comment and line.startswith(comment):
                continue
            if state["is_new"]:
                state["start"] = state["line"]
            state["is_new"] = False
            yield line

    reader = csv.reader(lines(), delimiter=mark, strict=True)
    while True:
        state["is_new"] = True
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise Refused("never closed" if "unexpected end" in str(error) else "closing quote") from None
        if cells:
            yield state["start"], [cell.strip(BLANKS) for cell in cells], True


def choose(column, cells):
    if column is None:
        return "all", False
    if column.isdigit():
        if int(column) > len(cells) and column in cells:
            raise Refused("the one that is called")
        return int(column) - 1, False
    found = [at for at, cell in enumerate(cells) if cell == column]
    if len(found) != 1:
        raise Refused("called")
    return found[0], True


def judge(case, named, pick, cells):
    if case["header"] != "auto" or named:
        return case["header"] == "yes" or case["header"] == "auto"
    kinds = kinds_of(case, cells)
    data = kinds if pick == "all" else kinds[pick : pick + 1]
    if all(kind == "number" for kind in data):
        return False
    if all(kind == "name" for kind in kinds):
        return True
    raise Refused("neither names nor numbers")


def kinds_of(case, cells):
    """What the cells of the first row are; tables with numbered rows begin with an empty one, which is no data."""
    kinds = [kind_of(case, cell) for cell in cells]
    return ["unclear", *kinds[1:]] if len(cells) > 1 and cells[0] == "" else kinds


def is_missing(text):
    return text.lower() in MISSING


def plain_number(case, text):
    """With a point before its fraction; None where that means something else."""
    return text if case["decimal"] == "." else None if "." in text else text.replace(",", ".")


def kind_of(case, text):
    if is_missing(text):
        return "unclear" if case["missing"] == "error" else "number"
    point = plain_number(case, text)
    if point is not None and (FLOAT.fullmatch(point) or point.lower() in ("true", "false") or is_complex(point)):
        return "number"
    near = re.match(r"(nan|infinity|inf)(?![^\W\d]|_)", text.lower())
    is_name = text[:1].isalpha() or text[:1] == "_"
    control = any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text)
    return "name" if is_name and not near and text not in ("i", "j", "I", "J") and not control else "unclear"


def is_complex(text):
    if len(text) < 2 or text[-1:] not in "ij)" or "_" in text:
        return False
    try:
        complex(text.replace("i)", "j)")[:-1] + "j" if text[-1] == "i" else text)
    except ValueError:
        return False
    return "nan" not in text.lower() or True


def number(case, text):
    point = plain_number(case, text)
    if case["dtype"] == "float64":
        if case["missing"] == "nan" and is_missing(text):
            return float("nan")
        if point is None or not FLOAT.fullmatch(point):
            raise Refused("is no float64")
        return float(point)
    if point is None or not INTEGER.fullmatch(point):
        raise Refused("is no ")
    low, high = RANGES[case["dtype"]]
    if not low <= int(point) <= high:
        raise Refused("does not fit")
    return int(point)
