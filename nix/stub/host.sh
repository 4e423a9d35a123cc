# What a builder may know of the host. Nix empties the environment of a builder, and a flake is evaluated without
# one; so the facts are read from the process that started the builder, which is the user's own `nix` (there is no
# daemon). Nothing but bash is needed here.

# Prints the value of variable $1 of the process that started this one; nothing if it is not set or not readable.
of_caller() {
    local pair
    [ -r "/proc/$PPID/environ" ] || return 0
    while IFS= read -r -d '' pair; do
        case $pair in
        "$1="*)
            printf '%s' "${pair#*=}"
            return 0
            ;;
        esac
    done <"/proc/$PPID/environ"
}

host_home=$(of_caller HOME)
host_home=${host_home:-$(unset HOME && echo ~)} # Without HOME, bash asks the password file.
host_cargo_home=$(of_caller CARGO_HOME)
host_cargo_home=${host_cargo_home:-$host_home/.cargo}
host_path=$(of_caller PATH)
host_path=${host_path:-$host_cargo_home/bin:/usr/local/bin:/usr/bin:/bin}
