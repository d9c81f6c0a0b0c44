"""Writes a Parquet table as comma-separated text, which compute-sim import reads.

    python3 -m drydock.parquet gemm_perf.parquet -o gemm_perf.csv
    compute-sim import --from aiconfigurator --gpu h200-sxm-141g gemm_perf.csv -o h200.csv

It needs pyarrow: pip install 'drydock[parquet]'.
"""
import argparse
import csv
import os
import pathlib
import sys
import tempfile

from drydock._executables import DrydockError

__all__ = ["to_csv"]


def _pyarrow():
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise DrydockError(1, "Parquet needs pyarrow: pip install 'drydock[parquet]'") from error
    return pyarrow


def to_csv(source, target):
    """Writes the table of the Parquet file `source` to the file `target`. Values keep all their digits; a missing value is
    empty. Raises DrydockError if `source` is no Parquet file or has columns of lists, or if pyarrow is missing."""
    pyarrow = _pyarrow()
    source, target = pathlib.Path(source), pathlib.Path(target)
    try:
        table = pyarrow.parquet.ParquetFile(source)
    except OSError as error:
        raise DrydockError(1, f"{source}: {error.strerror or error}") from error
    except pyarrow.ArrowInvalid as error:
        raise DrydockError(1, f"{source}: this is no Parquet file ({error})") from error
    with table:
        names = table.schema_arrow.names
        for field in table.schema_arrow:
            if pyarrow.types.is_nested(field.type):
                raise DrydockError(1, f"{source}: the column '{field.name}' has several values in a row, which a table of text cannot hold")
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(names)
                for batch in table.iter_batches():
                    writer.writerows(zip(*(column.to_pylist() for column in batch.columns)))
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise


def main():
    parser = argparse.ArgumentParser(prog="python3 -m drydock.parquet", description=__doc__.splitlines()[0])
    parser.add_argument("source", metavar="FILE", help="the Parquet file")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the file of text")
    arguments = parser.parse_args()
    try:
        to_csv(arguments.source, arguments.output)
    except (DrydockError, OSError) as error:
        print(f"drydock.parquet: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
