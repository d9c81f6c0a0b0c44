#!/usr/bin/env python3
"""Writes a C++ table of every setting that NCCL's sources look up.

  list_settings.py NCCL_SOURCE >settings_table.cc

A setting is a whole number if it is declared with NCCL_PARAM, else a text: any literal "NCCL_..."
of the sources. simccl/hacknccl/settings/setting_rules.h declares the table.
"""
import pathlib
import re
import sys

PARAM = re.compile(r'NCCL_PARAM\(\s*\w+\s*,\s*"([A-Z0-9_]+)"')
LITERAL = re.compile(r'"(NCCL_[A-Z0-9_]+)"')


def main():
    numbers, texts = set(), set()
    for path in sorted(pathlib.Path(sys.argv[1], "src").rglob("*")):
        if path.suffix not in (".cc", ".h"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        numbers.update("NCCL_" + name for name in PARAM.findall(text))
        texts.update(LITERAL.findall(text))
    if len(numbers) < 100 or "NCCL_ALGO" not in texts:
        sys.exit("list_settings.py: these are not the sources of NCCL")
    print('#include "simccl/hacknccl/settings/setting_rules.h"\n\nnamespace drydock {\nconst SettingName kSettingNames[] = {')
    for name in sorted(numbers | texts):
        print(f'    {{"{name}", {"true" if name in numbers else "false"}}},')
    print("};\nconst size_t kSettingNameCount = sizeof kSettingNames / sizeof kSettingNames[0];")
    print("}  // namespace drydock")


main()
