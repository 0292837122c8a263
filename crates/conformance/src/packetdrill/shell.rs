//! Splits shell lines into commands and their words: quotes, comments, continued lines, products, redirections. Nothing
//! else of a shell is supported.

/// The commands of shell lines, each as its words. Redirections of output are dropped, except `> FILE` after `echo`.
pub(crate) fn commands(lines: &str) -> Vec<Vec<String>> {
    let joined = with_sums(&lines.replace("\\\n", " "));
    let mut commands = vec![Vec::new()];
    let mut word = Word::default();
    let mut letters = joined.chars().peekable();
    let mut quote = None;
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\\', Some('"') | None) => word.extend(letters.next()),
            (c, Some(_)) => word.push(c),
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.begin();
            }
            ('#', None) if word.is_unbegun() => {
                while letters.peek().is_some_and(|&c| c != '\n') {
                    letters.next();
                }
            }
            ('\n' | ';' | '|', None) => {
                word.end(&mut commands);
                commands.push(Vec::new());
            }
            ('&', None) if letters.peek() == Some(&'&') => {
                letters.next();
                word.end(&mut commands);
                commands.push(Vec::new());
            }
            (c, None) if c.is_whitespace() => word.end(&mut commands),
            (c, None) => word.push(c),
        }
    }
    word.end(&mut commands);
    commands.into_iter().map(without_redirections).filter(|words| !words.is_empty()).collect()
}

/// Replaces `$((a*b))` by its value; other arithmetic stays as it is.
fn with_sums(text: &str) -> String {
    let (mut done, mut rest) = (String::new(), text);
    while let Some((before, opened)) = rest.split_once("$((")
        && let Some((inner, after)) = opened.split_once("))")
    {
        let as_it_is = || format!("$(({inner}))");
        done += before;
        done += &product(inner).map_or_else(as_it_is, |product| product.to_string());
        rest = after;
    }
    done + rest
}

/// `15*1024`.
fn product(text: &str) -> Option<i64> {
    text.split('*').try_fold(1, |product: i64, factor| product.checked_mul(factor.trim().parse().ok()?))
}

#[derive(Default)]
struct Word(Option<String>);

impl Word {
    fn begin(&mut self) {
        self.0.get_or_insert_default();
    }
    fn push(&mut self, letter: char) {
        self.0.get_or_insert_default().push(letter);
    }
    fn extend(&mut self, letter: Option<char>) {
        if let Some(letter) = letter {
            self.push(letter);
        }
    }
    fn is_unbegun(&self) -> bool {
        self.0.is_none()
    }
    fn end(&mut self, commands: &mut [Vec<String>]) {
        if let (Some(word), Some(last)) = (self.0.take(), commands.last_mut()) {
            last.push(word);
        }
    }
}

fn without_redirections(words: Vec<String>) -> Vec<String> {
    if words.first().is_some_and(|name| name == "echo") {
        return words;
    }
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            ">" | "2>" | "&>" | ">>" => drop(words.next()),
            _ if word.starts_with("2>") || word.starts_with("&>") || word.starts_with('>') => {}
            _ => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fall_into_commands_and_words() {
        let found = commands("a -b \"c d\" 'e f' # so\n\n g \\\n h && i > /dev/null 2>&1; echo 1 > /x");
        let expected: [&[&str]; 4] = [&["a", "-b", "c d", "e f"], &["g", "h"], &["i"], &["echo", "1", ">", "/x"]];
        assert_eq!(found, expected);
    }

    #[test]
    fn products_are_put_in() {
        assert_eq!(commands("a=$((15*1024)) $((b))"), [["a=15360", "$((b))"]]);
    }
}
