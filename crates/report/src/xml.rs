//! Text inside SVG and HTML.

use ergodic_base::shown::visible;

/// `text` as content or as a quoted attribute: nothing in it is markup, and characters that XML does not have, or that change the
/// order of what follows, are written out.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Not characters in XML 1.0, section 2.2.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stays_markup() {
        assert_eq!(
            escape("<b>&\"x\"'\u{1b}[1m\u{202e}\u{ffff}"),
            "&lt;b&gt;&amp;&quot;x&quot;&#39;\\u{1b}[1m\\u{202e}\u{fffd}"
        );
        assert_eq!(escape("größer\tals"), "größer\tals");
    }
}
