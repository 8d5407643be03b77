//! Of one type there is one `AsRef`: which of several is meant, what is wanted would tell.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub struct Both([u32; 2], [u32; 3]);

    impl AsRef<[u32; 2]> for Both {
        fn as_ref(&self) -> &[u32; 2] {
            &self.0
        }
    }

    impl AsRef<[u32]> for Both {
        fn as_ref(&self) -> &[u32] {
            &self.1
        }
    }

    #[task]
    pub fn first(n: u32) -> u32 {
        let both = Both([n, 2], [7, 8, 9]);
        let all: &[u32] = both.as_ref();
        all[0]
    }
}

//~ 14:10: `Both` has a second `AsRef`, and they are not told apart
//~   help: leave one, and write the other as a function of the type's own: `fn name(&self) -> &T`
