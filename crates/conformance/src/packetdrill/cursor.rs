//! A position among the tokens of a script, and the tokens that may be taken there.

use crate::packetdrill::lexer::{Kind, SyntaxError, Token};
use crate::packetdrill::script::LATEST_US;

/// A position among the tokens.
pub(crate) struct Cursor<'a> {
    tokens: &'a [Token],
    place: usize,
    /// lists and structures that are open
    pub depth: usize,
}

pub(crate) type Parsed<T> = Result<T, SyntaxError>;

impl<'a> Cursor<'a> {
    pub fn new(tokens: &'a [Token]) -> Self {
        Cursor { tokens, place: 0, depth: 0 }
    }
    pub fn peek(&self) -> Option<&'a Kind> {
        self.tokens.get(self.place).map(|token| &token.kind)
    }
    pub fn peek_after(&self, ahead: usize) -> Option<&'a Kind> {
        self.tokens.get(self.place + ahead).map(|token| &token.kind)
    }
    pub fn line(&self) -> usize {
        self.tokens.get(self.place).or(self.tokens.last()).map_or(1, |token| token.line)
    }
    pub fn next(&mut self) -> Option<&'a Kind> {
        let kind = self.peek();
        self.place += 1;
        kind
    }
    pub fn fail<T>(&self, why: impl Into<String>) -> Parsed<T> {
        Err(SyntaxError { line: self.line(), why: why.into() })
    }
    pub fn is_sign(&self, sign: char) -> bool {
        self.peek() == Some(&Kind::Sign(sign))
    }
    /// Takes the sign if it is there.
    pub fn takes_sign(&mut self, sign: char) -> bool {
        let is = self.is_sign(sign);
        self.place += usize::from(is);
        is
    }
    pub fn sign(&mut self, sign: char) -> Parsed<()> {
        if self.takes_sign(sign) { Ok(()) } else { self.fail(format!("'{sign}' is missing here{}", self.found())) }
    }
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Kind::Word(found)) if found == word)
    }
    pub fn takes_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.place += usize::from(is);
        is
    }
    pub fn word(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Kind::Word(word)) => {
                self.place += 1;
                Ok(word.clone())
            }
            _ => self.fail(format!("a word is missing here{}", self.found())),
        }
    }
    pub fn int(&mut self) -> Parsed<i64> {
        match self.peek() {
            Some(Kind::Int(value) | Kind::Hex(value)) => {
                self.place += 1;
                Ok(*value)
            }
            _ => self.fail(format!("a whole number is missing here{}", self.found())),
        }
    }
    /// A whole number that fits its field.
    pub fn number<T: TryFrom<i64>>(&mut self, of: &str) -> Parsed<T> {
        let line = self.line();
        let value = self.int()?;
        T::try_from(value).map_err(|_| SyntaxError { line, why: format!("{of} {value} is out of range") })
    }
    pub fn found(&self) -> String {
        match self.peek() {
            None => " at the end".to_string(),
            Some(kind) => format!(", before \"{kind}\""),
        }
    }
    pub fn microseconds(&mut self) -> Parsed<i64> {
        let seconds = match self.peek() {
            Some(Kind::Int(value)) => *value as f64,
            Some(Kind::Float(value, _)) => *value,
            _ => return self.fail(format!("a time is missing here{}", self.found())),
        };
        if seconds < 0.0 {
            return self.fail("a negative time");
        }
        // To the nearest: a time like 0.1 s has no exact binary form.
        let microseconds = (seconds * 1e6 + 0.5) as i64;
        if microseconds > LATEST_US {
            let limit = LATEST_US / 1_000_000;
            let stated = self.peek().map_or(String::new(), Kind::to_string);
            return self.fail(format!("a time of {stated} s; a script may take a day, {limit} s"));
        }
        self.place += 1;
        Ok(microseconds)
    }
}
