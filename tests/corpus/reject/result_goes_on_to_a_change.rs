//! What is made of a child's result is made when the child is done: it changes nothing, and reads nothing that the task may change by then.

#[millstream::program]
pub mod program {
    pub struct Count {
        sum: u32,
    }

    impl Count {
        fn add(&mut self, by: u32) -> u32 {
            self.sum += by;
            self.sum
        }
    }

    #[task]
    pub fn half(n: u32) -> u32 {
        n / 2
    }

    #[task]
    pub fn all(v: &mut [u32], n: u32) -> u32 {
        let (mut sum, mut calls) = (0, 0);
        let mut count = Count { sum: 0 };
        let mut bump = |x: u32| {
            calls += 1;
            x + calls
        };
        for i in 0..n {
            sum += spawn!(half(i)) * v[i as usize];
            v[i as usize] = 0;
        }
        sum += bump(spawn!(half(n)));
        sum += count.add(spawn!(half(n)));
        sync!();
        sum + count.sum
    }
}

//~ 30:20: what is made of a child's result cannot come to memory by a `&mut`: it is made when the child is done, and the task may have changed that by then
//~   help: take the result by `let x = spawn!(..)` and do this after the `sync!()`; or let what is read stand in front of the child, where it is read at once
//~ 33:16: what is made of a child's result cannot change a variable: it is made when the child is done
//~   help: take the result by `let x = spawn!(..)` and do this after the `sync!()`; or let what is read stand in front of the child, where it is read at once
//~ 34:16: what is made of a child's result cannot change a variable: it is made when the child is done
//~   help: take the result by `let x = spawn!(..)` and do this after the `sync!()`; or let what is read stand in front of the child, where it is read at once
