//! Public data sets that the experiments and the papers behind them use: what they are, where they can be had, and how to fit them. The
//! program fetches nothing itself.

/// A public data set.
#[derive(Clone, Copy, Debug)]
pub struct PublicSet {
    /// Name in lists.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What the data set is about, in a few words.
    pub subject: &'static str,
    /// Who uses it here, and what to know of its columns.
    pub about: &'static str,
    /// Rows of the file.
    pub rows: usize,
    /// Columns as the file is read, the outcome among them.
    pub columns: usize,
    /// Page from which it can be had.
    pub address: &'static str,
    /// The file, as it is found there or in what is found there.
    pub file: &'static str,
    /// What fits it, in the folder of the file.
    pub command: &'static str,
}

/// All public data sets, by name.
pub const PUBLIC_SETS: &[PublicSet] = &[
    PublicSet {
        id: "cod-rna",
        title: "Cod RNA",
        subject: "which sequences are non-coding RNA",
        about: "Of `ergodic bench ellipses` (El Hanchi 2018); the outcome is `label`, and cod-rna and cod-rna.r have more rows",
        rows: 271_617,
        columns: 9,
        address: "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html",
        file: "cod-rna.t",
        command: "ergodic fit cod-rna.t --formula 'label ~ .' --set priors.default=papers",
    },
    PublicSet {
        id: "covertype",
        title: "Covertype",
        subject: "where lodgepole pines grow",
        about: "Of `ergodic bench log-loss-six` and `log-loss-sizes` (Baker 2018), which take the same file; the outcome `label` is 2 for \
                lodgepole pines and 1 for other trees",
        rows: 581_012,
        columns: 55,
        address: "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html",
        file: "covtype.libsvm.binary.scale.bz2",
        command: "ergodic fit covtype.libsvm.binary.scale.bz2 --formula 'label ~ .' --set 'priors.b=laplace(0, 1)' --set \
                  model.standardize=false",
    },
    PublicSet {
        id: "higgs",
        title: "HIGGS",
        subject: "which collisions made a Higgs boson",
        about: "Of `ergodic bench subsampling` (Dang et al. 2019); without a header, and the outcome is `column_1`; takes about 3 GB of \
                memory",
        rows: 11_000_000,
        columns: 29,
        address: "https://archive.ics.uci.edu/dataset/280/higgs",
        file: "HIGGS.csv.gz",
        command: "ergodic fit HIGGS.csv.gz --formula 'column_1 ~ .' --sampler hmc-ecs",
    },
    PublicSet {
        id: "mnist",
        title: "MNIST",
        subject: "pictures of written digits",
        about: "Of `ergodic bench neural-net` (Baker 2018), which predicts the last sixth of the rows; the outcome `label` is the digit, \
                and pixels are from 0 to 1",
        rows: 60_000,
        columns: 781,
        address: "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html",
        file: "mnist.scale.bz2",
        command: "ergodic bench neural-net --data mnist.scale.bz2",
    },
    PublicSet {
        id: "movielens-100k",
        title: "MovieLens 100k",
        subject: "ratings of 1,682 films by 943 users",
        about: "Of `ergodic bench factorization` (Baker 2018); without a header: user, film, rating and time are `column_1` to `column_4`",
        rows: 100_000,
        columns: 4,
        address: "https://grouplens.org/datasets/movielens/100k/",
        file: "u.data",
        command: "ergodic fit u.data --template factorization --formula 'column_3 ~ (1 | column_1) + (1 | column_2)' --set \
                  model.factors=20 --sampler sgld --set sampler.step_size=0.005 --set sampler.block_steps=gradient",
    },
    PublicSet {
        id: "run-or-walk",
        title: "Run or Walk",
        subject: "what a wrist does, by its acceleration",
        about: "Of `ergodic bench ellipses` (El Hanchi 2018); the outcome is `activity`, 1 for running",
        rows: 88_588,
        columns: 11,
        address: "https://www.kaggle.com/datasets/vmalyi/run-or-walk",
        file: "dataset.csv",
        command: "ergodic fit dataset.csv --formula 'activity ~ acceleration_x + acceleration_y + acceleration_z + gyro_x + gyro_y + \
                  gyro_z' --set priors.default=papers",
    },
    PublicSet {
        id: "skin-segmentation",
        title: "Skin Segmentation",
        subject: "which pixels are skin, by their colours",
        about: "Of `ergodic bench ellipses` and `hierarchical` (El Hanchi 2018); without a header: blue, green and red are `column_1` to \
                `column_3`, and the outcome `column_4` is 1 for skin",
        rows: 245_057,
        columns: 4,
        address: "https://archive.ics.uci.edu/dataset/229/skin+segmentation",
        file: "Skin_NonSkin.txt",
        command: "ergodic fit Skin_NonSkin.txt --formula 'column_4 ~ .' --set priors.default=papers",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn every_set_has_a_page_a_file_and_a_command_of_that_file() {
        for set in PUBLIC_SETS {
            assert!(set.address.starts_with("https://"), "{}", set.id);
            let named = format!(" {} ", set.file);
            assert!(format!("{} ", set.command).contains(&named), "{}", set.id);
            assert!(set.command.starts_with("ergodic "), "{}", set.id);
            assert!(samples::find(set.id).is_none(), "{}", set.id);
        }
        assert!(PUBLIC_SETS.is_sorted_by_key(|set| set.id));
    }
}
