//! Type aliases, also of arrays and of other aliases.

#[millstream::program]
pub mod program {
    type Real = f32;
    type Vec3 = [Real; 3];
    type Index = u32;

    const ZERO: Vec3 = [0.0; 3];

    fn dot(a: &Vec3, b: &Vec3) -> Real {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    #[task]
    pub fn length(v: Vec3) -> (Real, Index) {
        (dot(&v, &v).sqrt() + dot(&v, &ZERO), Index::MAX)
    }
}

millstream_tests::cases! {
    length([2.0, 3.0, 6.0]);
}
