//! Slices, and parts of them, that are sorted by closures and by orders of the program's own: long enough for runs to be merged, and equal elements keep their order.

#[millstream::program]
pub mod program {
    use std::cmp::Ordering;

    #[derive(Clone, Copy, Debug)]
    pub struct Card {
        pub suit: u32,
        pub at: u32,
    }

    /// By suit alone, the highest first.
    impl Ord for Card {
        fn cmp(&self, other: &Self) -> Ordering {
            other.suit.cmp(&self.suit)
        }
    }
    impl PartialOrd for Card {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }
    impl PartialEq for Card {
        fn eq(&self, other: &Self) -> bool {
            self.suit == other.suit
        }
    }
    impl Eq for Card {}

    fn deal(cards: &mut [Card], suits: u32) {
        let mut x = 12345u32;
        for i in 0..cards.len() {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            cards[i] = Card { suit: (x >> 16) % suits, at: i as u32 };
        }
    }

    fn seen(cards: &[Card]) -> u64 {
        cards.iter().fold(7u64, |h, c| h.wrapping_mul(1_000_003).wrapping_add((c.suit * 4096 + c.at) as u64))
    }

    #[task]
    pub fn by_key(cards: &mut [Card], suits: u32, from: usize) -> u64 {
        deal(cards, suits);
        cards[from..].sort_by_key(|c| c.suit);
        seen(cards)
    }

    #[task]
    pub fn by_closure(cards: &mut [Card], suits: u32, upto: usize) -> u64 {
        deal(cards, suits);
        cards[..upto].sort_by(|a, b| b.suit.cmp(&a.suit).then(a.at.cmp(&b.at)));
        let h = seen(cards);
        let n = cards.len();
        cards[1..n - 1].sort_unstable_by_key(|c| c.at);
        h ^ seen(cards).rotate_left(7)
    }

    #[task]
    pub fn by_own(cards: &mut [Card], suits: u32) -> u64 {
        deal(cards, suits);
        if cards.len() > 30 {
            let (a, b) = cards.split_at_mut(30);
            spawn!(part(a));
            spawn!(part(b));
            sync!();
        }
        cards.sort();
        seen(cards)
    }

    #[task]
    pub fn part(cards: &mut [Card]) {
        cards.sort();
    }
}

use program::Card;

millstream_tests::cases! {
    by_key(&mut [Card { suit: 0, at: 0 }; 20], 4, 0);
    by_key(&mut [Card { suit: 0, at: 0 }; 21], 4, 0);
    by_key(&mut [Card { suit: 0, at: 0 }; 41], 9, 1);
    by_key(&mut [Card { suit: 0, at: 0 }; 333], 13, 7);
    by_closure(&mut [Card { suit: 0, at: 0 }; 100], 7, 99);
    by_closure(&mut [Card { suit: 0, at: 0 }; 257], 1000, 250);
    by_own(&mut [Card { suit: 0, at: 0 }; 200], 5);
    by_own(&mut [Card { suit: 0, at: 0 }; 12], 5);
}
