//! A position in JSON, and the next item from there.

/// A position in JSON without blanks.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Cursor { text, at: 0 }
    }

    /// A position reached before.
    pub(crate) fn at(text: &'a str, at: usize) -> Self {
        Cursor { text, at }
    }

    /// The number of bytes before it.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// The next byte; 0 at the end.
    #[inline(always)]
    pub(crate) fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Skips one byte.
    #[inline(always)]
    pub(crate) fn pass(&mut self) {
        self.at += 1;
    }

    /// A string, with its quotes.
    #[inline(always)]
    pub(crate) fn string(&mut self) -> &'a str {
        let begun = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            match bytes[self.at] {
                b'"' => break,
                // The escaped character never ends the string.
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        &self.text[begun..self.at]
    }

    /// A number, or `null`, `true` or `false`.
    #[inline(always)]
    pub(crate) fn word(&mut self) -> &'a str {
        let begun = self.at;
        while !matches!(self.peek(), b',' | b'}' | b']' | b':' | 0) {
            self.at += 1;
        }
        &self.text[begun..self.at]
    }

    /// A key of a table, without its quotes, and the colon after it.
    #[inline(always)]
    pub(crate) fn key(&mut self) -> &'a str {
        let key = self.string();
        self.at += 1;
        &key[1..key.len() - 1]
    }

    /// Moves on if the next key is this one, with its quotes and the colon after it.
    #[inline(always)]
    pub(crate) fn goes_on(&mut self, key: &str) -> bool {
        let does = self.text.as_bytes()[self.at..].starts_with(key.as_bytes());
        self.at += if does { key.len() } else { 0 };
        does
    }

    /// A value of any kind.
    #[inline(always)]
    pub(crate) fn skip(&mut self) -> &'a str {
        match self.peek() {
            b'"' => self.string(),
            b'{' | b'[' => self.skip_nested(),
            _ => self.word(),
        }
    }

    fn skip_nested(&mut self) -> &'a str {
        let begun = self.at;
        let mut depth = 0;
        loop {
            match self.peek() {
                b'"' => drop(self.string()),
                b'{' | b'[' => {
                    depth += 1;
                    self.pass();
                }
                b'}' | b']' => {
                    depth -= 1;
                    self.pass();
                }
                b',' | b':' => self.pass(),
                _ => drop(self.word()),
            }
            if depth == 0 {
                return &self.text[begun..self.at];
            }
        }
    }

    /// The entries of a table: `take` receives each key, without its quotes, and reads the value.
    #[inline(always)]
    pub(crate) fn entries<E>(&mut self, mut take: impl FnMut(&mut Self, &'a str) -> Result<(), E>) -> Result<(), E> {
        self.each(|cursor| {
            let key = cursor.key();
            take(cursor, key)
        })
    }

    /// The items of a list, or the entries of a table, each with its key: `take` reads one.
    #[inline(always)]
    pub(crate) fn each<E>(&mut self, mut take: impl FnMut(&mut Self) -> Result<(), E>) -> Result<(), E> {
        self.pass();
        while !matches!(self.peek(), b'}' | b']') {
            take(self)?;
            if self.peek() == b',' {
                self.pass();
            }
        }
        self.pass();
        Ok(())
    }
}
