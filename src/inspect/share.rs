//! What all instances of an implementation share, and what each has of its own.
//!
//! A line that is the same everywhere, or the same but for the instance's name or its number, stands once in the
//! recipe; anything else stands with its instance. The merge rule of recipes is the reader's (`spec::recipe_file`).

use std::collections::BTreeMap;

use super::found::{FoundInstance, Question};
use super::manifest::{Line, lines};
use super::naming::numbers;

/// Variables, lines and questions of one instance.
pub(super) type Own = (BTreeMap<&'static str, String>, Vec<Line>, Vec<Question>);

/// Lines of an implementation, sorted into one recipe and one list per instance.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) recipe: Vec<Line>,
    pub(super) vars: BTreeMap<&'static str, String>,
    /// Per instance: its variables, its lines, its questions.
    pub(super) own: Vec<Own>,
    pub(super) questions: Vec<Question>,
}

/// How names become variables.
#[derive(Debug, Clone)]
pub(super) struct Fill<'a> {
    /// The instance's name becomes `{instance}`.
    instance: Option<&'a str>,
    /// The instance's number becomes `{n}`.
    number: Option<&'a str>,
}

impl Fill<'_> {
    /// A text of a recipe: braces of its own are hidden behind a variable.
    pub(super) fn text(&self, text: &str) -> String {
        // Part by part, so that no replacement reaches into a variable.
        let parts: Vec<String> = text.split('{').map(|part| self.part(part)).collect();
        parts.join("{open}")
    }

    fn part(&self, text: &str) -> String {
        let Some(name) = self.instance else { return self.numbered(text) };
        let parts: Vec<String> = text.split(name).map(|part| self.numbered(part)).collect();
        parts.join("{instance}")
    }

    fn numbered(&self, text: &str) -> String {
        let Some(number) = self.number else { return text.to_owned() };
        let (mut out, mut rest) = (String::new(), text);
        while let Some(at) = rest.find(number) {
            let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
            let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back());
            let after = rest[at + number.len()..].chars().next();
            out.push_str(&rest[..at]);
            out.push_str(if digit(before) || digit(after) { number } else { "{n}" });
            rest = &rest[at + number.len()..];
        }
        out.push_str(rest);
        out
    }
}

const PLAIN: Fill<'static> = Fill { instance: None, number: None };

/// Sorts the lines.
pub(super) fn share(instances: &[FoundInstance]) -> Shared {
    let by_name: Vec<Fill<'_>> = instances
        .iter()
        .map(|i| Fill { instance: Some(i.name.value.as_str()), number: None })
        .collect();
    let first = split(instances, &by_name);
    let Some(numbers) = distinct_numbers(instances) else { return first };
    let by_number: Vec<Fill<'_>> = (by_name.iter().zip(&numbers))
        .map(|(fill, number)| Fill { number: Some(number.as_str()), ..fill.clone() })
        .collect();
    let mut second = split(instances, &by_number);
    let count = |shared: &Shared| shared.own.iter().map(|(_, lines, _)| lines.len()).sum::<usize>();
    if count(&second) >= count(&first) {
        return first;
    }
    for ((vars, _, _), number) in second.own.iter_mut().zip(&numbers) {
        vars.insert("n", number.clone());
    }
    second
}

/// The one number in which the names differ, if that is all they differ in.
fn distinct_numbers(instances: &[FoundInstance]) -> Option<Vec<String>> {
    if instances.len() < 2 {
        return None;
    }
    let all: Vec<Vec<&str>> = instances.iter().map(|i| numbers(i.name.value.as_str())).collect();
    let width = all[0].len();
    let differs = |at: usize| all.iter().any(|numbers| numbers.get(at) != all[0].get(at));
    let places: Vec<usize> = (0..width).filter(|at| differs(*at)).collect();
    let [place] = places[..] else { return None };
    if all.iter().any(|numbers| numbers.len() != width) {
        return None;
    }
    Some(all.iter().map(|numbers| numbers[place].to_owned()).collect())
}

fn split(instances: &[FoundInstance], fills: &[Fill<'_>]) -> Shared {
    let raw: Vec<Vec<Line>> = instances.iter().map(|i| lines(i, &PLAIN)).collect();
    let filled: Vec<Vec<Line>> =
        instances.iter().zip(fills).map(|(i, fill)| lines(i, fill)).collect();
    let mut shared = Shared {
        own: vec![(BTreeMap::new(), Vec::new(), Vec::new()); instances.len()],
        ..Shared::default()
    };
    let Some(first) = raw.first() else { return shared };
    let same = |all: &[Vec<Line>], at: usize| -> Option<Line> {
        let line = &all[0][at];
        let fits =
            |other: &Vec<Line>| other.iter().any(|l| l.key == line.key && l.value == line.value);
        all.iter().all(fits).then(|| line.clone())
    };
    let mut done = Vec::new();
    for at in 0..first.len() {
        let line = same(&raw, at).or_else(|| same(&filled, at));
        if let Some(line) = line {
            done.push(line.key.clone());
            shared.recipe.push(line);
        }
    }
    for (own, lines) in shared.own.iter_mut().zip(raw) {
        own.1 = lines.into_iter().filter(|line| !done.contains(&line.key)).collect();
    }
    questions(instances, fills, &mut shared);
    let braces = |line: &Line| line.value.iter().any(|text| text.contains("{open}"));
    let any =
        shared.recipe.iter().any(braces) || shared.own.iter().any(|own| own.1.iter().any(braces));
    if any {
        shared.vars.insert("open", "{".to_owned());
    }
    shared
}

/// A question that all instances have is asked once.
fn questions(instances: &[FoundInstance], fills: &[Fill<'_>], shared: &mut Shared) {
    let filled = |at: usize| -> Vec<Question> {
        let fill = |text: &str| fills[at].text(text);
        let all = instances[at].questions.iter();
        all.map(|q| {
            Question::new(q.field, fill(&q.text), q.candidates.iter().map(|c| fill(c)).collect())
        })
        .collect()
    };
    let all: Vec<Vec<Question>> = (0..instances.len()).map(filled).collect();
    for (at, instance) in instances.iter().enumerate() {
        for (question, filled) in instance.questions.iter().zip(&all[at]) {
            if all.iter().all(|other| other.contains(filled)) {
                if at == 0 {
                    shared.questions.push(question.clone());
                }
            } else {
                shared.own[at].2.push(question.clone());
            }
        }
    }
}
