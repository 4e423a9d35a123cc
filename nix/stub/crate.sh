# rustPlatform.buildRustPackage: unpack, build, check, install, with the phases that flake.nix replaces.
#
# Two differences from nixpkgs, for speed: the development profile, unoptimised where the crate itself is concerned
# (a quarter of the time), and one cargo target directory for all builds (the caller's CARGO_TARGET_DIR, else one
# beside the store), so that the dependencies are compiled once.
set -o pipefail
CARGO_TARGET_DIR=$(of_caller CARGO_TARGET_DIR)
case $CARGO_TARGET_DIR in
/*) ;;
*) CARGO_TARGET_DIR=$(dirname "$NIX_STORE")/cargo ;;
esac
export CARGO_TARGET_DIR CARGO_NET_OFFLINE=true CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_OPT_LEVEL=0 INSTA_UPDATE=no

# A fresh copy has fresh times, so cargo cannot take an older build of other sources for this one.
cp -R "$src" "$NIX_BUILD_TOP/source"
chmod -R u+w "$NIX_BUILD_TOP/source"
cd "$NIX_BUILD_TOP/source"
if [ "$(cat "$lockFile")" != "$(cat Cargo.lock)" ]; then
    echo "nix/stub: the Cargo.lock of the source is not the file that cargoLock.lockFile names" >&2
    exit 1
fi

if [ -n "${buildPhase-}" ]; then
    eval "$buildPhase"
else
    cargo build --offline --locked
fi
if [ -n "${doCheck-1}" ]; then
    eval "${checkPhase:-cargo test --offline --locked}"
fi
if [ -n "${installPhase-}" ]; then
    eval "$installPhase"
else
    install -D "$CARGO_TARGET_DIR/debug/$pname" "$out/bin/$pname"
fi
eval "${postInstall-}"
