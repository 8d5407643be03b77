//! Backtracking over a compiled pattern, every branch a task: code of enums with data in a lent array, and places found as `Option`s in an array by value.

#[millstream::program]
pub mod program {

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Class {
        Any,
        Digit,
        Word,
        Byte,
    }

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Op {
        Accept,
        Class(Class, u8),
        Range { lo: u8, hi: u8, negated: bool },
        Split(u16, u16),
        Jump(u16),
        Save(u8),
    }

    impl Class {
        fn contains(self, arg: u8, b: u8) -> bool {
            match self {
                Class::Any => b != b'\n',
                Class::Digit => matches!(b, b'0'..=b'9'),
                Class::Word => b.is_ascii_alphanumeric() || b == b'_',
                Class::Byte => b == arg,
            }
        }
    }

    fn star(class: Class, arg: u8, at: u16) -> [Op; 3] {
        [Op::Split(at + 1, at + 3), Op::Class(class, arg), Op::Jump(at)]
    }

    /// `(\w*)@([a-z]*)\.\d*`
    fn compile() -> ([Op; 24], usize) {
        let mut code = [Op::Accept; 24];
        let mut len = 0;
        let mut emit = |op: Op| {
            code[len] = op;
            len += 1;
        };
        emit(Op::Save(0));
        for op in star(Class::Word, 0, 1) {
            emit(op);
        }
        emit(Op::Save(1));
        emit(Op::Class(Class::Byte, b'@'));
        emit(Op::Save(2));
        emit(Op::Split(8, 10));
        emit(Op::Range { lo: b'a', hi: b'z', negated: false });
        emit(Op::Jump(7));
        emit(Op::Save(3));
        emit(Op::Class(Class::Byte, b'.'));
        for op in star(Class::Digit, 0, 12) {
            emit(op);
        }
        emit(Op::Accept);
        (code, len)
    }

    type Saves = [Option<u8>; 4];

    #[task]
    pub fn run(code: &[Op; 24], text: &[u8], pc: u16, at: usize, saves: [Option<u8>; 4]) -> Option<(usize, [Option<u8>; 4])> {
        let mut pc = pc as usize;
        let mut at = at;
        let mut saves: Saves = saves;
        loop {
            pc = match code[pc] {
                Op::Accept => return Some((at, saves)),
                Op::Class(class, arg) => {
                    let &b = text.get(at)?;
                    if !class.contains(arg, b) {
                        return None;
                    }
                    at += 1;
                    pc + 1
                }
                Op::Range { lo, hi, negated } => match text.get(at) {
                    Some(b) if (lo..=hi).contains(b) != negated => {
                        at += 1;
                        pc + 1
                    }
                    _ => return None,
                },
                Op::Jump(to) => to as usize,
                Op::Save(slot) => {
                    saves[slot as usize] = Some(at as u8);
                    pc + 1
                }
                Op::Split(a, b) => {
                    let first = spawn!(run(code, text, a, at, saves));
                    let second = spawn!(run(code, text, b, at, saves));
                    sync!();
                    return first.or(second);
                }
            };
        }
    }

    #[task]
    pub fn find(text: &[u8]) -> Option<(usize, usize, [Option<u8>; 4])> {
        let (code, len) = compile();
        debug_assert!(len <= code.len());
        for start in 0..text.len() {
            let m = spawn!(run(&code, text, 0, start, [None; 4]));
            sync!();
            if let Some((end, saves)) = m {
                return Some((start, end, saves));
            }
        }
        None
    }
}
millstream_tests::cases! { find(b"mail bob_7@host.42 now"); find(b"nothing"); find(b"@."); }
