"""Makes warpfold.duckdb_extension of what `cargo build -p warpfold-duckdb` built: python3 pack.py LIBRARY PLATFORM FILE.

PLATFORM is what DuckDB's `PRAGMA platform` says (linux_amd64). An extension is a shared library and 534 bytes after it, by which DuckDB knows what it
is: eight fields of 32 bytes, the last one first, and room for a signature, which this one has none of.
"""

import sys
from pathlib import Path


def footer(platform: str, version: str) -> bytes:
    fields = ["4", platform, "v1.2.0", version, "C_STRUCT", "", "", ""]
    # A custom section of WebAssembly, which elsewhere nobody reads.
    head = b"\0\x93\x04\x10duckdb_signature\x80\x04"
    return head + b"".join(field.encode().ljust(32, b"\0") for field in reversed(fields)) + bytes(256)


if __name__ == "__main__":
    library, platform, out = sys.argv[1:]
    Path(out).write_bytes(Path(library).read_bytes() + footer(platform, "0.1.0"))
