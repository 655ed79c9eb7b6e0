//! What a decoder gives.

use crate::damage::Damage;

/// What could be decoded, and what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Decoded<T> {
    /// What could be decoded.
    pub value: T,
    /// What is wrong, in the order it was met; empty when all is well.
    pub damage: Vec<Damage>,
}

impl<T> Decoded<T> {
    /// What `decode` returns, with the damage that it pushed.
    pub(crate) fn collect(decode: impl FnOnce(&mut Vec<Damage>) -> T) -> Self {
        let mut damage = Vec::new();
        let value = decode(&mut damage);
        Self { value, damage }
    }

    /// Appends the damage to a list and gives the value.
    pub fn report_to(mut self, damage: &mut Vec<Damage>) -> T {
        damage.append(&mut self.damage);
        self.value
    }
}
