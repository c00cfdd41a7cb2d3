//! The machine turned round: one row under many draws, where passes have many rows under one.

use ergodic_core::arithmetic::{Arithmetic, LANES, RowLoop};

use crate::code::{Code, Input, Store};
use crate::machine::{BLOCK, Data, Registers, forward, gathered, read};

/// A program for rows at one row under several draws: what differs from place to place is the draw.
pub(crate) struct Across<'a> {
    pub code: &'a Code,
    pub store: &'a Store,
    pub row: usize,
    /// Elements of all parameters, each under all draws.
    pub elements: &'a [Vec<f64>],
    /// Outputs of the head, each under all draws.
    pub heads: &'a [Vec<f64>],
    /// The first draw.
    pub first: usize,
    pub registers: &'a mut Registers<BLOCK>,
    /// The outputs one after the other, each under as many draws as there is place for.
    pub out: &'a mut [f64],
}

impl RowLoop for Across<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Across {
            code,
            store,
            row,
            elements,
            heads,
            first,
            registers,
            out,
        } = self;
        let Registers {
            values,
            slopes,
            picked,
            ..
        } = registers;
        for (column, picked) in store.numbers.iter().zip(&mut *picked) {
            picked.fill(column[row]);
        }
        for (input, register) in code.inputs.iter().zip(&mut *values) {
            if let Input::Constant(value) = input {
                register.fill(*value);
            }
        }
        let len = out.len() / code.outputs.len().max(1);
        let mut done = 0;
        while done < len {
            let live = BLOCK.min(len - done);
            for (input, register) in code.inputs.iter().zip(&mut *values) {
                let draws = match input {
                    Input::Constant(_) => continue,
                    Input::Parameter(at) => &elements[*at],
                    Input::Head(at) => &heads[*at],
                    Input::Gather { offset, picks } => {
                        &elements[gathered(store, *offset, picks, row)]
                    }
                    Input::Element(offset) => &elements[offset + row],
                };
                register[..live].copy_from_slice(&draws[first + done..][..live]);
                let repeated = register[0];
                register[live..].fill(repeated);
            }
            let data = Data {
                store,
                picked,
                start: None,
            };
            let width = live.next_multiple_of(LANES).min(BLOCK);
            forward::<A, BLOCK, false, true>(code, values, slopes, &data, width);
            for (k, output) in code.outputs.iter().enumerate() {
                let value = read(*output, values, &data);
                out[k * len + done..][..live].copy_from_slice(&value[..live]);
            }
            done += live;
        }
    }
}
