# Builder: $out/setup, to be sourced by the other builders and by `nix develop`.
set -eu
source "$host"
PATH=$host_path

mkdir -p "$out"
{
    printf 'base="%s"\nhost=%s\n' "$base" "$host"
    cat "$setup"
} >"$out/setup"
