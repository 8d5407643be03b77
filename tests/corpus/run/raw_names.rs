//! Names that are keywords elsewhere.

#[millstream::program]
pub mod program {
    use std::mem as r#as;

    #[allow(non_camel_case_types)]
    type r#type = u32;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Kept {
        pub n: r#type,
    }

    #[allow(non_camel_case_types)]
    type r#use = Kept;

    impl Kept {
        fn r#loop(self, r#in: u32) -> Self {
            Self { n: self.n + r#in }
        }
    }

    #[task]
    pub fn count(mut r#let: u32) -> Kept {
        if r#let > 100 {
            let r#mut = r#as::replace(&mut r#let, 3);
            let r#where = spawn!(count(r#mut - r#let - 90));
            sync!();
            return r#where.r#loop(1);
        }
        r#use::r#loop(Kept { n: r#type::MAX }, r#let)
    }
}

millstream_tests::cases! {
    count(4);
    count(150);
}
