//! The browser facade.
