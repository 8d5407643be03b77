//! Whether what happened at a ring is what a ring promises: each element is delivered once, not before it was published; what was published before
//! something else had begun to be is not taken after it; and a slot holds one element at a time.

/// What happened to an element, and when. As in `emulator/rings.cu`; times count from 1.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Event {
    /// Not used.
    pub number: u64,
    /// Its publication begins,
    pub enq_begin: u64,
    /// and has ended.
    pub enq_end: u64,
    /// A consumer begins to ask for elements,
    pub deq_begin: u64,
    /// and has this one.
    pub deq_end: u64,
    /// Its slot is allocated,
    pub held_from: u64,
    /// and about to be given back.
    pub held_until: u64,
    /// How many consumers got it.
    pub delivered: u32,
    /// Its slot.
    pub slot: u32,
}

/// Checks a history of elements, all of which were sent.
///
/// # Errors
/// What is not as a ring promises.
pub fn check(events: &[Event]) -> Result<(), String> {
    for (number, event) in events.iter().enumerate() {
        if event.delivered != 1 {
            return Err(format!("{number} was delivered {} times", event.delivered));
        }
        if event.deq_end < event.enq_begin {
            return Err(format!("{number} was taken before it was published"));
        }
    }
    in_order(events)?;
    one_at_a_time(events)
}

/// A queue's order, as far as anybody can tell: of two elements of which one was published before the other's publication began, the other one is not
/// taken before the first one was asked for.
fn in_order(events: &[Event]) -> Result<(), String> {
    let mut published: Vec<usize> = (0..events.len()).collect();
    published.sort_by_key(|i| events[*i].enq_end);
    let mut begun: Vec<usize> = (0..events.len()).collect();
    begun.sort_by_key(|i| events[*i].enq_begin);
    let (mut next, mut last) = (published.iter().peekable(), None::<usize>);
    for later in begun {
        while let Some(earlier) = next.next_if(|i| events[**i].enq_end < events[later].enq_begin) {
            if last.is_none_or(|l| events[l].deq_begin < events[*earlier].deq_begin) {
                last = Some(*earlier);
            }
        }
        if let Some(earlier) = last.filter(|e| events[later].deq_end < events[*e].deq_begin) {
            return Err(format!(
                "{later} was taken before {earlier}, which was published before"
            ));
        }
    }
    Ok(())
}

fn one_at_a_time(events: &[Event]) -> Result<(), String> {
    let mut held: Vec<&Event> = events.iter().collect();
    held.sort_by_key(|e| (e.slot, e.held_from));
    for pair in held.windows(2) {
        if pair[0].slot == pair[1].slot && pair[1].held_from < pair[0].held_until {
            return Err(format!("slot {} holds two elements", pair[0].slot));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(enq: (u64, u64), deq: (u64, u64), held: (u64, u64), slot: u32) -> Event {
        Event {
            number: 0,
            enq_begin: enq.0,
            enq_end: enq.1,
            deq_begin: deq.0,
            deq_end: deq.1,
            held_from: held.0,
            held_until: held.1,
            delivered: 1,
            slot,
        }
    }

    #[test]
    fn each_promise_is_checked() {
        let first = event((1, 2), (5, 6), (1, 7), 0);
        let second = event((3, 4), (5, 8), (3, 9), 1);
        assert_eq!(check(&[first, second]), Ok(()));
        let error = |events: &[Event]| check(events).unwrap_err();
        let twice = Event {
            delivered: 2,
            ..first
        };
        assert_eq!(error(&[twice]), "0 was delivered 2 times");
        let early = event((7, 9), (5, 6), (7, 9), 0);
        assert_eq!(error(&[early]), "0 was taken before it was published");
        let overtaken = event((1, 2), (9, 10), (1, 11), 0);
        assert_eq!(
            error(&[overtaken, second]),
            "1 was taken before 0, which was published before"
        );
        let beside = Event { slot: 0, ..second };
        assert_eq!(error(&[first, beside]), "slot 0 holds two elements");
    }
}
