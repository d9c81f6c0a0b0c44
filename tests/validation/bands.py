"""The band of a prediction from what summary.json says of its models, by the formula of docs/explanation/bands.md.

A kept prediction keeps the shares of its models. So its band follows configs/bands.yaml, and a change of that file needs no new
prediction. The steps are those of report/band, in the same order, so that the figures are those of `report`; the last bit of
a sum may round the ends of the band to the next picosecond.
"""
import math
import re


def read_errors(path):
    """Returns the values of bands.yaml: {"coverage": 0.8, "kernels.model": 0.06, ...}."""
    found, section = {}, ""
    for line in path.read_text().splitlines():
        match = re.match(r"( *)(\w+):\s*([\d.]*)\s*(#.*)?$", line)
        if not match or not match[1]:
            continue
        if len(match[1]) == 2:
            section = match[2]
        if match[3]:
            found[match[2] if len(match[1]) == 2 else f"{section}.{match[2]}"] = float(match[3])
    return found


def quantile(probability):
    """Returns the z within which a standard normal variable lies with this probability."""
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        if math.erf(middle / math.sqrt(2)) < probability:
            low = middle
        else:
            high = middle
    return low


def whole_picoseconds(seconds):
    """Returns the nearest picosecond, halves away from zero, as core/base/units.h has it."""
    return math.floor(seconds * 1e12 + 0.5) / 1e12


def band_of(said, seconds, errors):
    """Returns the band that `report` states for a prediction of `seconds`; `said` is the band of a summary.json, `errors` are
    the values of bands.yaml. A prediction without a band has none."""
    if not said:
        return {}
    band = {**said, "coverage": errors["coverage"], "whole_run_error": errors[f"whole_run.{said['kind']}"], "models": []}
    variance = band["whole_run_error"] ** 2
    for model in said["models"]:
        error = model["stated_error"] + model["entry_share"] * (errors[model["entry"]] if model["entry"] else 0.0)
        band["models"].append({**model, "error": error})
        variance += (model["share"] * error) ** 2
    factor = math.exp(quantile(band["coverage"]) * math.sqrt(math.pi / 2 * variance))
    band["low_s"], band["high_s"] = whole_picoseconds(seconds / factor), whole_picoseconds(seconds * factor)
    return band


def agree(band, other):
    """Returns whether two bands are the same, their ends to the picosecond."""
    ends = ("low_s", "high_s")
    if band.keys() != other.keys() or any(band[key] != other[key] for key in band if key not in ends):
        return False
    return all(abs(band[end] - other[end]) < 1.5e-12 for end in ends if end in band)
