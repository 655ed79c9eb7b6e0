//! A value that is read in the background: requested, loaded or failed.

use std::sync::Arc;

/// The place for a value that belongs to a key: the newest key that was asked for wins.
#[derive(Debug)]
pub struct Loaded<K, T> {
    wanted: Option<K>,
    there: Option<(K, Result<Arc<T>, String>)>,
}

impl<K, T> Default for Loaded<K, T> {
    fn default() -> Self {
        Self { wanted: None, there: None }
    }
}

/// What can be said of a value now.
#[derive(Debug)]
pub enum LoadState<'a, T> {
    /// Nobody asked for it.
    NotRequested,
    /// It is being read.
    Loading,
    /// It could not be read, with a sentence.
    Failed(&'a str),
    /// Here it is.
    Ready(&'a Arc<T>),
}

impl<K: PartialEq + Clone, T> Loaded<K, T> {
    /// Asks for the value of a key. True when it has to be fetched.
    pub fn request(&mut self, key: &K) -> bool {
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
    pub fn store(&mut self, key: K, value: Result<T, String>) {
        if self.wanted.as_ref() == Some(&key) {
            self.wanted = None;
            self.there = Some((key, value.map(Arc::new)));
        }
    }

    /// Puts another value in the place of the one that is there.
    pub fn replace(&mut self, value: T) {
        if let Some((_, now)) = &mut self.there {
            *now = Ok(Arc::new(value));
        }
    }

    /// Marks what was requested last as failed.
    pub fn fail(&mut self, why: String) {
        if let Some(key) = self.wanted.take() {
            self.there = Some((key, Err(why)));
        }
    }

    /// The state of the value of a key.
    pub fn state(&self, key: &K) -> LoadState<'_, T> {
        match &self.there {
            Some((there, Ok(value))) if there == key => LoadState::Ready(value),
            Some((there, Err(why))) if there == key => LoadState::Failed(why),
            _ if self.wanted.as_ref() == Some(key) => LoadState::Loading,
            _ => LoadState::NotRequested,
        }
    }

    /// The value of a key, when it is there.
    pub fn get(&self, key: &K) -> Option<&Arc<T>> {
        match self.state(key) {
            LoadState::Ready(value) => Some(value),
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
        let mut cell: Loaded<u8, &str> = Loaded::default();
        assert!(cell.request(&1));
        assert!(!cell.request(&1), "it is on its way");
        assert!(matches!(cell.state(&1), LoadState::Loading));
        assert!(cell.request(&2));
        cell.store(1, Ok("one"));
        assert!(cell.get(&1).is_none(), "too late");
        cell.store(2, Ok("two"));
        assert_eq!(cell.get(&2).map(|v| **v), Some("two"));
        assert!(!cell.request(&2));
        assert!(cell.request(&3));
        assert_eq!(cell.latest().map(|(k, _)| *k), Some(2), "still there to be shown");
        cell.fail("gone".into());
        assert!(matches!(cell.state(&3), LoadState::Failed("gone")));
        assert!(!cell.request(&3), "what failed is not asked for again and again");
        cell.clear();
        assert!(cell.request(&3));
    }
}
