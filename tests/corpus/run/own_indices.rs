//! `Index` and `IndexMut` of the program's types, read and written, in each other and in generic ones.

#[millstream::program]
pub mod program {
    use std::{
        fmt,
        ops::{Index, IndexMut},
    };

    #[derive(Clone, Copy)]
    struct Grid<T, const W: usize> {
        cells: [[T; W]; 4],
    }

    impl<T, const W: usize> Index<(usize, usize)> for Grid<T, W> {
        type Output = T;

        fn index(&self, (x, y): (usize, usize)) -> &Self::Output {
            &self.cells[y][x]
        }
    }

    impl<T, const W: usize> IndexMut<(usize, usize)> for Grid<T, W> {
        fn index_mut(&mut self, (x, y): (usize, usize)) -> &mut Self::Output {
            &mut self.cells[y][x]
        }
    }

    impl<T, const W: usize> Index<usize> for Grid<T, W> {
        type Output = [T; W];

        fn index(&self, y: usize) -> &[T; W] {
            &self.cells[y]
        }
    }

    impl<const W: usize> Grid<i32, W> {
        fn bump(&mut self, x: usize) {
            self[(x, 0)] += 1;
            self[(x, 1)] = self[(x, 0)] * 2;
        }

        fn at(&self, x: usize) -> i32 {
            self[(x, 1)] + self[0][x]
        }
    }

    #[derive(Clone, Copy, PartialEq, Default, Debug)]
    pub struct Point {
        pub x: f32,
        pub y: f32,
        pub z: f32,
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Axis {
        X,
        Y,
    }

    impl IndexMut<usize> for Point {
        fn index_mut(&mut self, i: usize) -> &mut Self::Output {
            match i {
                0 => &mut self.x,
                1 => &mut self.y,
                _ => &mut self.z,
            }
        }
    }

    impl Index<usize> for Point {
        type Output = f32;

        fn index(&self, i: usize) -> &f32 {
            match i {
                0 => &self.x,
                1 => &self.y,
                2 => &self.z,
                _ => panic!("there is no such axis"),
            }
        }
    }

    impl Index<Axis> for Point {
        type Output = f32;

        fn index(&self, axis: Axis) -> &f32 {
            match axis {
                Axis::X => &self.x,
                Axis::Y => &self.y,
            }
        }
    }

    // What is for the host alone is left to it.
    impl fmt::Display for Point {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}, {}, {}", self.x, self.y, self.z)
        }
    }

    struct Triangle {
        corners: [Point; 3],
    }

    impl Index<usize> for Triangle {
        type Output = Point;

        fn index(&self, i: usize) -> &Point {
            &self.corners[i]
        }
    }

    impl IndexMut<usize> for Triangle {
        fn index_mut(&mut self, i: usize) -> &mut Point {
            &mut self.corners[i]
        }
    }

    struct Rows<'a> {
        data: &'a [i32],
        width: usize,
    }

    impl<'a> Index<usize> for Rows<'a> {
        type Output = [i32];

        fn index(&self, row: usize) -> &[i32] {
            &self.data[row * self.width..(row + 1) * self.width]
        }
    }

    #[task]
    pub fn grid(n: usize) -> (i32, i32) {
        let mut g = Grid { cells: [[0i32; 5]; 4] };
        for y in 0..4 {
            for x in 0..n {
                g[(x, y)] = (x * y) as i32;
            }
        }
        g.bump(2);
        let mut other = 7;
        std::mem::swap(&mut g[(1, 1)], &mut other);
        {
            let corner = &mut g[(3, 3)];
            *corner += 5;
        }
        let mut sum = 0;
        #[parallel]
        for i in 0..n {
            sum += g[(i, 3)];
        }
        (g.at(2) * 1000 + g[(1, 1)] * 100 + sum + other, g[3].iter().sum())
    }

    #[task]
    pub fn triangle(p: Point) -> (Point, f32) {
        let mut v = p;
        for i in 0..3 {
            v[i] += i as f32;
        }
        let mut t = Triangle { corners: [v; 3] };
        t[1][2] = 10.0;
        t[1].y *= 3.0;
        t[2] = t[1];
        let first: f32 = (0..3).map(|i| t[0][i]).sum();
        (t[2], v[1] + v[Axis::Y] * 10.0 + v[Axis::X] + first)
    }

    #[task]
    pub fn axis(p: Point, i: usize) -> f32 {
        p[i]
    }

    #[task]
    pub fn rows(data: &[i32], width: usize) -> (i32, usize) {
        let m = Rows { data, width };
        (m[1].iter().sum::<i32>() + m[0][2], m[1].len() + m[0][1..3].len())
    }
}

millstream_tests::cases! {
    grid(5);
    grid(4);
    triangle(program::Point { x: 1.0, y: 2.0, z: 0.5 });
    axis(program::Point { x: 1.0, y: 2.0, z: 0.5 }, 2);
    rows(&[3, 1, 4, 1, 5, 9, 2, 6], 4);
}
