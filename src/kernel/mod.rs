//! The kernels: [`table`] lists all that can exist, `row` says what a row is, `recipe` makes modules of them.

mod recipe;
mod row;
pub(crate) mod table;
mod unroll;

pub(crate) use recipe::Recipe;
pub(crate) use row::{Arity, Grid, INPUTS_MAX, Kernel, OUTPUTS_MAX, Params, SLOT};
