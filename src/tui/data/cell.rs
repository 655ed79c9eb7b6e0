//! Something that is read in the background: wanted, there, or not to be had.

use std::sync::Arc;

/// The place for a value that belongs to a key: the newest key that was asked for wins.
#[derive(Debug)]
pub struct Cell<K, T> {
    wanted: Option<K>,
    there: Option<(K, Result<Arc<T>, String>)>,
}

impl<K, T> Default for Cell<K, T> {
    fn default() -> Self {
        Self { wanted: None, there: None }
    }
}

/// What can be said of a value now.
#[derive(Debug)]
pub enum State<'a, T> {
    /// Nobody asked for it.
    Unasked,
    /// It is being read.
    Reading,
    /// It cannot be had, with a sentence.
    Failed(&'a str),
    /// Here it is.
    Ready(&'a Arc<T>),
}

impl<K: PartialEq + Clone, T> Cell<K, T> {
    /// Asks for the value of a key. True when it has to be fetched.
    pub fn want(&mut self, key: &K) -> bool {
        if self.wanted.as_ref() == Some(key) || self.there.as_ref().is_some_and(|(there, _)| there == key) {
            if self.wanted.as_ref() != Some(key) {
                self.wanted = None;
            }
            return false;
        }
        self.wanted = Some(key.clone());
        true
    }

    /// Puts a value there, unless another one has been asked for since.
    pub fn put(&mut self, key: K, value: Result<T, String>) {
        if self.wanted.as_ref() == Some(&key) {
            self.wanted = None;
            self.there = Some((key, value.map(Arc::new)));
        }
    }

    /// What was asked for last cannot be had.
    pub fn fail(&mut self, why: String) {
        if let Some(key) = self.wanted.take() {
            self.there = Some((key, Err(why)));
        }
    }

    /// The state of the value of a key.
    pub fn state(&self, key: &K) -> State<'_, T> {
        match &self.there {
            Some((there, Ok(value))) if there == key => State::Ready(value),
            Some((there, Err(why))) if there == key => State::Failed(why),
            _ if self.wanted.as_ref() == Some(key) => State::Reading,
            _ => State::Unasked,
        }
    }

    /// The value of a key, when it is there.
    pub fn get(&self, key: &K) -> Option<&Arc<T>> {
        match self.state(key) {
            State::Ready(value) => Some(value),
            _ => None,
        }
    }

    /// The value that is there, whatever its key: what can be shown until the one that is wanted comes.
    pub fn latest(&self) -> Option<(&K, &Arc<T>)> {
        match &self.there {
            Some((key, Ok(value))) => Some((key, value)),
            _ => None,
        }
    }

    /// Forgets everything, so that it is fetched again.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_key_wins() {
        let mut cell: Cell<u8, &str> = Cell::default();
        assert!(cell.want(&1));
        assert!(!cell.want(&1), "it is on its way");
        assert!(matches!(cell.state(&1), State::Reading));
        assert!(cell.want(&2));
        cell.put(1, Ok("one"));
        assert!(cell.get(&1).is_none(), "too late");
        cell.put(2, Ok("two"));
        assert_eq!(cell.get(&2).map(|v| **v), Some("two"));
        assert!(!cell.want(&2));
        assert!(cell.want(&3));
        assert_eq!(cell.latest().map(|(k, _)| *k), Some(2), "still there to be shown");
        cell.fail("gone".into());
        assert!(matches!(cell.state(&3), State::Failed("gone")));
        assert!(!cell.want(&3), "what failed is not asked for again and again");
        cell.clear();
        assert!(cell.want(&3));
    }
}
