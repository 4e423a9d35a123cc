# Stands in for nixpkgs where nixpkgs cannot be reached: `--override-input nixpkgs path:./nix/stub`.
#
# It has the few attributes that ../../flake.nix uses, each made of the host's own programs. A build sees only
# the programs that it declares, so a tool missing from a list in flake.nix is found here. What it cannot show
# is in docs/NIX.md: above all, that an attribute exists in the real nixpkgs.
{
  description = "The host's tools under the names nixpkgs gives them";

  outputs =
    { self }:
    let
      lib = {
        genAttrs =
          names: f:
          builtins.listToAttrs (
            map (name: {
              inherit name;
              value = f name;
            }) names
          );
        makeBinPath = packages: builtins.concatStringsSep ":" (map (package: "${package}/bin") packages);
        licenses = {
          mit.spdxId = "MIT";
          asl20.spdxId = "Apache-2.0";
        };
      };

      packagesFor =
        system:
        let
          # `nix develop` accepts only what bash builds and what names its outputs.
          bashDerivation =
            attrs:
            derivation (
              {
                inherit system;
                builder = "/bin/bash";
                outputs = [ "out" ];
                host = ./host.sh;
              }
              // attrs
            );

          # Links to programs of the host; `from` says how to get them.
          tool =
            name: from: programs:
            bashDerivation {
              inherit name from programs;
              args = [ ./tool.sh ];
            };
          debian = package: "apt-get install ${package}";
          rust = "https://rustup.rs";

          # Sources `setup.sh`, as the builders of nixpkgs source theirs, then runs `script`.
          build =
            script: attrs:
            bashDerivation (
              {
                inherit stdenv;
                args = [
                  "-euc"
                  "source $stdenv/setup; ${script}"
                ];
              }
              // attrs
            );

          # As in nixpkgs: what every build has without asking.
          stdenv = bashDerivation {
            name = "stdenv";
            args = [ ./stdenv.sh ];
            setup = ./setup.sh;
            base = with tools; [
              bash
              binutils
              coreutils
              findutils
              gcc
              (tool "text" (debian "grep sed gawk") [
                "grep"
                "sed"
                "awk"
              ])
            ];
          };

          tools = {
            bash = tool "bash" (debian "bash") [
              "bash"
              "sh"
            ];
            bashInteractive = tools.bash;
            binutils = tool "binutils" (debian "binutils") [
              "ar"
              "as"
              "ld"
              "nm"
              "objcopy"
              "objdump"
              "ranlib"
              "readelf"
              "size"
              "strip"
            ];
            cargo = tool "cargo" rust [ "cargo" ];
            cargo-nextest = tool "cargo-nextest" "https://nexte.st" [ "cargo-nextest" ];
            clippy = tool "clippy" rust [
              "cargo-clippy"
              "clippy-driver"
            ];
            cmake = tool "cmake" (debian "cmake") [ "cmake" ];
            coreutils = tool "coreutils" (debian "coreutils") [
              "basename"
              "cat"
              "chmod"
              "cp"
              "cut"
              "dirname"
              "env"
              "head"
              "id"
              "install"
              "ln"
              "ls"
              "mkdir"
              "mktemp"
              "mv"
              "nproc"
              "readlink"
              "realpath"
              "rm"
              "rmdir"
              "sleep"
              "sort"
              "tail"
              "touch"
              "tr"
              "true"
              "uname"
              "wc"
            ];
            findutils = tool "findutils" (debian "findutils") [
              "find"
              "xargs"
            ];
            gcc = tool "gcc" (debian "gcc") [
              "cc"
              "gcc"
            ];
            makeWrapper = bashDerivation {
              name = "make-wrapper";
              args = [ ./make-wrapper.sh ];
              wrapProgram = ./wrap-program.sh;
            };
            ninja = tool "ninja" (debian "ninja-build") [ "ninja" ];
            rustc = tool "rustc" rust [
              "rustc"
              "rustdoc"
            ];
            rustfmt = tool "rustfmt" rust [
              "cargo-fmt"
              "rustfmt"
            ];
            valgrind = tool "valgrind" (debian "valgrind") [ "valgrind" ];
          };
        in
        tools
        // {
          inherit stdenv;

          mkShell =
            attrs:
            build "touch $out" (
              {
                name = "nix-shell";
                nativeBuildInputs = attrs.packages;
              }
              // removeAttrs attrs [ "packages" ]
            );

          runCommand =
            name: attrs: script:
            build "cd $NIX_BUILD_TOP; eval \"$buildCommand\"" (
              {
                inherit name;
                buildCommand = script;
              }
              // attrs
            );

          rustPlatform.buildRustPackage =
            attrs:
            build "source $crate" (
              # A set cannot be passed to a builder.
              removeAttrs attrs [
                "cargoLock"
                "meta"
              ]
              // {
                name = "${attrs.pname}-${attrs.version}";
                crate = ./crate.sh;
                lockFile = attrs.cargoLock.lockFile;
                nativeBuildInputs = [
                  tools.cargo
                  tools.rustc
                ]
                ++ attrs.nativeBuildInputs or [ ];
              }
            );
        };
    in
    {
      inherit lib;
      legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] packagesFor;
    };
}
