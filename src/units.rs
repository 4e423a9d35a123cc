//! How quantities are written on pages: the number formats of the published measurement pages, digit for digit.
//!
//! Every format is C's `printf` rounding (half to even on the exact binary value), which Rust's `{:.N}` follows too;
//! `%.3g` is built from it. Knows nothing of where a number comes from: a missing one is the caller's [`NONE`].
//! The unit is chosen before rounding, as on the published pages, so 9999.6 cycles are `10000` and not `10.0 k`.

use std::collections::BTreeMap;

/// What stands where there is no number (U+2013).
pub const NONE: &str = "–";

/// `%.3g` of C: three significant digits, no trailing zeros, exponent form below 1e-4 and from 1e3 after rounding.
#[must_use]
pub fn g3(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let scientific = format!("{value:.2e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("`{:e}` writes an `e`");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes a whole exponent");
    if (-4..3).contains(&exponent) {
        let places = usize::try_from(2 - exponent).expect("an exponent below 3");
        short(&format!("{value:.places$}")).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", short(mantissa), exponent.abs())
    }
}

/// A decimal without trailing zeros and without a trailing point.
fn short(decimal: &str) -> &str {
    if decimal.contains('.') {
        decimal.trim_end_matches('0').trim_end_matches('.')
    } else {
        decimal
    }
}

/// Core cycles, or ticks of a constant-rate counter: `5.81 M`, `173.0 k`, `1469`.
#[must_use]
pub fn cycles(count: f64) -> String {
    if count >= 1e9 {
        format!("{:.2} G", count / 1e9)
    } else if count >= 1e6 {
        format!("{:.2} M", count / 1e6)
    } else if count >= 1e4 {
        format!("{:.1} k", count / 1e3)
    } else if count.is_finite() {
        format!("{count:.0}")
    } else {
        NONE.to_owned()
    }
}

/// A time given in seconds, in the first of s, ms, µs, ns that makes it at least 1: `82.7 µs`, `4.09 s`.
#[must_use]
pub fn time(seconds: f64) -> String {
    if !seconds.is_finite() {
        return NONE.to_owned();
    }
    for (factor, unit) in [(1.0, "s"), (1e3, "ms"), (1e6, "µs")] {
        if seconds * factor >= 1.0 {
            return format!("{} {unit}", g3(seconds * factor));
        }
    }
    format!("{} ns", g3(seconds * 1e9))
}

/// A fraction as a percentage: whole from 9.5 % on, one decimal below. 0.8323 is `83%`, 0.0021 is `0.2%`.
#[must_use]
pub fn percent(fraction: f64) -> String {
    if !fraction.is_finite() {
        NONE.to_owned()
    } else if fraction >= 0.095 {
        format!("{:.0}%", 100.0 * fraction)
    } else {
        format!("{:.1}%", 100.0 * fraction)
    }
}

/// Calls per operation by function, sorted by the bytes of the name: `drng 2, pseudoXOF 6.41`.
#[must_use]
pub fn calls(per_operation: &BTreeMap<String, f64>) -> String {
    if per_operation.is_empty() {
        return NONE.to_owned();
    }
    let each: Vec<_> = per_operation.iter().map(|(name, n)| format!("{name} {}", g3(*n))).collect();
    each.join(", ")
}

/// The number of timed calls with its make-up: `1480 (5 × 296)`.
#[must_use]
pub fn measurements(total: u64, trials: u64, iterations: u64) -> String {
    format!("{total} ({trials} × {iterations})")
}

/// A resident-set size given in bytes, in whole KiB, rounded down: `1424 KiB`.
#[must_use]
pub fn kib(bytes: u64) -> String {
    format!("{} KiB", bytes / 1024)
}

/// A counter rate given in Hz: `2.596 GHz`, `19.2 MHz`.
#[must_use]
pub fn rate(hz: f64) -> String {
    if hz >= 1e9 { format!("{:.3} GHz", hz / 1e9) } else { format!("{} MHz", g3(hz / 1e6)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A published cell read back as the number it shows.
    fn number(text: &str) -> f64 {
        text.trim_end_matches('%').parse().unwrap()
    }

    fn scaled(cell: &str) -> f64 {
        let (value, unit) = cell.split_once(' ').unwrap_or((cell, ""));
        let value = number(value);
        match unit {
            "" | "s" => value,
            "k" => value * 1e3,
            "M" => value * 1e6,
            "G" => value * 1e9,
            // Division, since 1e-3 and its kin have no exact binary form.
            "ms" => value / 1e3,
            "µs" => value / 1e6,
            "ns" => value / 1e9,
            other => panic!("unit {other}"),
        }
    }

    /// Splits one CSV line with quotes but without quoted quotes.
    fn fields(line: &str) -> Vec<String> {
        let mut quoted = false;
        let mut fields = vec![String::new()];
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                c => fields.last_mut().unwrap().push(c),
            }
        }
        fields
    }

    fn check(cell: &str, again: &str, checked: &mut u32) {
        assert_eq!(cell, again);
        *checked += 1;
    }

    #[test]
    fn every_published_cell_is_a_fixed_point_of_its_format() {
        let mut checked = 0;
        for csv in [
            include_str!("../testdata/published/x86_1.csv"),
            include_str!("../testdata/published/arm_1.csv"),
        ] {
            for line in csv.lines().skip(1) {
                let f = fields(line);
                assert_eq!(f.len(), 20, "{line}");
                check(&f[3], &cycles(scaled(&f[3])), &mut checked);
                check(&f[4], &time(scaled(&f[4])), &mut checked);
                check(&f[5], &g3(number(&f[5])), &mut checked);
                check(&f[6], &time(scaled(&f[6])), &mut checked);
                for share in [&f[13], &f[14]] {
                    check(share, &percent(number(share) / 100.0), &mut checked);
                }
                let each = f[15].split(", ").filter_map(|c| c.rsplit_once(' '));
                let map = each.map(|(name, n)| (name.to_owned(), number(n))).collect();
                check(&f[15], &calls(&map), &mut checked);
                let [n, trials, iters] = [&f[7], &f[8], &f[9]].map(|t| t.parse::<u64>().unwrap());
                assert_eq!(n, trials * iters);
                let cell = format!("{} ({} × {})", f[7], f[8], f[9]);
                check(&cell, &measurements(n, trials, iters), &mut checked);
                for size in [&f[11], &f[12]] {
                    let kilo: u64 = size.parse().unwrap();
                    check(&format!("{size} KiB"), &kib(kilo * 1024 + 1023), &mut checked);
                }
            }
        }
        assert_eq!(checked, 138 * 10);
    }

    #[test]
    fn the_quirks_of_the_published_pages_are_kept() {
        assert_eq!(cycles(9999.6), "10000");
        assert_eq!(cycles(999_999.6), "1000.0 k");
        assert_eq!(cycles(1469.4), "1469");
        assert_eq!(time(0.99951), "1e+03 ms");
        assert_eq!(time(0.037), "37 ms");
        assert_eq!(time(2.5e-10), "0.25 ns");
        assert_eq!(g3(1882.0), "1.88e+03");
        assert_eq!(g3(27.0), "27");
        assert_eq!(g3(0.244), "0.244");
        assert_eq!(percent(0.095), "10%");
        assert_eq!(percent(0.0933), "9.3%");
        assert_eq!(percent(0.0), "0.0%");
        assert_eq!(percent(1.0), "100%");
    }

    #[test]
    fn ties_go_to_the_even_digit() {
        assert_eq!(cycles(0.5), "0");
        assert_eq!(cycles(2.5), "2");
        assert_eq!(cycles(3.5), "4");
        assert_eq!(cycles(1_125_000.0), "1.12 M");
        assert_eq!(g3(1.125), "1.12");
        assert_eq!(g3(1.375), "1.38");
        assert_eq!(percent(0.125), "12%");
    }

    /// Bits of a value and what glibc's `printf("%.3g|%.2f|%.0f")` writes for it; made once, see testdata/printf.
    #[test]
    fn three_digits_agree_with_printf_on_recorded_values() {
        let mut seen = 0;
        for line in include_str!("../testdata/printf/values.txt").lines() {
            let mut parts = line.split(' ');
            let bits = u64::from_str_radix(parts.next().unwrap(), 16).unwrap();
            let value = f64::from_bits(bits);
            assert_eq!(g3(value), parts.next().unwrap(), "{value:e}");
            assert_eq!(format!("{value:.2}"), parts.next().unwrap(), "{value:e}");
            assert_eq!(format!("{value:.0}"), parts.next().unwrap(), "{value:e}");
            seen += 1;
        }
        assert_eq!(seen, 2000);
    }

    proptest! {
        #[test]
        fn three_digits_lie_as_near_as_the_exact_exponent_form(value in any::<f64>()) {
            prop_assume!(value.is_finite());
            let exact: f64 = format!("{value:.2e}").parse().unwrap();
            let text = g3(value);
            let shown: f64 = text.parse().unwrap();
            prop_assert_eq!(shown.to_bits(), exact.to_bits(), "{} for {:e}", text, value);
            let digits = text.split('e').next().unwrap().trim_start_matches(['-', '0', '.']);
            prop_assert!(digits.chars().filter(char::is_ascii_digit).count() <= 3);
        }
    }
}
