#!/usr/bin/env python3
"""Writes the completion of all tools for bash and zsh, from --help.

Usage: scripts/completions.py BIN PREFIX     # PREFIX/share/bash-completion/completions/drydock, PREFIX/share/zsh/...

Both complete commands, options, names of shipped models and clusters, and files. bash loads the file of a command by its
name, so that each tool has a link.
"""
import pathlib
import re
import sys

import help_texts

BASH = """# Completion of Drydock's tools for bash. Made by scripts/completions.py from --help.
_drydock_words() {
  case $1 in
@CASES@
  esac
}
_drydock_shipped() { drydock "$1" 2>/dev/null | sed -n '2,/^$/s/^\\([^ ][^ ]*\\) .*/\\1/p'; }
_drydock() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} key=${COMP_WORDS[0]##*/} i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} != -* ]] || break
    [[ -n $(_drydock_words "$key ${COMP_WORDS[i]}") ]] || break
    key="$key ${COMP_WORDS[i]}"
  done
  if [[ $before == --cluster ]]; then
    COMPREPLY=($(compgen -W "$(_drydock_shipped clusters)" -- "$word") $(compgen -f -- "$word"))
  elif [[ $key == "drydock run" || $key == "drydock check" || $key == *[-\\ ]sweep || $key == *[-\\ ]search ]] && [[ $word != -* && $before != -* ]]; then
    COMPREPLY=($(compgen -W "$(_drydock_shipped models) $(_drydock_shipped clusters)" -- "$word") $(compgen -f -- "$word"))
  elif [[ $word == -* || $COMP_CWORD == 1 && $key == drydock ]]; then
    COMPREPLY=($(compgen -W "$(_drydock_words "$key")" -- "$word"))
  else
    COMPREPLY=($(compgen -W "$(_drydock_words "$key" | tr ' ' '\\n' | grep -v '^-')" -- "$word") $(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _drydock @TOOLS@
"""
ZSH = """#compdef @TOOLS@
# Completion of Drydock's tools for zsh. Made by scripts/completions.py from --help.
_drydock_words() {
  case $1 in
@CASES@
  esac
}
_drydock_shipped() { drydock "$1" 2>/dev/null | sed -n '2,/^$/s/^\\([^ ][^ ]*\\) .*/\\1/p'; }
_drydock() {
  local key=${words[1]:t} before=${words[CURRENT-1]} i
  for ((i = 2; i < CURRENT; ++i)); do
    [[ ${words[i]} != -* && -n $(_drydock_words "$key ${words[i]}") ]] || break
    key="$key ${words[i]}"
  done
  if [[ $before == --cluster ]]; then
    compadd -- ${(f)"$(_drydock_shipped clusters)"}
    _files
  elif [[ ($key == "drydock run" || $key == "drydock check" || $key == *[-\\ ]sweep || $key == *[-\\ ]search) && $PREFIX != -* && $before != -* ]]; then
    compadd -- ${(f)"$(_drydock_shipped models; _drydock_shipped clusters)"}
    _files
  else
    compadd -- ${=$(_drydock_words "$key")}
    [[ $PREFIX == -* || $key == drydock ]] || _files
  fi
}
_drydock "$@"
"""


def words_of(text):
    """The commands and long options of a help text."""
    return help_texts.commands_of(text) + [name for names in help_texts.offered(text) for name in names if name.startswith("--")]


def table(binaries):
    """Command -> its words. The short names of drydock have the words of the commands that they stand for."""
    helps = help_texts.all_helps(binaries, ("gpu-profiler", "drydock-capture"))
    words = {command: words_of(text) for _, texts in helps for command, text in texts}
    text = help_texts.help_of(pathlib.Path(binaries) / "drydock")
    names = re.search(r"^Commands of the tools.*\n((?:  .*\n)+)", text, re.M)[1]
    for alias, meant in re.findall(r"^  ([\w-]+) .*\(([\w -]+)\)$", names, re.M):
        if meant in words:
            words[f"drydock {alias}"] = words[meant]
            words["drydock"].append(alias)
    for tool in help_texts.TOOLS[1:]:
        if tool in words:
            words["drydock"].append(tool.removeprefix("drydock-"))
            words[f"drydock {tool.removeprefix('drydock-')}"] = words[tool]
    words["drydock"].append("help")
    return words


def main(binaries, prefix):
    words = table(binaries)
    cases = "\n".join(f'    "{command}") echo "{" ".join(dict.fromkeys(names))}" ;;' for command, names in sorted(words.items()))
    tools = sorted(command for command in words if " " not in command)
    bash = pathlib.Path(prefix) / "share/bash-completion/completions"
    zsh = pathlib.Path(prefix) / "share/zsh/vendor-completions"
    for folder in (bash, zsh):
        folder.mkdir(parents=True, exist_ok=True)
    (bash / "drydock").write_text(BASH.replace("@CASES@", cases).replace("@TOOLS@", " ".join(tools)))
    (zsh / "_drydock").write_text(ZSH.replace("@CASES@", cases).replace("@TOOLS@", " ".join(tools)))
    for tool in tools:
        if tool != "drydock":
            (bash / tool).unlink(missing_ok=True)
            (bash / tool).symlink_to("drydock")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
