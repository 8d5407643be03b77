//! Patterns with `*` and `?` by backtracking, over many texts; and a small regex matcher of Kernighan and Pike.
#[millstream::program]
pub mod program {
    #[task]
    pub fn glob(pattern: &[u8], text: &[u8]) -> bool {
        let literal = pattern
            .iter()
            .zip(text)
            .take_while(|(p, t)| **p != b'*' && (**p == b'?' || p == t))
            .count();
        let (pattern, text) = (&pattern[literal..], &text[literal..]);
        if pattern.is_empty() || pattern[0] != b'*' {
            return pattern.is_empty() && text.is_empty();
        }
        let rest = &pattern[1..];
        let mut found = false;
        for from in 0..=text.len() {
            found |= spawn!(glob(rest, &text[from..]));
        }
        sync!();
        found
    }

    fn here(re: &[u8], text: &[u8]) -> bool {
        if re.is_empty() {
            return true;
        }
        if re.len() > 1 && re[1] == b'*' {
            let most = text.iter().take_while(|t| re[0] == b'.' || **t == re[0]).count();
            return (0..=most).rev().any(|n| here(&re[2..], &text[n..]));
        }
        if re == b"$" {
            return text.is_empty();
        }
        !text.is_empty() && (re[0] == b'.' || re[0] == text[0]) && here(&re[1..], &text[1..])
    }

    #[task]
    pub fn grep(re: &[u8], text: &[u8], lines: &[u32], hits: &mut [bool]) -> (u32, u32) {
        let mut all = 0;
        #[parallel]
        for (w, hit) in lines.windows(2).zip(hits.iter_mut()) {
            let line = &text[w[0] as usize..w[1] as usize];
            *hit = match re.iter().position(|&c| c == b'^') {
                Some(i) => here(&re[i + 1..], line),
                None => (0..=line.len()).any(|i| here(re, &line[i..])),
            };
            all += *hit as u32;
        }
        let first = hits.iter().position(|&h| h).map_or(u32::MAX, |i| i as u32);
        (all, first)
    }
}

millstream_tests::cases! {
    glob(b"*a?b*", b"xxaybzz");
    glob(b"a*", b"b");
    glob(b"", b"");
    grep(b"^ab*", b"abbaab", &[0, 3, 4, 6], &mut [false; 3]);
    grep(b"ba$", b"abbaab", &[0, 4, 6], &mut [false; 2]);
    grep(b"z", b"abbaab", &[0, 4, 6], &mut [false; 2]);
}
