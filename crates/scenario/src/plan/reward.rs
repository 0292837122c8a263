//! Rewards: arithmetic over quantities, parsed once and computed after each step.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = signed (("*" | "/") signed)*
//! signed  = "-" signed | power
//! power   = atom ("^" signed)?
//! atom    = number | quantity | function "(" sum ("," sum)* ")" | "(" sum ")"
//! ```
//!
//! A quantity is a dotted name, in double quotes if it has other characters than letters, digits, `_` and `.`. A pattern,
//! such as `"flows.*.goodput_bps"`, names several: arguments of `sum`, `mean`, `min` and `max`. Expressions are bounded in
//! length and depth, so one of a stranger can only compute.

use lasthop_registry::{Fault, Kind};

/// Longest expression in characters.
const LONGEST: usize = 4096;
/// Greatest number of parentheses, signs and functions around a number.
const DEEPEST: usize = 64;

type Function = fn(f64) -> f64;
type Way = fn(f64, f64) -> f64;

/// An operation on a stack of numbers.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Number(f64),
    /// the quantity at this place
    Read(usize),
    Negate,
    Combine(Way),
    Apply(Function),
    /// combines the topmost numbers: their count, the way, and whether the result is a mean
    Fold(usize, Way, bool),
}

/// An expression, as operations in the order in which they are carried out.
#[derive(Clone, Debug)]
pub(crate) struct Expression(Vec<Operation>);

/// Functions of one number.
const OF_ONE: [(&str, Function); 6] = [
    ("log", libm::log),
    ("log2", libm::log2),
    ("log10", libm::log10),
    ("exp", libm::exp),
    ("sqrt", libm::sqrt),
    ("abs", libm::fabs),
];

/// Functions of any count of numbers: the way, and whether the result is a mean.
const OF_SEVERAL: [(&str, Way, bool); 4] =
    [("sum", add, false), ("mean", add, true), ("min", f64::min, false), ("max", f64::max, false)];

fn add(a: f64, b: f64) -> f64 {
    a + b
}
fn subtract(a: f64, b: f64) -> f64 {
    a - b
}
fn multiply(a: f64, b: f64) -> f64 {
    a * b
}
fn divide(a: f64, b: f64) -> f64 {
    a / b
}

impl Expression {
    /// Parses `text`; `find` returns the places of the quantities of a name.
    ///
    /// # Errors
    /// A text that is no expression, an error of `find`, and an expression without a finite value where every quantity
    /// is 0, since nothing may arrive between two steps.
    pub(crate) fn parse(
        text: &str,
        find: &mut dyn FnMut(&str) -> Result<Vec<usize>, Fault>,
    ) -> Result<Expression, Fault> {
        if text.chars().count() > LONGEST {
            return Err((format!("an expression of more than {LONGEST} characters"), "shorten it").into());
        }
        let mut parser = Parser { text, at: 0, depth: 0, find, operations: Vec::new() };
        parser.sum()?;
        if let Some(rest) = parser.peek() {
            return Err(parser.wrong(&format!("\"{rest}\" begins no further part")));
        }
        let expression = Expression(parser.operations);
        let reads =
            expression.0.iter().filter_map(|one| if let Operation::Read(at) = one { Some(at + 1) } else { None });
        let zeros = vec![0.0; reads.max().unwrap_or(0)];
        let least = expression.value(&zeros, &mut Vec::new());
        if !least.is_finite() {
            let what = format!(
                "\"{text}\" is {least} where all its quantities are 0, as when nothing arrived since the last step"
            );
            return Err((what, "add a number, as in log(1 + x)").into());
        }
        Ok(expression)
    }

    /// Its value; `stack` is room for it.
    pub(crate) fn value(&self, quantities: &[f64], stack: &mut Vec<f64>) -> f64 {
        stack.clear();
        for operation in &self.0 {
            let result = match *operation {
                Operation::Number(number) => number,
                Operation::Read(place) => quantities[place],
                Operation::Negate => -popped(stack),
                Operation::Apply(function) => function(popped(stack)),
                Operation::Combine(way) => {
                    let right = popped(stack);
                    way(popped(stack), right)
                }
                Operation::Fold(count, way, is_mean) => {
                    let of = stack.len() - count;
                    let all = stack[of + 1..].iter().fold(stack[of], |all, one| way(all, *one));
                    stack.truncate(of);
                    if is_mean { all / count as f64 } else { all }
                }
            };
            stack.push(result);
        }
        popped(stack)
    }
}

fn popped(stack: &mut Vec<f64>) -> f64 {
    stack.pop().expect("each operation finds its numbers")
}

struct Parser<'a> {
    text: &'a str,
    /// bytes that have been read
    at: usize,
    depth: usize,
    find: &'a mut dyn FnMut(&str) -> Result<Vec<usize>, Fault>,
    operations: Vec<Operation>,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    /// Reads this character, if it is the next one.
    fn takes(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        self.at += if is_next { wanted.len_utf8() } else { 0 };
        is_next
    }

    /// Reads the longest run of such characters.
    fn run(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn wrong(&self, what: &str) -> Fault {
        let column = self.text[..self.at].chars().count() + 1;
        let what = format!("{what}, at character {column} of \"{}\"", self.text);
        (Kind::Syntax(what), "an expression such as log(1 + totals.goodput_bps) - 2 * medium.collision_fraction").into()
    }

    fn sum(&mut self) -> Result<(), Fault> {
        self.product()?;
        loop {
            let way = if self.takes('+') {
                add
            } else if self.takes('-') {
                subtract
            } else {
                return Ok(());
            };
            self.product()?;
            self.operations.push(Operation::Combine(way));
        }
    }

    fn product(&mut self) -> Result<(), Fault> {
        self.signed()?;
        loop {
            let way = if self.takes('*') {
                multiply
            } else if self.takes('/') {
                divide
            } else {
                return Ok(());
            };
            self.signed()?;
            self.operations.push(Operation::Combine(way));
        }
    }

    fn signed(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("it is nested too deeply"));
        }
        if self.takes('-') {
            self.signed()?;
            self.operations.push(Operation::Negate);
        } else {
            self.atom()?;
            if self.takes('^') {
                self.signed()?;
                self.operations.push(Operation::Combine(libm::pow));
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn atom(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                self.sum()?;
                self.close()
            }
            Some('"') => {
                let name = self.quoted()?;
                let places = (self.find)(name)?;
                self.read_one(name, &places)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => {
                let name = self.run(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                if self.peek() == Some('(') {
                    return self.function(name);
                }
                let places = (self.find)(name)?;
                self.read_one(name, &places)
            }
            Some(c) => Err(self.wrong(&format!("\"{c}\" begins no number, quantity or function"))),
            None => Err(self.wrong("a number, quantity or function is missing")),
        }
    }

    fn close(&mut self) -> Result<(), Fault> {
        if self.takes(')') { Ok(()) } else { Err(self.wrong("a ) is missing")) }
    }

    fn quoted(&mut self) -> Result<&'a str, Fault> {
        self.at += 1;
        let name = self.run(|c| c != '"');
        if self.text[self.at..].starts_with('"') {
            self.at += 1;
            return Ok(name);
        }
        Err(self.wrong("a closing \" is missing"))
    }

    fn number(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.run(|c| c.is_ascii_digit() || c == '.');
        let rest = &self.text.as_bytes()[self.at..];
        let sign = usize::from(rest.get(1).is_some_and(|c| b"+-".contains(c)));
        if rest.first().is_some_and(|c| b"eE".contains(c)) && rest.get(1 + sign).is_some_and(u8::is_ascii_digit) {
            self.at += 1 + sign;
            self.run(|c| c.is_ascii_digit());
        }
        let text = &self.text[start..self.at];
        let number = text.parse().map_err(|_| self.wrong(&format!("\"{text}\" is no number")))?;
        self.operations.push(Operation::Number(number));
        Ok(())
    }

    fn read_one(&mut self, name: &str, places: &[usize]) -> Result<(), Fault> {
        let [place] = places else {
            let what = format!("\"{name}\" names {} quantities", places.len());
            return Err((what, format!("write sum(\"{name}\"), or mean, min, max")).into());
        };
        self.operations.push(Operation::Read(*place));
        Ok(())
    }

    fn function(&mut self, name: &str) -> Result<(), Fault> {
        self.at += 1;
        if let Some((_, function)) = OF_ONE.iter().find(|(known, _)| *known == name) {
            self.sum()?;
            self.close()?;
            self.operations.push(Operation::Apply(*function));
            return Ok(());
        }
        let Some((_, way, is_mean)) = OF_SEVERAL.iter().find(|(known, ..)| *known == name) else {
            let known = OF_ONE.iter().map(|(name, _)| *name).chain(OF_SEVERAL.iter().map(|(name, ..)| *name));
            let known = known.map(String::from).collect();
            return Err(Kind::UnknownName { of: "function".into(), name: name.into(), known }.into());
        };
        let mut count = self.argument()?;
        while self.takes(',') {
            count += self.argument()?;
        }
        self.close()?;
        self.operations.push(Operation::Fold(count, *way, *is_mean));
        Ok(())
    }

    /// An argument of a function of several numbers: an expression, or a quoted name of several quantities alone.
    fn argument(&mut self) -> Result<usize, Fault> {
        if self.peek() == Some('"') {
            let start = self.at;
            let name = self.quoted()?;
            if matches!(self.peek(), Some(',' | ')')) {
                let places = (self.find)(name)?;
                self.operations.extend(places.iter().map(|place| Operation::Read(*place)));
                return Ok(places.len());
            }
            self.at = start;
        }
        self.sum().map(|()| 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of an expression in which `a` is 2, `b` is 3 and `"x*"` both of them.
    fn value(text: &str) -> Result<f64, String> {
        let mut find = |name: &str| match name {
            "a" => Ok(vec![0]),
            "b" => Ok(vec![1]),
            "x*" => Ok(vec![0, 1]),
            other => Err(Fault::from((format!("no {other}"), "a or b"))),
        };
        let expression = Expression::parse(text, &mut find).map_err(|fault| fault.sentence())?;
        Ok(expression.value(&[2.0, 3.0], &mut Vec::new()))
    }

    #[test]
    fn arithmetic_has_the_usual_order() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 3 - 2", 5.0),
            ("24 / 4 / 2", 3.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("-2 ^ 2", -4.0),
            ("2 ^ -1", 0.5),
            ("a * b - -1", 7.0),
            ("1e-3 * 2.5E3", 2.5),
            ("sum(\"x*\") + mean(\"x*\", 7) + max(a, b, 1) - min(\"x*\")", 5.0 + 4.0 + 3.0 - 2.0),
            ("sqrt(abs(0 - a * 8)) + log2(8) + exp(0) + log10(100)", 4.0 + 3.0 + 1.0 + 2.0),
            ("\"a\" + max(\"a\" * 2, 1)", 6.0),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_name_the_character_and_a_remedy() {
        for (text, part) in [
            ("", "is missing, at character 1"),
            ("1 +", "is missing, at character 4"),
            ("(a", "a ) is missing"),
            ("a b", "\"b\" begins no further part, at character 3"),
            ("\"a", "a closing \" is missing"),
            ("1.2.3", "\"1.2.3\" is no number"),
            ("system(a)", "unknown function \"system\""),
            ("__import__", "\"_\" begins no number"),
            ("c", "no c"),
            ("\"x*\"", "write sum(\"x*\")"),
            ("log(a)", "is -inf where all its quantities are 0"),
            ("1 / a", "add a number"),
        ] {
            let mistake = value(text).expect_err(text);
            assert!(mistake.contains(part), "{text}: {mistake}");
        }
        assert!(value(&"(".repeat(10_000)).is_err());
        assert!(value(&format!("{}a", "-".repeat(100))).is_err());
    }
}
