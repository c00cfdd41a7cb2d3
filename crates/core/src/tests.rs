//! Models where samplers or searches for a mode are needed to test them.

mod factorization;
mod modes;
mod neural_net;
mod residuals;
