//! Elements as the host has them, one behind another as a slice of their type lies, and as channels have them, an array a field.

use millstream_channels_kernel::layout::stride;
use millstream_graph::{
    graph::element_fields,
    ty::{Structs, Type},
};

/// Where the fields of an element stand in its type's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Image {
    /// Bytes from one element to the next.
    pub(crate) size: usize,
    /// Of each field where it stands, and its bytes.
    fields: Vec<(usize, usize)>,
}

impl Image {
    pub(crate) fn new(ty: &Type, structs: &Structs) -> Self {
        let layout = ty.layout(structs);
        let offsets = ty.pieces(structs).into_iter().map(|p| p.offset as usize);
        let fields = element_fields(ty, structs);
        let sizes = fields.iter().map(|f| stride(f) as usize);
        Self {
            size: layout.size.next_multiple_of(layout.align) as usize,
            fields: offsets.zip(sizes).collect(),
        }
    }

    /// How many elements these bytes are.
    pub(crate) const fn count(&self, elements: &[u8]) -> usize {
        elements.len() / self.size
    }

    /// The bytes of each field, element after element.
    pub(crate) fn scatter(&self, elements: &[u8]) -> Vec<Vec<u8>> {
        let fields = self.fields.iter().map(|&(at, size)| {
            if size == self.size {
                return elements.to_vec();
            }
            let mut out = Vec::with_capacity(self.count(elements) * size);
            for element in elements.chunks_exact(self.size) {
                out.extend_from_slice(&element[at..at + size]);
            }
            out
        });
        fields.collect()
    }

    /// Appends elements of which each field's bytes lie side by side. Padding is zero.
    pub(crate) fn gather(&self, fields: &[Vec<u8>], count: usize, out: &mut Vec<u8>) {
        if let ([(0, size)], [values]) = (&self.fields[..], fields)
            && *size == self.size
        {
            out.extend_from_slice(values);
            return;
        }
        let first = out.len();
        out.resize(first + count * self.size, 0);
        for (&(at, size), values) in self.fields.iter().zip(fields) {
            let elements = out[first..].chunks_exact_mut(self.size);
            for (element, value) in elements.zip(values.chunks_exact(size)) {
                element[at..at + size].copy_from_slice(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_graph::ty::Scalar;

    #[test]
    fn elements_go_to_fields_and_back() {
        let ty = Type::Tuple(vec![
            Type::Scalar(Scalar::U8),
            Type::Tuple(vec![Type::Scalar(Scalar::U32), Type::Scalar(Scalar::U16)]),
        ]);
        let image = Image::new(&ty, &Structs::default());
        let elements = [
            [1, 0, 0, 0, 2, 3, 4, 5, 6, 7, 0, 0],
            [8, 0, 0, 0, 9, 9, 9, 9, 7, 7, 0, 0],
        ]
        .concat();
        let fields = image.scatter(&elements);
        assert_eq!(
            fields,
            [vec![1, 8], vec![2, 3, 4, 5, 9, 9, 9, 9], vec![6, 7, 7, 7]]
        );
        let mut back = Vec::new();
        image.gather(&fields, 2, &mut back);
        assert_eq!(back, elements);
        let whole = Image::new(&Type::Scalar(Scalar::U64), &Structs::default());
        let mut back = Vec::new();
        whole.gather(&whole.scatter(&elements), 3, &mut back);
        assert_eq!(back, elements);
    }
}
