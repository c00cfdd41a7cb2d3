//! Images with labels: those of files, or drawn in their place.

use std::path::{Path, PathBuf};

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use crate::error::{BadImages, BenchError};
use ergodic_base::{ChainRng, Control, Purpose, stream};
use ergodic_core::design::{Columns as _, Values};
use ergodic_data::{ImportOptions, Table, load};

/// The name of the column of labels.
pub const LABEL: &str = "label";
/// The brightest that a pixel of the files can be.
const BRIGHTEST: f64 = 255.0;
/// Share of rows that are predicted where files do not say which.
const PREDICTED: f64 = 1.0 / 6.0;
/// Names of the four files of MNIST: images and labels to learn from, and to predict.
const FILES: [[&str; 2]; 2] = [
    ["train-images-idx3-ubyte", "train-labels-idx1-ubyte"],
    ["t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"],
];

/// Images as rows of brightnesses between 0 and 1, with a label each, in a table that has the label first.
pub struct Images {
    /// The rows to learn from, then those to predict.
    pub table: Table,
    /// How many there are to learn from.
    pub learnt: usize,
    /// Where the images come from, for people.
    pub source: String,
}

/// What drawn images are like.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Images to learn from, and to predict.
    pub rows: [usize; 2],
    /// Pixels along a side.
    pub side: usize,
    /// Labels.
    pub labels: usize,
}

/// Images that are drawn where no file is named, and for a glance.
pub const SHAPE: [Shape; 2] = [
    Shape {
        rows: [6000, 2000],
        side: 8,
        labels: 10,
    },
    Shape {
        rows: [900, 300],
        side: 7,
        labels: 4,
    },
];

impl Images {
    /// The images of `path`, a folder with the four files of MNIST, unpacked, or a table with the labels in column `label` or in its
    /// first column; or images that are drawn.
    ///
    /// # Errors
    /// The files cannot be read or are no such files.
    pub fn of(path: Option<&PathBuf>, shape: Shape) -> Result<Self, BenchError> {
        match path {
            Some(path) if path.is_dir() => of_folder(path),
            Some(path) => of_table(path),
            None => drawn(shape),
        }
    }
}

/// The numbers of a file in the format idx of unsigned bytes, and how many there are in each dimension.
///
/// The format: two zeros, 8 for unsigned bytes, the number of dimensions, the length of each as four bytes with the largest first, then
/// the numbers.
fn idx(path: &Path) -> Result<(Vec<usize>, Vec<u8>), BenchError> {
    let refuse = |why| BenchError::Images(path.to_owned(), why);
    let bytes = std::fs::read(path).map_err(|error| refuse(BadImages::Unread(error)))?;
    let is_none = || refuse(BadImages::Format);
    let &[0, 0, 8, dimensions] = bytes.first_chunk::<4>().ok_or_else(is_none)? else {
        return Err(is_none());
    };
    let lengths = bytes[4..].chunks_exact(4).take(dimensions.into());
    let lengths: Vec<usize> = lengths
        .map(|of| {
            of.iter()
                .fold(0, |all, byte| 256 * all + usize::from(*byte))
        })
        .collect();
    let body = bytes.get(4 * (1 + usize::from(dimensions))..);
    let wanted = lengths
        .iter()
        .try_fold(1_usize, |all, len| all.checked_mul(*len));
    match body {
        Some(body) if Some(body.len()) == wanted => Ok((lengths, body.to_vec())),
        _ => Err(refuse(BadImages::Length)),
    }
}

fn of_folder(folder: &Path) -> Result<Images, BenchError> {
    let (mut labels, mut columns, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for [images, of_images] in FILES {
        let path = folder.join(images);
        let (lengths, pixels) = idx(&path)?;
        let (_, own) = idx(&folder.join(of_images))?;
        let width: usize = lengths.iter().skip(1).product();
        if lengths.first() != Some(&own.len()) || width == 0 {
            return Err(BenchError::Images(path, BadImages::Labels));
        }
        columns.resize(width, Vec::new());
        for image in pixels.chunks_exact(width) {
            for (column, pixel) in columns.iter_mut().zip(image) {
                column.push(f64::from(*pixel) / BRIGHTEST);
            }
        }
        counts.push(own.len());
        labels.extend(own.iter().map(|label| f64::from(*label)));
    }
    Ok(Images {
        table: tabulated(labels, columns)?,
        learnt: counts[0],
        source: format!("{} images of {}", counts[0], folder.display()),
    })
}

fn tabulated(labels: Vec<f64>, columns: Vec<Vec<f64>>) -> Result<Table, BenchError> {
    let pixels = columns.into_iter().enumerate();
    let pixels = pixels.map(|(j, values)| (format!("p{j}"), Values::Numbers(values)));
    let labels = labels.into_iter().map(|label| Some(label.to_string()));
    let labels = (LABEL.to_owned(), Values::Texts(labels.collect()));
    Ok(Table::from_columns(
        "images",
        std::iter::once(labels).chain(pixels).collect(),
    )?)
}

fn of_table(path: &Path) -> Result<Images, BenchError> {
    let refuse = |why| BenchError::Images(path.to_owned(), why);
    let read = load(path, &ImportOptions::default(), &Control::default())?.table;
    let names: Vec<String> = read.names().map(str::to_owned).collect();
    let outcome = match names.iter().find(|name| *name == LABEL) {
        Some(name) => name.clone(),
        None => (names.first().cloned()).ok_or_else(|| refuse(BadImages::NoColumns))?,
    };
    let numbers = |name: &String| -> Result<Vec<f64>, BenchError> {
        let column = read.position(name).and_then(|at| read.numbers(at));
        let text = || refuse(BadImages::Text(name.clone()));
        column.map(<[f64]>::to_vec).ok_or_else(text)
    };
    let labels = numbers(&outcome)?;
    let inputs = names.iter().filter(|name| **name != outcome);
    let mut columns = inputs.map(numbers).collect::<Result<Vec<_>, _>>()?;
    let largest = columns
        .iter()
        .flatten()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    if largest > 1.0 {
        columns
            .iter_mut()
            .flatten()
            .for_each(|value| *value /= largest);
    }
    let rows = labels.len();
    Ok(Images {
        learnt: rows - (PREDICTED * rows as f64) as usize,
        table: tabulated(labels, columns)?,
        source: format!(
            "{rows} images of {}, of which the last sixth is predicted",
            path.display()
        ),
    })
}

/// Drawn images: each label has three shapes of a few round spots, and an image is one of them, moved by a pixel or not, with noise.
fn drawn(shape: Shape) -> Result<Images, BenchError> {
    const STYLES: usize = 3;
    let mut rng = stream(0, 0, Purpose::Data);
    let shapes: Vec<Vec<[f64; 2]>> = (0..shape.labels * STYLES)
        .map(|_| spots(shape.side, &mut rng))
        .collect();
    let rows = shape.rows.iter().sum();
    let mut columns = vec![Vec::with_capacity(rows); shape.side * shape.side];
    let mut labels = Vec::with_capacity(rows);
    for _ in 0..rows {
        let label = rng.random_range(0..shape.labels);
        let style = label * STYLES + rng.random_range(0..STYLES);
        let moved = [(); 2].map(|()| f64::from(rng.random_range(0..=1)));
        for (at, column) in columns.iter_mut().enumerate() {
            column.push(brightness(&shapes[style], moved, at, shape.side, &mut rng));
        }
        labels.push(label as f64);
    }
    Ok(Images {
        table: tabulated(labels, columns)?,
        learnt: shape.rows[0],
        source: format!(
            "{} images of {} × {} pixels with {} labels, drawn for this experiment in place of the 55,000 of 28 × 28 pixels with 10 labels",
            shape.rows[0], shape.side, shape.side, shape.labels
        ),
    })
}

/// Places of the spots of a shape.
fn spots(side: usize, rng: &mut ChainRng) -> Vec<[f64; 2]> {
    const SPOTS: usize = 3;
    // Moved by a pixel they are still inside.
    let inside = 0.0..side as f64 - 2.0;
    (0..SPOTS)
        .map(|_| [(); 2].map(|()| rng.random_range(inside.clone())))
        .collect()
}

/// The brightness of pixel `at`.
fn brightness(
    spots: &[[f64; 2]],
    moved: [f64; 2],
    at: usize,
    side: usize,
    rng: &mut ChainRng,
) -> f64 {
    /// Standard deviation of the noise of a pixel.
    const NOISE: f64 = 0.2;
    let place = [at / side, at % side].map(|k| k as f64);
    let light: f64 = (spots.iter())
        .map(|spot| {
            let squares = (0..2).map(|k| (spot[k] + moved[k] - place[k]).powi(2));
            (-squares.sum::<f64>()).exp()
        })
        .sum();
    let noise: f64 = StandardNormal.sample(rng);
    (light + NOISE * noise).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a file in the format.
    fn file(lengths: &[u32], numbers: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, lengths.len() as u8];
        lengths
            .iter()
            .for_each(|len| bytes.extend(len.to_be_bytes()));
        bytes.extend(numbers);
        bytes
    }

    #[test]
    fn files_of_bytes_are_read_and_others_refused_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: Vec<u8>| {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        };
        let read = || Images::of(Some(&folder.path().to_path_buf()), SHAPE);
        const SHAPE: Shape = Shape {
            rows: [2, 1],
            side: 3,
            labels: 2,
        };
        let told = read().err().unwrap().to_string();
        assert!(
            told.contains("train-images-idx3-ubyte") && told.contains("unpacked"),
            "{told}"
        );
        write(FILES[0][0], file(&[2, 1, 3], &[0, 51, 255, 102, 0, 0]));
        write(FILES[0][1], file(&[2], &[7, 3]));
        write(FILES[1][0], file(&[1, 1, 3], &[255, 0, 51]));
        write(FILES[1][1], file(&[1], &[3]));
        let images = read().unwrap();
        assert_eq!((images.learnt, images.table.num_rows()), (2, 3));
        let at = images.table.position("p1").unwrap();
        assert_eq!(images.table.numbers(at).unwrap(), [0.2, 0.0, 0.0]);
        write(FILES[1][1], file(&[2], &[3]));
        let told = read().err().unwrap().to_string();
        assert!(told.contains("shorter or longer"), "{told}");
        write(FILES[1][1], b"label".to_vec());
        let told = read().err().unwrap().to_string();
        assert!(told.contains("format idx"), "{told}");
    }

    #[test]
    fn tables_have_their_labels_first_and_brightnesses_up_to_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("images.csv");
        let rows: String = (0..12)
            .map(|i| format!("{},{},{}\n", i % 3, i, 2 * i))
            .collect();
        std::fs::write(&path, format!("digit,a,b\n{rows}")).unwrap();
        let images = Images::of(
            Some(&path),
            Shape {
                rows: [1, 1],
                side: 3,
                labels: 2,
            },
        )
        .unwrap();
        assert_eq!((images.learnt, images.table.num_rows()), (10, 12));
    }
}
