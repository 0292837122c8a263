//! The report on a broken promise: enough to repeat it.

use core::fmt;

/// A promise that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// name of the subject
    pub subject: String,
    /// name of the rule, which is that of the function that tests it
    pub rule: &'static str,
    /// seed of the random draws
    pub seed: u64,
    /// step of the test, counted from 0
    pub step: u64,
    /// the finding, and the expectation
    pub found: String,
    /// the command that runs this rule, for this subject, with this seed
    pub command: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Failure { subject, rule, seed, step, found, command } = self;
        write!(f, "{subject}: {rule}: seed {seed}, step {step}: {found}; again with: {command}")
    }
}

impl std::error::Error for Failure {}

/// Writes the command that repeats a rule for a subject and a seed.
pub type Command = fn(subject: &str, rule: &str, seed: u64) -> String;

/// The test that is running, for its failure.
#[derive(Clone, Debug)]
pub(crate) struct Trial<'a> {
    pub subject: &'a str,
    pub rule: &'static str,
    pub seed: u64,
    pub command: Command,
}

impl Trial<'_> {
    /// # Errors
    /// The failure, unless `holds`.
    pub fn require(&self, step: u64, holds: bool, found: impl FnOnce() -> String) -> Result<(), Failure> {
        if holds {
            return Ok(());
        }
        Err(Failure {
            subject: self.subject.to_string(),
            rule: self.rule,
            seed: self.seed,
            step,
            found: found(),
            command: (self.command)(self.subject, self.rule, self.seed),
        })
    }
}

/// Makes `Rule`, the list `RULES` and `suite` of a kind of subject from its rules and their seeds.
macro_rules! rules {
    ($(#[$doc:meta])* $subject:ident; $( $rule:ident: $seeds:expr ),* $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct Rule {
            /// the name of its function
            pub name: &'static str,
            /// tests it, once for each seed, up to the first failure
            pub test: fn(&$subject, Range<u64>) -> Result<(), Failure>,
            /// the seeds that [`suite`] takes
            pub seeds: Range<u64>,
        }

        /// The list of all promises.
        pub static RULES: &[Rule] = &[$( Rule { name: stringify!($rule), test: $rule, seeds: $seeds } ),*];

        /// Tests a subject against every promise; returns the broken ones, each with its first seed and step.
        pub fn suite(subject: &$subject) -> Vec<Failure> {
            RULES.iter().filter_map(|rule| (rule.test)(subject, rule.seeds.clone()).err()).collect()
        }
    };
}
pub(crate) use rules;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_names_subject_place_fault_and_command_to_repeat() {
        let command: Command = |subject, rule, seed| format!("SUBJECT={subject} SEED={seed} cargo test {rule}");
        let trial = Trial { subject: "mine", rule: "stays_in_bounds", seed: 7, command };
        assert_eq!(trial.require(3, true, || unreachable!("it holds")), Ok(()));
        let failure = trial.require(41, false, || "a window of 0.5 segments, at least 1".into()).unwrap_err();
        assert_eq!(
            failure.to_string(),
            "mine: stays_in_bounds: seed 7, step 41: a window of 0.5 segments, at least 1; \
             again with: SUBJECT=mine SEED=7 cargo test stays_in_bounds"
        );
    }
}
