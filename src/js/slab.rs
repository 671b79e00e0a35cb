//! Handles for JavaScript: small numbers for values that stay in wasm.

/// Values by number; a number is reused once its value is gone.
pub(super) struct Slab<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self { values: Vec::new(), free: Vec::new() }
    }

    pub(super) fn insert(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(handle) => {
                self.values[handle as usize] = Some(value);
                handle
            }
            None => {
                self.values.push(Some(value));
                self.values.len() as u32 - 1
            }
        }
    }

    pub(super) fn get(&self, handle: u32) -> Option<&T> {
        self.values.get(handle as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, handle: u32) -> Option<&mut T> {
        self.values.get_mut(handle as usize)?.as_mut()
    }

    pub(super) fn remove(&mut self, handle: u32) -> Option<T> {
        let value = self.values.get_mut(handle as usize)?.take();
        if value.is_some() {
            self.free.push(handle);
        }
        value
    }
}
