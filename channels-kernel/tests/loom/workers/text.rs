//! Each step of the protocol in `workers.cu`, and the model's for it.

const CUDA: &str = include_str!("../../../src/cuda/device/workers.cu");
const MODEL: &str = include_str!("model.rs");

/// The watchdog and faults are not in the model.
const NOT_HERE: &str = "";

/// Of each function the lines that have one of `MARKS`, in their order and without the `__nv_atomic_` and `__NV_ATOMIC_` of names and the device's scope;
/// and the model's line for it, or what it has of it.
const STEPS: &[(&str, &[(&str, &str)])] = &[
    (
        "donate",
        &[
            (
                "gift.first = o.at[stack] + o.bottom[stack];",
                "self.at[stack] + self.bottom[stack]",
            ),
            ("o.bottom[stack] += count;", "self.bottom[stack] += count;"),
            ("o.offers = 1;", "self.offers = true;"),
            (
                "fetch_add(&crew.alive, 1u, RELAXED);",
                "crew.alive.fetch_add(1);",
            ),
            (
                "thread_fence(ACQ_REL);",
                "crew.fence_unless(Bug::OfferedUnfenced);",
            ),
            (
                "store_n(&gift.state, (u32)GIFT_OFFERED, RELAXED);",
                "gift.state.store(OFFERED);",
            ),
            (
                "fetch_add(&crew.offered, 1u, RELAXED);",
                "crew.offered.fetch_add(1);",
            ),
        ],
    ),
    (
        "take_back",
        &[
            ("if (!o.offers) return false;", "if !self.offers {"),
            ("o.offers = 0;", "self.offers = false;"),
            (
                "if (compare_exchange_n(&gift.state, &state, (u32)GIFT_NONE, false, RELAXED, RELAXED)) {",
                "if self.exchange(gift, NONE, Bug::TakenBackUnasked) {",
            ),
            (
                "fetch_sub(&crew.offered, 1u, RELAXED);",
                "crew.offered.fetch_sub(1);",
            ),
            (
                "o.bottom[gift.stack] -= gift.count;",
                "self.bottom[stack] -= count;",
            ),
            (
                "while (GLOBAL_LOAD(&gift.state) != GIFT_NONE) pause(20);",
                "while !crew.has(Bug::NotWaited) && gift.state.load() != NONE {",
            ),
            (
                "thread_fence(ACQ_REL);",
                "crew.fence_unless(Bug::WaitedUnfenced);",
            ),
        ],
    ),
    (
        "settle",
        &[
            (
                "if (thread_id() == 0 && take_back(o, crew, gift)) {",
                "if self.take_back() {",
            ),
            ("fetch_sub(&crew.alive, 1u, RELAXED);", "crew.done();"),
            (
                "const u32 bottom = o.bottom[s], all = have(o, s);",
                "let (bottom, all) = (self.bottom[s], self.have(s));",
            ),
            (
                "const u32 step = min_of(BLOCK, bottom);",
                "let mut step = BLOCK.min(bottom);",
            ),
            (
                "for (u32 i = 0; i < all; i += step) {",
                "for i in (0..all).step_by(step as usize) {",
            ),
            (
                "copy_entries(s, o.at[s] + i, o.at[s] + bottom + i, min_of(step, all - i));",
                "crew.copy_entries(s, to, to + bottom, step.min(all - i));",
            ),
            ("o.bottom[s] = 0;", "self.bottom[s] = 0;"),
        ],
    ),
    (
        "next_roots",
        &[
            (
                "if (GLOBAL_LOAD(&crew.ticket) >= crew.batches) return false;",
                "crew.ticket.load();",
            ),
            (
                "const u32 ticket = fetch_add(&crew.ticket, 1u, RELAXED);",
                "crew.ticket.fetch_add(1);",
            ),
        ],
    ),
    (
        "next_gift",
        &[
            (
                "if (any_lane(lane_id() == 0 && GLOBAL_LOAD(&crew.offered) == 0)) return false;",
                "if crew.offered.load() == 0 {",
            ),
            (
                "u32 offers = __ballot_sync(ALL_LANES, at + lane_id() < gridDim.x && GLOBAL_LOAD(&gifts[who].state) == GIFT_OFFERED);",
                "if gift.state.load() != OFFERED {",
            ),
            (
                "mine = compare_exchange_n(&gift.state, &state, (u32)GIFT_TAKEN, false, RELAXED, RELAXED);",
                "self.exchange(gift, TAKEN, Bug::TakenUnasked);",
            ),
            (
                "thread_fence(ACQ_REL);",
                "crew.fence_unless(Bug::TakenUnfenced);",
            ),
            (
                "if (mine) fetch_sub(&crew.offered, 1u, RELAXED);",
                "crew.offered.fetch_sub(1);",
            ),
        ],
    ),
    (
        "acquire",
        &[
            (
                "own_offer = take_back(o, crew, gifts[blockIdx.x]);",
                "if self.take_back() {",
            ),
            (
                "for (u32 s = lane_id(); !own_offer && s < STACKS; s += WARP) o.bottom[s] = o.top[s] = 0;",
                "self.bottom = [0; STACKS];",
            ),
            (
                "some = next_roots(crew, found);",
                "found = self.next_roots();",
            ),
            (
                "over = !some && (GLOBAL_LOAD(&crew.alive) == 0 || GLOBAL_LOAD(&crew.recall) || GLOBAL_LOAD(&o.control.status) != OK);",
                "self.all_done() || crew.recall.load() != 0 {",
            ),
            (
                "some = next_gift(crew, found);",
                "found = self.next_gift();",
            ),
            (
                "if (!waits) fetch_add(&crew.hungry, 1u, RELAXED);",
                "crew.hungry.fetch_add(1);",
            ),
            (
                "const u32 now = GLOBAL_LOAD(&device_channels.control->beat);",
                NOT_HERE,
            ),
            (
                "if (waits) fetch_sub(&crew.hungry, 1u, RELAXED);",
                "crew.hungry.fetch_sub(1);",
            ),
            (
                "copy_entries(take.stack, o.at[take.stack], take.first, take.count);",
                "crew.copy_entries(take.stack, self.at[take.stack], take.first, take.count);",
            ),
            (
                "thread_fence(ACQ_REL);",
                "crew.fence_unless(Bug::NoneUnfenced);",
            ),
            (
                "store_n(&gifts[take.of].state, (u32)GIFT_NONE, RELAXED);",
                "crew.gifts[of].state.store(NONE);",
            ),
        ],
    ),
    (
        "workers",
        &[
            ("bool stops = false;", "let mut stops = false;"),
            (
                "while (!stops && acquire(o, sh, crew)) {",
                "while !stops && self.acquire() {",
            ),
            (
                "if (o.hungry && !o.offers) donate(o, crew, gift);",
                "if self.hungry != 0 && !self.offers {",
            ),
            (
                "if (sh.dispatch.stop == NO_ROOM && settle(o, crew, gift)) continue;",
                "Next::NoRoom if self.settle() => continue,",
            ),
            ("u32 hungry = 0, recall = 0, offers = 0;", NOT_HERE),
            (
                "offers = o.offers && GLOBAL_LOAD(&gift.state) != GIFT_NONE;",
                "let offers = self.offers && gift.state.load() != NONE;",
            ),
            (
                "hungry = GLOBAL_LOAD(&crew.hungry);",
                "let hungry = crew.hungry.load();",
            ),
            (
                "recall = GLOBAL_LOAD(&crew.recall);",
                "let recall = crew.recall.load();",
            ),
            (
                "if (o.offers && !offers) thread_fence(ACQ_REL);",
                "crew.fence_unless(Bug::GoneUnfenced);",
            ),
            ("o.offers = offers;", "self.offers = offers;"),
            (
                "sh.go = !recall && !((o.is_private || o.dispatches % 64 == 0) && should_stop(&o.control, since));",
                "stops = recall != 0;",
            ),
            // No fault stops a run of the model.
            (
                "const bool failed = GLOBAL_LOAD(&o.control.status) != OK;",
                NOT_HERE,
            ),
            ("stops = failed || !sh.go;", NOT_HERE),
            ("if (stops) break;", "if stops {"),
            (
                "store_n(&crew.recall, 1u, RELAXED);",
                "crew.recall.store(1);",
            ),
            ("} else if (!stops) {", "} else if !stops"),
            ("fetch_sub(&crew.alive, 1u, RELAXED);", "crew.done();"),
            ("stops |= sh.dispatch.stop == NO_ROOM;", "stops |= no_room;"),
            (
                "if (stops && thread_id() == 0) take_back(o, crew, gift);",
                "self.take_back();",
            ),
        ],
    ),
    (
        "gather",
        &[
            ("const u32 begin = crew.end[s];", "let mut end = begin;"),
            (
                "const u32 first = crew.base[s] + w * crew.share[s] + rest.first;",
                "let first = self.scene.base(s) + w as u32 * self.scene.share + rest;",
            ),
            (
                "const u32 step = min_of(BLOCK, first - end);",
                "let mut step = BLOCK.min(first.wrapping_sub(end));",
            ),
            (
                "for (u32 i = 0; i < rest.count && step; i += step) {",
                "while i < count && step > 0 {",
            ),
            (
                "copy_entries(s, end + i, first + i, min_of(step, rest.count - i));",
                "self.copy_entries(s, end + i, first + i, step.min(count - i));",
            ),
            ("end += rest.count;", "end += count;"),
            (
                "if (thread_id() == 0) crew.returned[s] = end - begin;",
                "end - begin",
            ),
        ],
    ),
];

/// Words that other blocks see, what is where in a range, and when a worker stops.
const MARKS: &[&str] = &[
    "__nv_atomic",
    "GLOBAL_LOAD",
    "copy_entries(",
    "take_back(",
    "donate(",
    "settle(",
    "acquire(",
    "next_roots(",
    "next_gift(",
    "bottom[",
    "o.offers",
    "recall",
    "stops",
    "step",
    "returned",
    "end +",
    "crew.base",
    "crew.end",
];

/// The lines of a function after its head, trimmed and without comments.
fn body<'a>(text: &'a str, head: &str, indent: &str) -> Vec<&'a str> {
    let is_head = |line: &str| line.contains(head) && line.ends_with('{');
    let end = format!("{indent}}}");
    let lines = text.lines().skip_while(|line| !is_head(line)).skip(1);
    let lines = lines.take_while(|line| **line != end).map(str::trim);
    lines.filter(|line| !line.starts_with("//")).collect()
}

#[test]
fn the_model_has_each_step_of_the_text() {
    for (function, steps) in STEPS {
        let short = |line: &str| {
            let line = line.replace(", __NV_THREAD_SCOPE_DEVICE)", ")");
            line.replace("__nv_atomic_", "").replace("__NV_ATOMIC_", "")
        };
        let mut text = body(CUDA, &format!(" {function}("), "");
        text.retain(|line| MARKS.iter().any(|mark| line.contains(mark)));
        let text: Vec<String> = text.into_iter().map(short).collect();
        let written: Vec<&str> = steps.iter().map(|(step, _)| *step).collect();
        assert_eq!(
            text, written,
            "`{function}` of workers.cu is not what the model was made of: look at the model, and then write here what it has"
        );
        let mut model = body(MODEL, &format!("fn {function}("), "    ").into_iter();
        for (step, line) in steps.iter().filter(|(_, line)| *line != NOT_HERE) {
            assert!(
                model.any(|of_model| of_model.contains(line)),
                "`{function}` of the model has no `{line}` where `{step}` is"
            );
        }
    }
}
