//! A native program, through wgpu alone.

mod commands;

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

pub(crate) use self::commands::{Commands, Group, Layout, Pipeline};

use super::adapter::Adapter;
use crate::error::{ErrorKind, Result};
use crate::event::{Event, Lost};
use crate::kernel::Recipe;
use crate::verdict::Verdict;

/// Errors carry the line that called the op.
pub(crate) const LOCATIONS: bool = true;

/// Every adapter of every backend.
pub(crate) async fn adapters() -> Result<Vec<Adapter>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let found = instance.enumerate_adapters(wgpu::Backends::all()).await;
    Ok(found
        .into_iter()
        .map(|raw| {
            let info = raw.get_info();
            Adapter { raw, name: info.name, backend: info.backend, device_type: info.device_type }
        })
        .collect())
}

/// What `asked` gives: a driver answers at once, or fails.
pub(crate) async fn answer<T>(
    asked: impl Future<Output = T>,
    _what: &str,
    _patience: f64,
) -> std::result::Result<T, String> {
    Ok(asked.await)
}

pub(crate) fn warn(message: &str) {
    eprintln!("{message}");
}

/// Catches every fault between `push` and `pop`. Natively wgpu has the outcome as soon as a scope is popped.
pub(crate) struct Scopes([wgpu::ErrorScopeGuard; 3]);

impl Scopes {
    pub(crate) fn push(device: &wgpu::Device) -> Self {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        Self([Internal, OutOfMemory, Validation].map(|filter| device.push_error_scope(filter)))
    }

    pub(crate) fn pop(self, verdict: &Verdict) {
        verdict.settle(self.outcome());
    }

    fn outcome(self) -> std::result::Result<(), ErrorKind> {
        let mut outcome = Ok(());
        let [internal, memory, validation] = self.0;
        for scope in [validation, memory, internal] {
            let popped = pin!(scope.pop()).poll(&mut Context::from_waker(Waker::noop()));
            if let Poll::Ready(Some(error)) = popped {
                outcome = outcome.and(Err(kind(&error)));
            }
        }
        outcome
    }
}

fn kind(error: &wgpu::Error) -> ErrorKind {
    let text = error.to_string();
    match error {
        wgpu::Error::OutOfMemory { .. } => ErrorKind::OutOfMemory(text),
        _ if text.contains("is lost") => ErrorKind::DeviceLost(text),
        wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => ErrorKind::Internal(text),
    }
}

/// A pipeline to compile ahead of time; `done` gets the outcome.
pub(crate) struct Job {
    pub(crate) layout: Arc<Layout>,
    pub(crate) recipe: Recipe,
    pub(crate) done: Box<dyn FnOnce(std::result::Result<Pipeline, ErrorKind>) + Send>,
}

/// Compiles pipelines in as many threads as the machine runs at once.
pub(crate) fn compile(device: &wgpu::Device, _: &Arc<Event<Lost>>, jobs: Vec<Job>) {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    let jobs = Arc::new(Mutex::new(jobs));
    for _ in 0..threads {
        let (device, jobs) = (device.clone(), jobs.clone());
        let next = move || jobs.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let work = move || {
            while let Some(Job { layout, recipe, done }) = next() {
                let scopes = Scopes::push(&device);
                let pipeline = layout.pipeline(&device, recipe);
                done(scopes.outcome().map(|()| pipeline));
            }
        };
        if thread::Builder::new().spawn(work.clone()).is_err() {
            work();
        }
    }
}

/// Waits for a mapping by driving the device; nobody else polls it. `None` if it can no longer come.
pub(crate) async fn arrival(device: &wgpu::Device, mapped: &Arc<Event<bool>>, lost: &Event<Lost>) -> Option<bool> {
    loop {
        if let Some(outcome) = mapped.get() {
            return Some(outcome);
        }
        if lost.get().is_some() || device.poll(wgpu::PollType::wait_indefinitely()).is_err() {
            return mapped.get();
        }
    }
}
