# Builder: $out/bin links to the host's $programs, or the build fails and says what is missing.
set -eu
source "$host"
PATH=$host_path

mkdir -p "$out/bin"
for program in $programs; do
    if ! found=$(type -P "$program"); then
        echo "nix/stub: this host has no \`$program\`, which stands for a part of nixpkgs' \`$name\`; to get it: $from" >&2
        exit 1
    fi
    ln -s "$found" "$out/bin/$program"
done
