//! Text into tokens: longest match, comments of C and C++ skipped.

/// A piece of text with the line on which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub line: usize,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// `--name`
    Option(String),
    /// with its text, since `1.5` may be flags of accurate ECN
    Float(f64, String),
    Int(i64),
    Hex(i64),
    Word(String),
    Text(String),
    /// between backquotes
    Shell(String),
    /// between `%{` and `}%`
    Code(String),
    Ellipsis,
    Address(String),
    Sign(char),
}

impl std::fmt::Display for Kind {
    /// The token as in a script.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Option(name) => write!(f, "--{name}"),
            Kind::Float(_, text) | Kind::Word(text) | Kind::Address(text) => f.write_str(text),
            Kind::Int(value) => write!(f, "{value}"),
            Kind::Hex(value) => write!(f, "{value:#x}"),
            Kind::Text(text) => write!(f, "{text:?}"),
            Kind::Shell(_) => f.write_str("a shell command"),
            Kind::Code(_) => f.write_str("code"),
            Kind::Ellipsis => f.write_str("..."),
            Kind::Sign(sign) => write!(f, "{sign}"),
        }
    }
}

/// A syntax error with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub line: usize,
    pub why: String,
}

pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut lexer = Lexer { rest: text, line: 1, tokens: Vec::new() };
    while lexer.step()? {}
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    tokens: Vec<Token>,
}

impl<'a> Lexer<'a> {
    fn step(&mut self) -> Result<bool, SyntaxError> {
        let Some(first) = self.rest.chars().next() else { return Ok(false) };
        if first.is_whitespace() {
            self.take(first.len_utf8());
        } else if self.rest.starts_with("//") {
            let length = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(length);
        } else if self.rest.starts_with("/*") {
            self.between("/*", "*/")?;
        } else if self.rest.starts_with("%{") {
            let line = self.line;
            let code = self.between("%{", "}%")?.trim_matches([' ', '\t']).to_string();
            self.push(line, Kind::Code(code));
        } else if first == '`' || first == '"' {
            let line = self.line;
            let inner = self.quoted(first)?;
            self.push(line, if first == '`' { Kind::Shell(inner) } else { Kind::Text(inner) });
        } else {
            let (length, kind) = plain(self.rest, first);
            self.push(self.line, kind);
            self.take(length);
        }
        Ok(true)
    }

    fn push(&mut self, line: usize, kind: Kind) {
        self.tokens.push(Token { line, kind });
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn between(&mut self, open: &str, close: &str) -> Result<&'a str, SyntaxError> {
        let Some(length) = self.rest[open.len()..].find(close) else {
            return Err(SyntaxError { line: self.line, why: format!("{open} without {close}") });
        };
        Ok(&self.take(open.len() + length + close.len())[open.len()..open.len() + length])
    }

    /// A quote ends at the next one that no backslash precedes.
    fn quoted(&mut self, quote: char) -> Result<String, SyntaxError> {
        let mut escaped = false;
        for (place, letter) in self.rest.char_indices().skip(1) {
            if letter == quote && !escaped {
                return Ok(self.take(place + 1)[1..place].to_string());
            }
            escaped = letter == '\\' && !escaped;
        }
        Err(SyntaxError { line: self.line, why: format!("{quote} without another") })
    }
}

/// A number, an address, a word or a sign: its length and its kind.
fn plain(text: &str, first: char) -> (usize, Kind) {
    if text.starts_with("...") {
        return (3, Kind::Ellipsis);
    }
    if let Some(name) = text.strip_prefix("--") {
        let length = word_length(name);
        if length > 0 {
            return (2 + length, Kind::Option(name[..length].to_string()));
        }
    }
    let word = word_length(text);
    if let Some(length) = address_length(text) {
        return (length, Kind::Address(text[..length].to_string()));
    }
    if text.starts_with("0x")
        && word > 2
        && let Ok(value) = u64::from_str_radix(&text[2..word], 16)
    {
        return (word, Kind::Hex(value as i64));
    }
    let number = number_length(text);
    if number > 0 && number >= word {
        let digits = &text[..number];
        let kind = match digits.parse::<i64>() {
            Ok(value) => Kind::Int(value),
            Err(_) => Kind::Float(digits.parse().unwrap_or(0.0), digits.to_string()),
        };
        return (number, kind);
    }
    if word > 0 {
        return (word, Kind::Word(text[..word].to_string()));
    }
    (first.len_utf8(), Kind::Sign(first))
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '#')).unwrap_or(text.len())
}

fn digits(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
}

/// `-5`, `12`, `.105`, `1.5`.
fn number_length(text: &str) -> usize {
    let sign = usize::from(text.starts_with('-'));
    let whole = sign + digits(&text[sign..]);
    if text[whole..].starts_with('.') {
        let fraction = digits(&text[whole + 1..]);
        if fraction > 0 {
            return whole + 1 + fraction;
        }
    }
    if whole > sign { whole } else { 0 }
}

/// `192.0.2.1`.
fn address_length(text: &str) -> Option<usize> {
    let mut at = 0;
    for part in 0..4 {
        let length = digits(&text[at..]);
        if length == 0 {
            return None;
        }
        at += length;
        if part < 3 {
            text[at..].starts_with('.').then_some(())?;
            at += 1;
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn a_line_of_a_script_falls_into_its_tokens() {
        let word = |w: &str| Kind::Word(w.to_string());
        assert_eq!(
            kinds("+.105 < S. 1:1(0) /* so */ win 0x10 // end"),
            [
                Kind::Sign('+'),
                Kind::Float(0.105, ".105".into()),
                Kind::Sign('<'),
                word("S"),
                Kind::Sign('.'),
                Kind::Int(1),
                Kind::Sign(':'),
                Kind::Int(1),
                Kind::Sign('('),
                Kind::Int(0),
                Kind::Sign(')'),
                word("win"),
                Kind::Hex(16),
            ]
        );
    }

    #[test]
    fn quotes_and_code_keep_their_text_and_their_line() {
        let found = tokens("`a\nb`\n%{ assert x }% \"q\" ... 10.0.0.1 --mss=5").unwrap();
        assert_eq!(found[0], Token { line: 1, kind: Kind::Shell("a\nb".into()) });
        assert_eq!(found[1], Token { line: 3, kind: Kind::Code("assert x".into()) });
        assert_eq!(found[2].kind, Kind::Text("q".into()));
        assert_eq!(found[3].kind, Kind::Ellipsis);
        assert_eq!(found[4].kind, Kind::Address("10.0.0.1".into()));
        assert_eq!(found[5].kind, Kind::Option("mss".into()));
    }

    #[test]
    fn unclosed_bracket_is_an_error_with_its_line() {
        assert_eq!(tokens("\n/* x").unwrap_err(), SyntaxError { line: 2, why: "/* without */".into() });
    }
}
