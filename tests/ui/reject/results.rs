//! Results that are used before their sync.

#[millstream::program]
mod early {
    #[task]
    pub fn one(n: u32) -> u32 {
        n + 1
    }

    #[task]
    pub fn used(n: u32) -> u32 {
        let x = spawn!(one(n));
        x + 1 //~ `x` is used before its `sync!()` | note: line 12: a child that may still run writes to it | help: put a `sync!()` in between
    }

    #[task]
    pub fn given_to_another_child(n: u32) -> u32 {
        let x = spawn!(one(n));
        let y = spawn!(one(x)); //~ `x` is used before its `sync!()` | note: line 18: a child that may still run writes to it | help: put a `sync!()` in between
        sync!();
        y
    }

    #[task]
    pub fn assigned(n: u32) -> u32 {
        let mut x = spawn!(one(n));
        x = 3; //~ `x` is assigned before its `sync!()` | note: line 26: a child that may still run writes to it | help: put a `sync!()` in between
        sync!();
        x
    }

    #[task]
    pub fn in_one_branch(n: u32) -> u32 {
        let mut x = 0;
        if n > 3 {
            x = spawn!(one(n));
        } else {
            sync!();
        }
        x //~ `x` is used before its `sync!()` | note: line 36: a child that may still run writes to it | help: put a `sync!()` in between
    }
}

fn main() -> Result<(), millstream::Error> {
    // What is used elsewhere is there all the same: one error each.
    let device = millstream::Device::cpu()?;
    let x: u32 = device.run(early::call::used(1))?;
    assert_eq!(x, early::used(1));
    Ok(())
}
