//! What futures wait for: a value that arrives once, and the loss of a device as one of those.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// A value that is set once and never changes. Its lock is never held across an `await`.
pub(crate) struct Event<T>(Mutex<State<T>>);

struct State<T> {
    value: Option<T>,
    waiting: Vec<Waker>,
}

impl<T: Clone> Event<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(State { value: None, waiting: Vec::new() }))
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first value stays; later ones are dropped.
    pub(crate) fn set(&self, value: T) {
        let mut state = self.state();
        if state.value.is_some() {
            return;
        }
        state.value = Some(value);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn get(&self) -> Option<T> {
        self.state().value.clone()
    }

    /// Whether the value has arrived and is as `test` wants it.
    pub(crate) fn is(&self, test: impl FnOnce(&T) -> bool) -> bool {
        self.state().value.as_ref().is_some_and(test)
    }

    pub(crate) async fn wait(&self) -> T {
        poll_fn(|cx| {
            let mut state = self.state();
            match &state.value {
                Some(value) => Poll::Ready(value.clone()),
                None => {
                    if !state.waiting.iter().any(|w| w.will_wake(cx.waker())) {
                        state.waiting.push(cx.waker().clone());
                    }
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// What `work` gives, or `None` if this value arrives first.
    pub(crate) async fn or<W>(&self, work: impl Future<Output = W>) -> Option<W> {
        let (mut work, mut cut) = (pin!(work), pin!(self.wait()));
        poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending => cut.as_mut().poll(cx).map(|_| None),
        })
        .await
    }
}

/// Why and how a device was lost.
#[derive(Debug, Clone)]
pub(crate) struct Lost {
    /// Whether its owner ended it.
    pub(crate) destroyed: bool,
    pub(crate) message: String,
}

/// Lets other futures of the same task run once.
pub(crate) async fn yield_once() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
