# The environment of a build: PATH has what was declared and nothing else. $base and $host come from stdenv.sh.
source "$host"

PATH=
for package in ${nativeBuildInputs-} $base; do
    PATH=${PATH:+$PATH:}$package/bin
done
export PATH

# Where the host's cargo and rustup keep the registry and the toolchains.
export CARGO_HOME=$host_cargo_home
RUSTUP_HOME=$(of_caller RUSTUP_HOME)
export RUSTUP_HOME=${RUSTUP_HOME:-$host_home/.rustup}
RUSTUP_TOOLCHAIN=$(of_caller RUSTUP_TOOLCHAIN)
if [ -n "$RUSTUP_TOOLCHAIN" ]; then
    export RUSTUP_TOOLCHAIN
else
    unset RUSTUP_TOOLCHAIN
fi
