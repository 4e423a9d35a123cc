# Builder: the one command of makeWrapper that flake.nix uses.
set -eu
source "$host"
PATH=$host_path

install -D -m 755 "$wrapProgram" "$out/bin/wrapProgram"
