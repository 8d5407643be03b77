//! Views do what slices of the same memory do.

use super::*;

/// Rows of `cols` numbers that say where they stand.
fn numbers(rows: usize, cols: usize) -> Vec<usize> {
    (0..rows * cols)
        .map(|i| 100 * (i / cols) + i % cols)
        .collect()
}

#[test]
fn quadrants_are_split_at_half_rounded_down() {
    let data = numbers(3, 5);
    let m = Mat::new(&data, 3, 5);
    let (a, b, c, d) = m.quadrants();
    let shapes = [a, b, c, d].map(|q| (q.rows(), q.cols()));
    assert_eq!(shapes, [(1, 2), (1, 3), (2, 2), (2, 3)]);
    assert_eq!([a, b, c, d].map(|q| q[(0, 0)]), [0, 2, 100, 102]);
    assert_eq!(d.row(1), [202, 203, 204]);
    assert_eq!(format!("{c:?}"), "[[100, 101], [200, 201]]");
}

#[test]
fn parts_of_parts_keep_the_distance_of_rows() {
    let data = numbers(6, 7);
    let m = Mat::new(&data, 6, 7).sub(1, 2, 4, 4);
    let (top, bottom) = m.split_rows_at(1);
    let (left, right) = bottom.split_cols_at(3);
    assert_eq!(top.row(0), [102, 103, 104, 105]);
    assert_eq!(left.row(2), [402, 403, 404]);
    assert_eq!(right.row(0), [205]);
    assert_eq!(m.as_mat().sub(3, 3, 1, 1)[(0, 0)], 405);
}

#[test]
fn what_is_split_is_written_all_at_once() {
    let mut data = vec![0; 30];
    let mut m = MatMut::new(&mut data, 5, 6);
    {
        let (mut left, mut right) = m.split_cols_at_mut(2);
        let (mut top, mut bottom) = right.split_rows_at_mut(3);
        // Rows of all four are held at one time, and written in turn.
        let (a, b, c) = (left.row_mut(1), top.row_mut(1), bottom.row_mut(0));
        a.fill(1);
        b.fill(2);
        c.fill(3);
        a[0] = 4;
        b[3] = 5;
    }
    m.reborrow().sub_mut(4, 4, 1, 2)[(0, 1)] = 6;
    m[(0, 0)] = m[(1, 5)] + 2;
    assert_eq!(
        (
            m.row(0)[0],
            m.quadrants().1[(1, 0)],
            m.sub(3, 2, 1, 1)[(0, 0)]
        ),
        (7, 2, 3)
    );
    assert_eq!(data[..12], [7, 0, 0, 0, 0, 0, 4, 1, 2, 2, 2, 5]);
    assert_eq!(data[18..], [0, 0, 3, 3, 3, 3, 0, 0, 0, 0, 0, 6]);
}

#[test]
fn rows_are_given_once_each_from_either_end() {
    let mut data = numbers(4, 5);
    let mut m = MatMut::new(&mut data, 4, 5);
    let mut part = m.sub_mut(1, 2, 3, 2);
    let mut rows = part.row_iter_mut();
    assert_eq!(rows.len(), 3);
    // All are held at one time.
    let (first, last) = (rows.next(), rows.next_back());
    assert_eq!(format!("{rows:?}"), "[[202, 203]]");
    let middle = rows.next();
    assert!(rows.next().is_none() && rows.next_back().is_none());
    for (n, row) in (1..).zip([first, middle, last].into_iter().flatten()) {
        row[n % 2] = n;
    }
    let read: Vec<&[usize]> = m.row_iter().rev().collect();
    assert_eq!(read[2][2..4], [102, 1]);
    assert_eq!(read[1][2..4], [2, 203]);
    assert_eq!(read[0][2..4], [302, 3]);
    assert_eq!(Mat::<u8>::new(&[], 3, 0).row_iter().count(), 3);
    assert_eq!(Mat::<u8>::new(&[], 0, 3).row_iter().count(), 0);
}

#[test]
fn quadrants_of_one_matrix_go_to_several_threads() {
    let mut data = vec![0; 64];
    let mut m = MatMut::new(&mut data, 8, 8);
    let (a, b, c, d) = m.quadrants_mut();
    std::thread::scope(|s| {
        for (n, mut q) in (1..).zip([a, b, c, d]) {
            s.spawn(move || (0..4).for_each(|i| q.row_mut(i).fill(n)));
        }
    });
    assert_eq!(
        (data[0], data[4], data[32], data[63], data[3 * 8 + 3]),
        (1, 2, 3, 4, 1)
    );
}

#[test]
fn views_without_elements_are_no_memory() {
    let data = numbers(4, 4);
    let m = Mat::new(&data, 4, 4).sub(2, 2, 2, 2);
    let (all, none) = m.split_rows_at(2);
    assert_eq!((all.rows(), none.rows(), none.cols()), (2, 0, 2));
    let (_, none) = m.split_cols_at(2);
    assert!(none.row(1).is_empty());
    let empty = Mat::<u8>::new(&[], 0, 9);
    assert_eq!(empty.quadrants().3.cols(), 5);
    let mut nothing = [0u8; 0];
    assert!(MatMut::new(&mut nothing, 3, 0).row_mut(2).is_empty());
    assert_eq!(m.parts().1, 6);
    assert_eq!(none.parts().1, 0);
}

fn refuses(f: impl Fn(Mat<'_, usize>) + std::panic::RefUnwindSafe) {
    let data = numbers(3, 4);
    let result = std::panic::catch_unwind(|| f(Mat::new(&data, 3, 4)));
    assert!(result.is_err());
}

#[test]
fn what_is_not_there_is_refused() {
    refuses(|m| _ = m.row(3));
    refuses(|m| _ = m[(3, 0)]);
    refuses(|m| _ = m[(0, 4)]);
    refuses(|m| _ = m.split_rows_at(4));
    refuses(|m| _ = m.split_cols_at(5));
    refuses(|m| _ = m.sub(2, 0, 2, 1));
    refuses(|m| _ = m.sub(0, 3, 1, 2));
    refuses(|m| _ = m.sub(0, 1, 1, usize::MAX));
    refuses(|_| _ = Mat::new(&[1, 2, 3], 2, 2));
    // As many elements only if the product wraps.
    refuses(|_| _ = Mat::<u8>::new(&[], 1 << 32, 1 << 32));
}
