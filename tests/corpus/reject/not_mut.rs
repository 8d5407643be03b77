//! Variables that are not `mut` keep their values.

#[millstream::program]
pub mod program {
    pub struct Pair {
        a: u32,
        b: u32,
    }

    #[task]
    pub fn entry(n: u32, m: MatMut<f32>) -> u32 {
        let x = 1;
        x += n;
        n = 2;
        let p = Pair { a: 1, b: 2 };
        p.a = 3;
        let cells = [0; 4];
        cells[1] = 1;
        cells.swap(0, 1);
        m[(0, 0)] = 1.0;
        let late;
        late = 5;
        let y = spawn!(entry_two());
        sync!();
        y += 1;
        let r = &mut late;
        for i in 0..3 {
            i = 2;
        }
        x + p.b + late + *r + y
    }

    #[task]
    pub fn entry_two() -> u32 {
        1
    }
}

//~ 13:9: `x` cannot be changed: it is not declared `mut`
//~   note: 12:13: it is declared here
//~   help: write `mut x` there
//~ 14:9: `n` cannot be changed: it is not declared `mut`
//~   note: 11:18: it is declared here
//~   help: write `mut n` there
//~ 16:9: `p` cannot be changed: it is not declared `mut`
//~   note: 15:13: it is declared here
//~   help: write `mut p` there
//~ 18:9: `cells` cannot be changed: it is not declared `mut`
//~   note: 17:13: it is declared here
//~   help: write `mut cells` there
//~ 20:9: `m` cannot be changed: it is not declared `mut`
//~   note: 11:26: it is declared here
//~   help: write `mut m` there
//~ 25:9: `y` cannot be changed: it is not declared `mut`
//~   note: 23:13: it is declared here
//~   help: write `mut y` there
//~ 28:13: `i` cannot be changed: it is not declared `mut`
//~   note: 27:13: it is declared here
//~   help: write `mut i` there
