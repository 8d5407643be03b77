//! Strided two-dimensional views of a slice: what tasks on matrices divide among their children.
//!
//! A view is a pointer, rows, columns and the distance between two rows, counted in elements; element `(i, j)` lies at
//! `i * stride + j`. Element by element the views that a [`MatMut`] is split into are disjoint, though their rows lie between each
//! other's in memory: so a view is never a slice, and hands out slices of single rows only.

use std::{
    fmt,
    iter::FusedIterator,
    marker::PhantomData,
    ops::{Index, IndexMut, Range},
    slice,
};

/// What both kinds of view are made of. It borrows nothing and promises nothing; the types around it do.
struct Raw<T> {
    data: *mut T,
    rows: usize,
    cols: usize,
    stride: usize,
}

impl<T> Clone for Raw<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Raw<T> {}

impl<T> Raw<T> {
    #[track_caller]
    fn new(data: *mut T, len: usize, rows: usize, cols: usize) -> Self {
        let whole = rows.checked_mul(cols);
        assert!(
            whole == Some(len),
            "a slice of {len} elements is no matrix of {rows} rows and {cols} columns"
        );
        Self {
            data,
            rows,
            cols,
            stride: cols,
        }
    }

    /// The view that starts at `(row, col)`. Where it is empty it may start outside the slice, hence the wrapping arithmetic: a
    /// pointer is only followed to elements that are there.
    const fn part(self, row: usize, col: usize, rows: usize, cols: usize) -> Self {
        let start = row.wrapping_mul(self.stride).wrapping_add(col);
        Self {
            data: self.data.wrapping_add(start),
            rows,
            cols,
            stride: self.stride,
        }
    }

    #[track_caller]
    fn row(self, i: usize) -> *mut T {
        assert!(i < self.rows, "row {i} of a matrix of {} rows", self.rows);
        self.data.wrapping_add(i.wrapping_mul(self.stride))
    }

    #[track_caller]
    fn at(self, (i, j): (usize, usize)) -> *mut T {
        assert!(
            i < self.rows && j < self.cols,
            "element ({i}, {j}) of a matrix of {} rows and {} columns",
            self.rows,
            self.cols
        );
        self.data.wrapping_add(i * self.stride + j)
    }

    fn quadrants(self) -> [Self; 4] {
        let (top, left) = (self.rows / 2, self.cols / 2);
        let (bottom, right) = (self.rows - top, self.cols - left);
        [
            self.part(0, 0, top, left),
            self.part(0, left, top, right),
            self.part(top, 0, bottom, left),
            self.part(top, left, bottom, right),
        ]
    }

    #[track_caller]
    fn split_rows(self, at: usize) -> [Self; 2] {
        assert!(
            at <= self.rows,
            "a split at row {at} of a matrix of {} rows",
            self.rows
        );
        [
            self.part(0, 0, at, self.cols),
            self.part(at, 0, self.rows - at, self.cols),
        ]
    }

    #[track_caller]
    fn split_cols(self, at: usize) -> [Self; 2] {
        assert!(
            at <= self.cols,
            "a split at column {at} of a matrix of {} columns",
            self.cols
        );
        [
            self.part(0, 0, self.rows, at),
            self.part(0, at, self.rows, self.cols - at),
        ]
    }

    #[track_caller]
    fn sub(self, row: usize, col: usize, rows: usize, cols: usize) -> Self {
        let fits = |start: usize, size: usize, all: usize| start <= all && size <= all - start;
        assert!(
            fits(row, rows, self.rows) && fits(col, cols, self.cols),
            "{rows} rows and {cols} columns from ({row}, {col}) of a matrix of {} rows and {} columns",
            self.rows,
            self.cols
        );
        self.part(row, col, rows, cols)
    }

    /// The first element, how many lie from it to the last, and the shape.
    const fn parts(self) -> (*mut T, usize, [usize; 3]) {
        let elements = if self.rows == 0 || self.cols == 0 {
            0
        } else {
            (self.rows - 1) * self.stride + self.cols
        };
        (self.data, elements, [self.rows, self.cols, self.stride])
    }
}

/// A view of a matrix that is read. A copy is the same view.
///
/// ```
/// use millstream::Mat;
/// let data = [1, 2, 3, 4, 5, 6];
/// let m = Mat::new(&data, 2, 3);
/// assert_eq!(m[(1, 0)], 4);
/// let (left, right) = m.split_cols_at(1);
/// assert_eq!((left.row(1), right.row(1)), (&[4][..], &[5, 6][..]));
/// ```
pub struct Mat<'a, T> {
    raw: Raw<T>,
    borrow: PhantomData<&'a [T]>,
}

/// A view of a matrix that is written. What is split from it cannot overlap.
///
/// ```
/// use millstream::MatMut;
/// let mut data = [0; 16];
/// let mut m = MatMut::new(&mut data, 4, 4);
/// let (_, mut top_right, mut bottom_left, _) = m.quadrants_mut();
/// top_right[(0, 0)] = 1;
/// bottom_left.row_mut(1).fill(2);
/// assert_eq!(data, [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0]);
/// ```
pub struct MatMut<'a, T> {
    raw: Raw<T>,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: it is a `&[T]` in parts.
unsafe impl<T: Sync> Send for Mat<'_, T> {}
// SAFETY: it is a `&[T]` in parts.
unsafe impl<T: Sync> Sync for Mat<'_, T> {}
// SAFETY: it is a `&mut [T]` in parts, which no other view has.
unsafe impl<T: Send> Send for MatMut<'_, T> {}
// SAFETY: it is a `&mut [T]` in parts; shared, it only reads.
unsafe impl<T: Sync> Sync for MatMut<'_, T> {}

impl<T> Clone for Mat<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Mat<'_, T> {}

impl<'a, T> Mat<'a, T> {
    /// The slice as a matrix, row after row.
    ///
    /// # Panics
    /// Unless the slice has `rows * cols` elements.
    #[must_use]
    #[track_caller]
    pub fn new(data: &'a [T], rows: usize, cols: usize) -> Self {
        Self::of(Raw::new(data.as_ptr().cast_mut(), data.len(), rows, cols))
    }

    const fn of(raw: Raw<T>) -> Self {
        Self {
            raw,
            borrow: PhantomData,
        }
    }

    /// How many rows it has.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.raw.rows
    }

    /// How many columns it has.
    #[must_use]
    pub const fn cols(&self) -> usize {
        self.raw.cols
    }

    /// A row.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    #[track_caller]
    pub fn row(&self, i: usize) -> &'a [T] {
        let start = self.raw.row(i);
        // SAFETY: the row's elements lie in the slice that this view borrows for `'a`, and nobody writes to it meanwhile. An empty row is
        // no memory at all, see `empty_or`.
        unsafe { slice::from_raw_parts(empty_or(start, self.raw.cols), self.raw.cols) }
    }

    /// Its rows, from the first to the last.
    #[must_use]
    pub const fn row_iter(&self) -> Rows<'a, T> {
        Rows {
            of: *self,
            left: 0..self.raw.rows,
        }
    }

    /// Top left, top right, bottom left and bottom right, split at half of the rows and columns, rounded down.
    #[must_use]
    pub fn quadrants(&self) -> (Self, Self, Self, Self) {
        let [a, b, c, d] = self.raw.quadrants().map(Self::of);
        (a, b, c, d)
    }

    /// The first rows, and those from `at` on.
    ///
    /// # Panics
    /// If it has fewer rows.
    #[must_use]
    #[track_caller]
    pub fn split_rows_at(&self, at: usize) -> (Self, Self) {
        let [a, b] = self.raw.split_rows(at);
        (Self::of(a), Self::of(b))
    }

    /// The first columns, and those from `at` on.
    ///
    /// # Panics
    /// If it has fewer columns.
    #[must_use]
    #[track_caller]
    pub fn split_cols_at(&self, at: usize) -> (Self, Self) {
        let [a, b] = self.raw.split_cols(at);
        (Self::of(a), Self::of(b))
    }

    /// So many rows and columns from element `(row, col)` on.
    ///
    /// # Panics
    /// If they are not all there.
    #[must_use]
    #[track_caller]
    pub fn sub(&self, row: usize, col: usize, rows: usize, cols: usize) -> Self {
        Self::of(self.raw.sub(row, col, rows, cols))
    }

    /// The same view.
    #[must_use]
    pub const fn as_mat(&self) -> Self {
        *self
    }
}

impl<'a, T> MatMut<'a, T> {
    /// The slice as a matrix, row after row.
    ///
    /// # Panics
    /// Unless the slice has `rows * cols` elements.
    #[must_use]
    #[track_caller]
    pub fn new(data: &'a mut [T], rows: usize, cols: usize) -> Self {
        Self::of(Raw::new(data.as_mut_ptr(), data.len(), rows, cols))
    }

    const fn of(raw: Raw<T>) -> Self {
        Self {
            raw,
            borrow: PhantomData,
        }
    }

    /// How many rows it has.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.raw.rows
    }

    /// How many columns it has.
    #[must_use]
    pub const fn cols(&self) -> usize {
        self.raw.cols
    }

    /// A row.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    #[track_caller]
    pub fn row(&self, i: usize) -> &[T] {
        self.as_mat().row(i)
    }

    /// A row, to write.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    #[track_caller]
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        let start = self.raw.row(i);
        // SAFETY: the row's elements lie in the slice that was lent for `'a`; this view alone has them, and it is borrowed exclusively for
        // as long as the row. An empty row is no memory at all, see `empty_or`.
        unsafe { slice::from_raw_parts_mut(empty_or(start, self.raw.cols), self.raw.cols) }
    }

    /// Its rows, from the first to the last.
    #[must_use]
    pub const fn row_iter(&self) -> Rows<'_, T> {
        self.as_mat().row_iter()
    }

    /// Its rows, from the first to the last, to write.
    #[must_use]
    pub const fn row_iter_mut(&mut self) -> RowsMut<'_, T> {
        RowsMut {
            left: 0..self.raw.rows,
            of: self.reborrow(),
        }
    }

    /// Top left, top right, bottom left and bottom right, split at half of the rows and columns, rounded down.
    #[must_use]
    pub fn quadrants(&self) -> (Mat<'_, T>, Mat<'_, T>, Mat<'_, T>, Mat<'_, T>) {
        self.as_mat().quadrants()
    }

    /// Top left, top right, bottom left and bottom right, to write.
    #[must_use]
    pub fn quadrants_mut(
        &mut self,
    ) -> (MatMut<'_, T>, MatMut<'_, T>, MatMut<'_, T>, MatMut<'_, T>) {
        let [a, b, c, d] = self.raw.quadrants();
        (MatMut::of(a), MatMut::of(b), MatMut::of(c), MatMut::of(d))
    }

    /// The first rows, and those from `at` on.
    ///
    /// # Panics
    /// If it has fewer rows.
    #[must_use]
    #[track_caller]
    pub fn split_rows_at(&self, at: usize) -> (Mat<'_, T>, Mat<'_, T>) {
        self.as_mat().split_rows_at(at)
    }

    /// The first rows, and those from `at` on, to write.
    ///
    /// # Panics
    /// If it has fewer rows.
    #[must_use]
    #[track_caller]
    pub fn split_rows_at_mut(&mut self, at: usize) -> (MatMut<'_, T>, MatMut<'_, T>) {
        let [a, b] = self.raw.split_rows(at);
        (MatMut::of(a), MatMut::of(b))
    }

    /// The first columns, and those from `at` on.
    ///
    /// # Panics
    /// If it has fewer columns.
    #[must_use]
    #[track_caller]
    pub fn split_cols_at(&self, at: usize) -> (Mat<'_, T>, Mat<'_, T>) {
        self.as_mat().split_cols_at(at)
    }

    /// The first columns, and those from `at` on, to write.
    ///
    /// # Panics
    /// If it has fewer columns.
    #[must_use]
    #[track_caller]
    pub fn split_cols_at_mut(&mut self, at: usize) -> (MatMut<'_, T>, MatMut<'_, T>) {
        let [a, b] = self.raw.split_cols(at);
        (MatMut::of(a), MatMut::of(b))
    }

    /// So many rows and columns from element `(row, col)` on.
    ///
    /// # Panics
    /// If they are not all there.
    #[must_use]
    #[track_caller]
    pub fn sub(&self, row: usize, col: usize, rows: usize, cols: usize) -> Mat<'_, T> {
        self.as_mat().sub(row, col, rows, cols)
    }

    /// So many rows and columns from element `(row, col)` on, to write.
    ///
    /// # Panics
    /// If they are not all there.
    #[must_use]
    #[track_caller]
    pub fn sub_mut(&mut self, row: usize, col: usize, rows: usize, cols: usize) -> MatMut<'_, T> {
        MatMut::of(self.raw.sub(row, col, rows, cols))
    }

    /// The same view, for a while: what `&mut *slice` is to a slice.
    #[must_use]
    pub const fn reborrow(&mut self) -> MatMut<'_, T> {
        MatMut::of(self.raw)
    }

    /// The same view, to read.
    #[must_use]
    pub const fn as_mat(&self) -> Mat<'_, T> {
        Mat::of(self.raw)
    }
}

/// The rows of a matrix, to read: [`Mat::row_iter`].
pub struct Rows<'a, T> {
    of: Mat<'a, T>,
    left: Range<usize>,
}

/// The rows of a matrix, to write: [`MatMut::row_iter_mut`].
///
/// ```
/// use millstream::MatMut;
/// let mut data = [1, 2, 3, 4];
/// for (i, row) in MatMut::new(&mut data, 2, 2).row_iter_mut().enumerate() {
///     row[i] = 0;
/// }
/// assert_eq!(data, [0, 2, 3, 0]);
/// ```
pub struct RowsMut<'a, T> {
    of: MatMut<'a, T>,
    left: Range<usize>,
}

impl<'a, T> Rows<'a, T> {
    fn at(&self, i: usize) -> &'a [T] {
        self.of.row(i)
    }
}

impl<'a, T> RowsMut<'a, T> {
    /// A row of those that are left, which is given once.
    fn at(&mut self, i: usize) -> &'a mut [T] {
        let start = self.of.raw.row(i);
        let cols = self.of.raw.cols;
        // SAFETY: the row's elements lie in the slice that was lent for `'a` to the view, which this alone has; no other row has them, and
        // each is given once. An empty row is no memory at all, see `empty_or`.
        unsafe { slice::from_raw_parts_mut(empty_or(start, cols), cols) }
    }
}

macro_rules! rows {
    ($name:ident, $row:ty) => {
        impl<'a, T> Iterator for $name<'a, T> {
            type Item = $row;

            fn next(&mut self) -> Option<$row> {
                let i = self.left.next()?;
                Some(self.at(i))
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.left.size_hint()
            }
        }

        impl<T> DoubleEndedIterator for $name<'_, T> {
            fn next_back(&mut self) -> Option<Self::Item> {
                let i = self.left.next_back()?;
                Some(self.at(i))
            }
        }

        impl<T> ExactSizeIterator for $name<'_, T> {}

        impl<T> FusedIterator for $name<'_, T> {}

        impl<T: fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let left = self.left.clone();
                f.debug_list()
                    .entries(left.map(|i| self.of.row(i)))
                    .finish()
            }
        }
    };
}

rows!(Rows, &'a [T]);
rows!(RowsMut, &'a mut [T]);

/// The address of a row, or that of no memory at all if the row is empty: views without elements may start outside their slice.
const fn empty_or<T>(row: *mut T, cols: usize) -> *mut T {
    if cols == 0 {
        std::ptr::NonNull::dangling().as_ptr()
    } else {
        row
    }
}

impl<T> Index<(usize, usize)> for Mat<'_, T> {
    type Output = T;

    #[track_caller]
    fn index(&self, at: (usize, usize)) -> &T {
        // SAFETY: the element is there, in the slice that this view borrows, and nobody writes to it meanwhile.
        unsafe { &*self.raw.at(at) }
    }
}

impl<T> Index<(usize, usize)> for MatMut<'_, T> {
    type Output = T;

    #[track_caller]
    fn index(&self, at: (usize, usize)) -> &T {
        // SAFETY: the element is there, in the slice that was lent to this view, which alone has it and is borrowed.
        unsafe { &*self.raw.at(at) }
    }
}

impl<T> IndexMut<(usize, usize)> for MatMut<'_, T> {
    #[track_caller]
    fn index_mut(&mut self, at: (usize, usize)) -> &mut T {
        // SAFETY: the element is there, in the slice that was lent to this view, which alone has it and is borrowed exclusively.
        unsafe { &mut *self.raw.at(at) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Mat<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries((0..self.rows()).map(|i| self.row(i)))
            .finish()
    }
}

impl<T: fmt::Debug> fmt::Debug for MatMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_mat().fmt(f)
    }
}

impl<T> Mat<'_, T> {
    /// Its first element, the elements from there to the last, and its shape: rows, columns and the distance of two rows.
    pub(crate) const fn parts(&self) -> (*mut T, usize, [usize; 3]) {
        self.raw.parts()
    }
}

impl<T> MatMut<'_, T> {
    /// Its first element, the elements from there to the last, and its shape: rows, columns and the distance of two rows.
    pub(crate) const fn parts(&self) -> (*mut T, usize, [usize; 3]) {
        self.raw.parts()
    }
}

#[cfg(test)]
mod tests;
