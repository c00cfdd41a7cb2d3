//! Mixtures and collections of documents of some size.

use std::sync::Arc;

use super::mixtures::{counts, names, numeric};
use super::topics::corpus;
use crate::models::dp_mixture::AlphaPrior;
use crate::models::topics::{Synthetic, SyntheticShape};
use crate::models::{Mixture, Model};
use ergodic_base::{Purpose, stream};

/// Mixtures of 40 units for samplers: everything mixed, and items only.
pub fn mixtures_of_forty() -> [Arc<dyn Model>; 2] {
    let items: Vec<Vec<u32>> = (0..45)
        .map(|unit: u32| {
            (0..3 + unit % 3)
                .map(|k| 3 * (unit % 2) + (unit + k * k) % 3)
                .collect()
        })
        .collect();
    let items: Vec<&[u32]> = items.iter().map(Vec::as_slice).collect();
    let prior = AlphaPrior::Gamma {
        shape: 2.0,
        rate: 4.0,
    };
    let rows: Vec<[f64; 2]> = (0..45)
        .map(|unit| {
            let side = f64::from(unit % 2) - 0.5;
            let angle = f64::from(unit);
            [
                2.0 * side + 0.5 * angle.sin(),
                side + 0.5 * (2.0 * angle).cos(),
            ]
        })
        .collect();
    let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
    let long = Some(counts(&[6], 0.5, &items));
    let wide: Vec<Vec<u32>> = (0..45).map(|unit| vec![unit % 3, 3 + unit % 2]).collect();
    let wide: Vec<&[u32]> = wide.iter().map(Vec::as_slice).collect();
    let categories = Some(counts(&[3, 2], 0.5, &wide));
    [
        Mixture::new(names(45), 5, Some(numeric(&rows, false)), categories, prior),
        Mixture::new(names(45), 5, None, long, prior),
    ]
    .map(Mixture::into_model)
}

/// Documents of two topics that share no word: the first half of `vocabulary` words, and the other; every topic leaves its last word out.
pub fn two_topics(documents: usize, length: usize, vocabulary: u32) -> Vec<Vec<u32>> {
    let half = vocabulary / 2;
    (0..documents)
        .map(|document| {
            // Of four documents two are of one topic, two mix.
            let of_first = [length, 0, length / 4, 3 * length / 4][document % 4];
            (0..length)
                .map(|i| {
                    let word = ((i * 5 + document * 3) as u32) % (half - 1);
                    if i < of_first { word } else { half + word }
                })
                .collect()
        })
        .collect()
}

/// Thirty documents, of which some are held out, of three topics.
pub fn thirty_documents() -> Arc<dyn Model> {
    let shape = SyntheticShape {
        topics: 3,
        vocabulary: 12,
        documents: 30,
        length: 15.0,
        alpha: 0.3,
        beta: 0.2,
    };
    let drawn = Synthetic::draw(shape, &mut stream(9, 0, Purpose::Data));
    let documents: Vec<&[u32]> = drawn.documents.iter().map(Vec::as_slice).collect();
    corpus(&documents, shape.vocabulary, 3, [0.3, 0.2], 5).into_model()
}
