//! Any graph survives its file, whatever is wrong with it.

use millstream_graph::{
    graph::{
        Body, Channel, Code, Element, Graph, Kernel, Predicate, Protocol, Scope, Task, WhenFull,
        Written,
    },
    ir::{Combine, LocalId, Ways},
    ty::{Field, Layout, PieceKind, Scalar},
};
use proptest::prelude::*;

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,6}", "[ -~]{0,8}", "\\PC{0,4}"]
}

fn field() -> impl Strategy<Value = Field> {
    let scalar = prop::sample::select(Scalar::ALL.to_vec()).prop_map(PieceKind::Scalar);
    let blob = (0..100u64, 0..4u32).prop_map(|(n, align)| {
        let align = 1 << align;
        PieceKind::Blob(Layout {
            size: n * align,
            align,
        })
    });
    (name(), prop_oneof![scalar, blob]).prop_map(|(name, kind)| Field { name, kind })
}

fn predicate() -> impl Strategy<Value = Predicate> {
    prop_oneof![
        Just(Predicate::Full),
        Just(Predicate::Any),
        any::<u32>().prop_map(Predicate::AtLeast),
        name().prop_map(Predicate::Own),
    ]
}

fn channel() -> impl Strategy<Value = Channel> {
    let element = prop_oneof![
        (name(), prop::collection::vec(field(), 0..4)).prop_map(|(ty, fields)| {
            let layout = Some(fields).filter(|f| !f.is_empty());
            (Element::Type(ty), layout, Protocol::Ring)
        }),
        prop::collection::vec(field(), 0..4).prop_map(|fields| (
            Element::Fields(fields),
            None,
            Protocol::Stack
        )),
    ];
    let scope = prop::sample::select(vec![Scope::Worker, Scope::Device, Scope::Host]);
    let full = prop::sample::select(vec![WhenFull::Wait, WhenFull::Grow, WhenFull::DropOldest]);
    let numbers = (any::<u32>(), any::<u32>(), any::<i32>());
    let ends = (any::<bool>(), any::<bool>());
    (element, scope, full, numbers, predicate(), ends).prop_map(
        |((element, layout, protocol), scope, full, (width, group, priority), predicate, ends)| {
            Channel {
                element,
                layout,
                protocol,
                scope,
                width,
                group,
                predicate,
                priority,
                full,
                input: ends.0,
                output: ends.1,
                ..Channel::new("", "")
            }
        },
    )
}

fn body() -> impl Strategy<Value = Body> {
    let most = prop::collection::vec(any::<Option<u32>>(), 0..3);
    let code = (name(), any::<Option<u32>>(), most).prop_map(|(function, ret, most)| Code {
        function,
        ret: ret.map(LocalId),
        most,
    });
    prop_oneof![
        Just(Body::Host),
        name().prop_map(Body::Device),
        code.prop_map(Body::Segment),
    ]
}

prop_compose! {
    /// Names are numbered, for a file has each once.
    fn graph()(
        title in name(),
        channels in prop::collection::vec((name(), channel()), 1..5),
        kernels in prop::collection::vec(
            (
                name(),
                body(),
                any::<Option<prop::sample::Index>>(),
                prop::collection::vec(any::<prop::sample::Index>(), 0..4),
                prop::collection::vec(name(), 0..3),
            ),
            0..5,
        ),
        tasks in prop::collection::vec(
            (name(), 0..8usize, any::<prop::sample::Index>(), any::<Option<prop::sample::Index>>()),
            0..3,
        ),
    ) -> Graph {
        let mut graph = Graph::new(title);
        let channels = channels.into_iter().enumerate();
        let channels: Vec<_> = channels
            .map(|(i, (name, channel))| {
                graph.add_channel(Channel { name: format!("{i}{name}"), ..channel })
            })
            .collect();
        let kernels = kernels.into_iter().enumerate();
        let kernels: Vec<_> = kernels
            .map(|(i, (name, body, consumes, produces, args))| {
                graph.add_kernel(Kernel {
                    name: format!("{i}{name}"),
                    body,
                    consumes: consumes.map(|c| *c.get(&channels)),
                    produces: produces.iter().map(|c| *c.get(&channels)).collect(),
                    args,
                })
            })
            .collect();
        let combines = [
            Combine::Store, Combine::Add, Combine::Or, Combine::And, Combine::Xor, Combine::Min, Combine::Max,
            Combine::Each(Ways::new(&[Combine::Max, Combine::Add]).unwrap()),
        ];
        for (i, (name, combine, calls, frames)) in tasks.into_iter().enumerate() {
            graph.add_task(Task {
                name: format!("{i}{name}"),
                combine: combines[combine],
                calls: *calls.get(&channels),
                frames: frames.map(|f| *f.get(&channels)),
                segments: kernels.clone(),
            });
        }
        graph
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_graph_is_read_as_it_was_written(graph in graph()) {
        let compact = ron::to_string(&graph).unwrap();
        prop_assert_eq!(&ron::from_str::<Graph>(&compact).unwrap(), &graph);
        let pretty = ron::ser::PrettyConfig::default()
            .escape_strings(false)
            .extensions(ron::extensions::Extensions::IMPLICIT_SOME);
        let pretty = ron::ser::to_string_pretty(&graph, pretty).unwrap();
        let back: Graph = ron::from_str(&pretty).unwrap();
        prop_assert_eq!(&back, &graph);
        prop_assert_eq!(ron::to_string(&back).unwrap(), compact);
        // Each part is there by itself, not only as it is written.
        let parts = |g: &Graph| {
            let channels: Vec<Channel> = g.channels().map(|(_, c)| c.clone()).collect();
            let kernels: Vec<_> = g.kernels().map(|(_, k)| (k.name.clone(), k.body.clone(), k.args.clone())).collect();
            (g.name.clone(), channels, kernels, g.drawn().raw_edges().len())
        };
        prop_assert_eq!(parts(&back), parts(&graph));
        prop_assert_eq!(Written::from(&back), Written::from(&graph));
    }
}
