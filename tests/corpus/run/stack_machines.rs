//! An interpreter of a small stack machine, on programs that are written and on random ones: errors by `?`, functions of numbers by their names, and ranges in patterns.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    enum Op {
        Push(i32),
        Add,
        Sub,
        Mul,
        Div,
        Dup,
        Swap,
        Jz(u16),
        Jmp(u16),
        Load(u8),
        Store(u8),
        Call { target: u16, args: u8 },
        Ret,
        Halt,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Trap {
        Underflow { pc: u16 },
        Overflow,
        DivideByZero,
        Bad(u8),
        Fuel,
    }

    type Res<T = ()> = Result<T, Trap>;

    struct Vm<'c> {
        code: &'c [u8],
        stack: [i32; 32],
        sp: usize,
        locals: [i32; 8],
        calls: [u16; 16],
        depth: usize,
        pc: u16,
        fuel: u32,
    }

    impl<'c> Vm<'c> {
        const STACK: usize = 32;
        fn new(code: &'c [u8], fuel: u32) -> Self {
            Vm {
                code,
                stack: [0; Self::STACK],
                sp: 0,
                locals: Default::default(),
                calls: [0; 16],
                depth: 0,
                pc: 0,
                fuel,
            }
        }
        fn byte(&mut self) -> Res<u8> {
            let b = *self.code.get(self.pc as usize).ok_or(Trap::Bad(0))?;
            self.pc += 1;
            Ok(b)
        }
        fn short(&mut self) -> Res<u16> {
            Ok(u16::from_le_bytes([self.byte()?, self.byte()?]))
        }
        fn decode(&mut self) -> Res<Op> {
            Ok(match self.byte()? {
                0x00 => Op::Halt,
                b @ 0x01..=0x0f => Op::Push(i32::from(b) - 8),
                0x10 => {
                    let lo = self.short()?;
                    let hi = self.short()?;
                    Op::Push((u32::from(hi) << 16 | u32::from(lo)) as i32)
                }
                b'+' => Op::Add,
                b'-' => Op::Sub,
                b'*' => Op::Mul,
                b'/' => Op::Div,
                b'd' => Op::Dup,
                b's' => Op::Swap,
                b'z' => Op::Jz(self.short()?),
                b'j' => Op::Jmp(self.short()?),
                l @ b'A'..=b'H' => Op::Load(l - b'A'),
                l @ (b'Q'..=b'X') => Op::Store(l - b'Q'),
                b'c' => Op::Call {
                    target: self.short()?,
                    args: self.byte()?,
                },
                b'r' => Op::Ret,
                other => return Err(Trap::Bad(other)),
            })
        }
        fn pop(&mut self) -> Res<i32> {
            self.sp = self
                .sp
                .checked_sub(1)
                .ok_or(Trap::Underflow { pc: self.pc })?;
            Ok(self.stack[self.sp])
        }
        fn push(&mut self, v: i32) -> Res {
            *self.stack.get_mut(self.sp).ok_or(Trap::Overflow)? = v;
            self.sp += 1;
            Ok(())
        }
        fn binary(&mut self, f: impl FnOnce(i32, i32) -> Option<i32>) -> Res {
            let (b, a) = (self.pop()?, self.pop()?);
            let v = f(a, b).ok_or(if b == 0 {
                Trap::DivideByZero
            } else {
                Trap::Overflow
            })?;
            self.push(v)
        }
        fn step(&mut self) -> Res<Option<i32>> {
            self.fuel = self.fuel.checked_sub(1).ok_or(Trap::Fuel)?;
            match self.decode()? {
                Op::Push(v) => self.push(v)?,
                Op::Add => self.binary(|a, b| a.checked_add(b))?,
                Op::Sub => self.binary(i32::checked_sub)?,
                Op::Mul => self.binary(|a, b| Some(a.wrapping_mul(b)))?,
                Op::Div => self.binary(i32::checked_div)?,
                Op::Dup => {
                    let v = self.pop()?;
                    self.push(v)?;
                    self.push(v)?
                }
                Op::Swap => {
                    let (b, a) = (self.pop()?, self.pop()?);
                    self.push(b)?;
                    self.push(a)?;
                }
                Op::Jz(to) => {
                    if self.pop()? == 0 {
                        self.pc = to
                    }
                }
                Op::Jmp(to) => self.pc = to,
                Op::Load(l) => self.push(self.locals[usize::from(l)])?,
                Op::Store(l) => self.locals[l as usize] = self.pop()?,
                Op::Call { target, args } => {
                    if self.depth >= self.calls.len() {
                        return Err(Trap::Overflow);
                    }
                    for i in (0..args as usize).rev() {
                        self.locals[i & 7] = self.pop()?;
                    }
                    self.calls[self.depth] = std::mem::replace(&mut self.pc, target);
                    self.depth += 1;
                }
                Op::Ret => match self.depth {
                    0 => return self.pop().map(Some),
                    d => {
                        self.depth = d - 1;
                        self.pc = self.calls[d - 1];
                    }
                },
                Op::Halt => return Ok(Some(self.pop()?)),
            }
            Ok(None)
        }
        fn run(mut self) -> Res<(i32, u32)> {
            loop {
                if let Some(v) = self.step()? {
                    break Ok((v, self.fuel));
                }
            }
        }
    }

    #[task]
    pub fn exec(code: &[u8], fuel: u32) -> Result<(i32, u32), Trap> {
        Vm::new(code, fuel).run()
    }

    #[task]
    pub fn fuzz(seed: u64, n: u32) -> [u32; 6] {
        let mut counts = [0; 6];
        if n == 1 {
            const ALPHABET: &[u8; 20] = b"+-*/dsABQRz\x01\x0f\x0ajc\x05r\0\x09";
            let mut code = [0u8; 24];
            let mut s = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            for b in &mut code {
                s ^= s << 13;
                s ^= s >> 7;
                s ^= s << 17;
                *b = ALPHABET[(s >> 33) as usize % ALPHABET.len()];
            }
            let slot = match exec(&code, 200) {
                Ok((_, fuel @ 190..)) => fuel as usize % 2,
                Ok(_) => 1,
                Err(Trap::Underflow { pc }) if pc < 3 => 2,
                Err(Trap::Underflow { .. } | Trap::Overflow) => 3,
                Err(Trap::DivideByZero | Trap::Fuel) => 4,
                Err(Trap::Bad(_)) => 5,
            };
            counts[slot] = 1;
            return counts;
        }
        let a = spawn!(fuzz(seed, n / 2));
        let b = spawn!(fuzz(seed + u64::from(n / 2), n - n / 2));
        sync!();
        for (c, (x, y)) in counts.iter_mut().zip(a.iter().zip(b)) {
            *c = x + y;
        }
        counts
    }

    #[task]
    pub fn run(n: u32) -> (Result<(i32, u32), Trap>, Result<(i32, u32), Trap>, [u32; 6]) {
        // 1; while n: acc *= n; n -= 1
        let fact = [
            0x09, b'R', 0x0e, b'Q', b'A', b'z', 19, 0, b'A', b'B', b'*', b'R', b'A', 0x09, b'-',
            b'Q', b'j', 4, 0, b'B', b'r',
        ];
        let a = spawn!(exec(&fact, 1000));
        let b = spawn!(exec(b"\x01\x08/r", 10));
        let c = spawn!(fuzz(7, n));
        sync!();
        (a, b, c)
    }
}

millstream_tests::cases! {
    run(60);
    exec(b"\x01\x08/r", 10);
    fuzz(99, 40);
}
