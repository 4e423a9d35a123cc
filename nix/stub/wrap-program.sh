#!/bin/sh
# wrapProgram PROGRAM --prefix PATH : DIRS
set -eu
[ $# -eq 5 ] && [ "$2 $3 $4" = "--prefix PATH :" ] || {
    echo "nix/stub: wrapProgram is known only as: wrapProgram PROGRAM --prefix PATH : DIRS" >&2
    exit 1
}
hidden=$(dirname "$1")/.$(basename "$1")-wrapped
mv "$1" "$hidden"
cat >"$1" <<END
#!/bin/sh
PATH=$5\${PATH:+:\$PATH}
export PATH
exec "$hidden" "\$@"
END
chmod 755 "$1"
