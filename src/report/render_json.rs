//! Figures as JSON: what a page says, for programs, with the links to the evidence.
//!
//! Key order is fixed, numbers read back to the same bits, a missing value is `null` and the column `state` says why.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::columns::COLUMNS;
use super::figures::{Figure, environment};
use super::index::sorted;
use super::input::{
    AbsentInput, CampaignInput, FindingInput, IndexInput, IndexRow, PageInput, SubmissionInput,
    SystemInput,
};

/// Version of the figure files; raised when a reader would have to change.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Page<'a> {
    schema: u32,
    submission: &'a SubmissionInput,
    system: &'a SystemInput,
    campaign: &'a CampaignInput,
    environment: &'a std::collections::BTreeMap<String, String>,
    units: Units,
    rows: Vec<Row<'a>>,
    findings: &'a [FindingInput],
}

/// Units by column.
struct Units;

impl Serialize for Units {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(COLUMNS.iter().filter(|c| !c.unit.is_empty()).map(|c| (c.name, c.unit)))
    }
}

/// One row, as an object in column order.
struct Row<'a>(&'a PageInput, &'a Figure<'a>);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(COLUMNS.len()))?;
        for column in &COLUMNS {
            map.serialize_entry(column.name, &(column.value)(self.0, self.1))?;
        }
        map.end()
    }
}

/// The figures of one page.
pub(super) fn figures(input: &PageInput, figures: &[Figure<'_>]) -> String {
    pretty(&Page {
        schema: SCHEMA,
        submission: &input.submission,
        system: &input.system,
        campaign: &input.campaign,
        environment: environment(input),
        units: Units,
        rows: figures.iter().map(|f| Row(input, f)).collect(),
        findings: &input.findings,
    })
}

/// The submissions of a run.
pub(super) fn index(input: &IndexInput) -> String {
    #[derive(Serialize)]
    struct Index<'a> {
        schema: u32,
        pipeline: &'a str,
        system: &'a SystemInput,
        campaign: &'a CampaignInput,
        submissions: Vec<&'a IndexRow>,
        absent: &'a [AbsentInput],
    }
    pretty(&Index {
        schema: SCHEMA,
        pipeline: &input.pipeline,
        system: &input.system,
        campaign: &input.campaign,
        submissions: sorted(input),
        absent: &input.absent,
    })
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("plain data with text keys has a JSON form") + "\n"
}
