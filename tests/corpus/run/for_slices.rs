//! `for` over slices and arrays, in every form.

#[millstream::program]
pub mod program {
    #[task]
    pub fn read(data: &[i32]) -> [i64; 5] {
        let mut out = [0i64; 5];
        for x in data {
            out[0] += *x as i64;
        }
        for &x in data {
            out[1] += i64::from(x);
        }
        for x in data.iter().rev() {
            out[2] = out[2] * 2 + *x as i64;
        }
        for (i, x) in data.iter().enumerate() {
            out[3] += i as i64 * *x as i64;
        }
        for (i, &x) in data[1..].iter().enumerate() {
            out[4] += i as i64 * x as i64;
        }
        out
    }

    #[task]
    pub fn write(data: &mut [i32]) {
        for x in data.iter_mut() {
            *x *= 2;
        }
        for (i, x) in data.iter_mut().enumerate() {
            *x += i as i32;
        }
        for x in data {
            *x -= 1;
        }
    }

    #[task]
    pub fn arrays() -> u32 {
        let mut sum = 0;
        for x in [1, 2, 3] {
            sum += x;
        }
        let mut table = [[1u32; 3]; 2];
        for row in &mut table {
            for x in row.iter_mut() {
                *x += sum;
            }
        }
        for row in &table {
            for x in row {
                sum += x;
            }
        }
        sum
    }
}

millstream_tests::cases! {
    read(&[3, -1, 4, 1, -5]);
    write(&mut [1, 2, 3]);
    arrays();
}
