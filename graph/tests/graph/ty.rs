//! Types as they lie in memory.

use millstream_graph::ty::*;

#[test]
fn layouts_are_those_of_c() {
    let mut structs = Structs::default();
    let id = structs.push(StructDef {
        name: "S".into(),
        fields: vec![
            ("a".into(), Type::Scalar(Scalar::U8)),
            ("b".into(), Type::Scalar(Scalar::F64)),
        ],
        tuple: false,
        variants: Vec::new(),
    });
    let ty = Type::Array(Box::new(Type::Struct(id)), 3);
    assert_eq!(ty.layout(&structs), Layout { size: 48, align: 8 });
    assert_eq!(ty.pieces(&structs).len(), 1);
    assert_eq!(Type::Struct(id).pieces(&structs)[1].offset, 8);
    assert_eq!(ty.display(&structs).to_string(), "[S; 3]");
}
