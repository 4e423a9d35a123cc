{
  description = "Measures cryptographic submissions as a reproducible, content-addressed pipeline";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-25.11";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;

      # Calls `f` once a system, with the packages and the outputs of that system.
      eachSystem =
        f:
        lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (
          system: f nixpkgs.legacyPackages.${system} self.packages.${system}.default
        );

      # What the pipelines in pipelines/ call. The first five build, run and profile; the others are for `command` stages.
      toolsOf =
        pkgs: with pkgs; [
          gcc
          binutils
          cmake
          ninja
          valgrind
          bash
          coreutils
          findutils
        ];

      # The program does not depend on data: a changed submission or pipeline does not compile it again.
      data = map (name: toString ./. + "/" + name) [
        ".ci"
        "docs"
        "kems"
        "nix"
        "pipelines"
        "store"
        "systems"
      ];
      programSource = builtins.path {
        name = "ngcc-source";
        path = ./.;
        filter = path: _type: !(builtins.elem path data);
      };

      crate = {
        inherit ((builtins.fromTOML (builtins.readFile ./Cargo.toml)).package) version;
        src = programSource;
        cargoLock.lockFile = ./Cargo.lock;
        # The tests are a check of their own, below.
        doCheck = false;
      };

      # A check that runs one cargo command on `src` and keeps nothing but the fact that it passed.
      cargoCheck =
        pkgs: name: attrs:
        pkgs.rustPlatform.buildRustPackage (
          crate
          // {
            pname = "ngcc-${name}";
            # Plain cargo, not the one that notes the dependencies in what it builds: nothing built here is kept.
            auditable = false;
            installPhase = "touch $out";
          }
          // attrs
        );
    in
    {
      packages = eachSystem (
        pkgs: _: {
          default = pkgs.rustPlatform.buildRustPackage (
            crate
            // {
              pname = "ngcc";
              nativeBuildInputs = [ pkgs.makeWrapper ];
              # The pinned tools come first, so that a result made through Nix was made with them.
              postInstall = ''
                wrapProgram $out/bin/ngcc --prefix PATH : ${lib.makeBinPath (toolsOf pkgs)}
              '';
              meta = {
                description = "Measures cryptographic submissions as a reproducible, content-addressed pipeline";
                license = with lib.licenses; [
                  mit
                  asl20
                ];
                mainProgram = "ngcc";
              };
            }
          );
        }
      );

      apps = eachSystem (
        _: ngcc: {
          default = {
            type = "app";
            program = "${ngcc}/bin/ngcc";
          };
        }
      );

      devShells = eachSystem (
        pkgs: _: {
          default = pkgs.mkShell {
            packages =
              toolsOf pkgs
              ++ (with pkgs; [
                rustc
                cargo
                clippy
                rustfmt
                cargo-nextest
              ]);
            # Nix's gcc adds hardening flags inside a shell; what is compiled here by hand is to be what was asked for.
            hardeningDisable = [ "all" ];
          };
        }
      );

      checks = eachSystem (
        pkgs: ngcc: {
          fmt = cargoCheck pkgs "fmt" {
            nativeBuildInputs = [ pkgs.rustfmt ];
            buildPhase = "cargo fmt --check";
          };

          clippy = cargoCheck pkgs "clippy" {
            nativeBuildInputs = [ pkgs.clippy ];
            buildPhase = "cargo clippy --offline --locked --all-targets -- -D warnings";
          };

          # The library's tests only: those in tests/ want valgrind, a whole machine and minutes, and run in `make test`.
          # They read the data of the repository, so they get all of it.
          tests = cargoCheck pkgs "tests" {
            src = self;
            nativeBuildInputs = toolsOf pkgs;
            # cmake is here to be called by ngcc; without this it would want to configure the crate.
            dontUseCmakeConfigure = true;
            buildPhase = "cargo test --offline --locked --lib";
          };

          # Builds our own C from the sources in this repository and compares every published known answer.
          kat = pkgs.runCommand "ngcc-kat" { nativeBuildInputs = [ ngcc ]; } ''
            cp -R ${self} workspace
            chmod -R u+w workspace
            # Nix gives a builder a terminal; through a pipe there is no progress bar in the log.
            set -o pipefail
            ngcc -C workspace --store "$PWD/store" pipeline run kat 'kem-18/independent' 2>&1 | cat
            touch $out
          '';
        }
      );
    };
}
