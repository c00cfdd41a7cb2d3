//! Sections of a recipe as plain structs: [`section!`](crate::section!) declares each [`Entry`] once, and from that come the member,
//! its form in files, its default, its line in lists and documents, and the check of its range.

use super::{Setting, SettingError, Settings, Value};

/// One entry of a recipe, for lists and help.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Section and name, as `--set` takes them; `NAME` stands for a column, class or parameter.
    pub key: &'static str,
    /// The name within the section.
    pub name: &'static str,
    /// What the entry sets.
    pub about: &'static str,
    /// Values, in words.
    pub takes: String,
    /// Default, in words.
    pub default: String,
    /// A value that the entry takes.
    pub example: &'static str,
}

/// A section, as [`section!`](crate::section!) makes them.
pub trait Section {
    /// Entries, as lists have them.
    fn entries() -> Vec<Entry> {
        Vec::new()
    }

    /// Refuses the first number out of its range.
    fn check_numbers(&self) -> Result<(), SettingError> {
        Ok(())
    }
}

/// Settings of a template, sampler or optimiser within a section, whose owner lists and checks them.
impl Section for Settings {}

/// Declares a section and what its keys begin with. Each line is an entry: what it sets, its name and type, what it takes (words, or
/// a range that is checked), words for a default that the value does not say, and an example. `name: T = value` is written unless a `serde` attribute says otherwise,
/// `name?: T` only where it is not the default of its type, `name.NAME` is a table by names, and `name: ..T` is a section itself.
/// Entries that few write are `listed last`.
///
/// ```
/// use ergodic_base::settings::{Numbers, Section as _};
///
/// ergodic_base::section! {
///     /// The section `[walk]`.
///     pub struct Walk in "walk." {
///         /// Steps of the walk
///         pub steps: u64 = 100, in Numbers::From(1), such as "20";
///         /// Who walks
///         pub who?: Option<String>, takes "a name", default "nobody", such as "Ada";
///     }
/// }
///
/// let keys = Walk::entries().into_iter().map(|it| [it.key, it.about, &it.takes, &it.default].join(" | "));
/// let list = ["walk.steps | Steps of the walk | whole number from 1 | 100", "walk.who | Who walks | a name | nobody"];
/// assert!(keys.eq(list));
/// let refused = Walk { steps: 0, ..Walk::default() }.check_numbers().unwrap_err();
/// assert_eq!(refused.to_string(), "Setting `walk.steps` takes at least 1, not `0`");
/// ```
#[macro_export]
macro_rules! section {
    (@default $words:literal $($value:expr)?) => { $words };
    (@default $value:expr) => { $value };
    (@default) => { "none" };
    (
        $(#[$meta:meta])*
        pub struct $section:ident in $path:literal {$(
            $(#[doc = $about:literal])+ $(#[serde($($serde:tt)*)])?
            pub $member:ident $(.$names:ident)? $(?: $open:ty)? $(: ..$part:ty)? $(: $type:ty = $value:expr)?
            $(, in $range:expr)? $(, takes $takes:literal)? $(, default $words:literal)? $(, such as $example:expr)? $(, listed $last:ident)?;
        )*}
    ) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        $(#[$meta])*
        pub struct $section {$(
            $(#[doc = $about])+ $(#[serde($($serde)*)])?
            $(#[serde(default, skip_serializing_if = "ergodic_base::settings::is_default")] pub $member: $open,)?
            $(pub $member: $part,)?
            $(pub $member: $type,)?
        )*}

        impl Default for $section {
            fn default() -> Self {
                Self {$(
                    $($member: <$open>::default(),)?
                    $($member: <$part>::default(),)?
                    $($member: $value,)?
                )*}
            }
        }

        impl $crate::settings::Section for $section {
            fn entries() -> Vec<$crate::settings::Entry> {
                let (mut entries, mut last) = (Vec::new(), Vec::new());
                $(
                    let list = if stringify!($($last)?).is_empty() { &mut entries } else { &mut last };
                    list.extend([$($example)?].map(|example| $crate::settings::Entry {
                        key: concat!($path, stringify!($member) $(, ".", stringify!($names))?),
                        name: stringify!($member),
                        about: concat!($($about),+).trim_start(),
                        takes: String::new() $(+ $takes)? $(+ &$range.words()[0])?,
                        default: $crate::section!(@default $($words)? $($value)?).to_string(),
                        example,
                    }));
                    $(list.extend(<$part as $crate::settings::Section>::entries());)?
                )*
                entries.append(&mut last);
                entries
            }

            fn check_numbers(&self) -> Result<(), $crate::settings::SettingError> {
                $(
                    $($range.check(concat!($path, stringify!($member)), &self.$member)?;)?
                    $(<$part as $crate::settings::Section>::check_numbers(&self.$member)?;)?
                )*
                Ok(())
            }
        }
    };
}

/// Numbers that an entry takes.
#[derive(Clone, Copy, Debug)]
pub enum Numbers {
    /// Whole numbers from the first.
    From(i64),
    /// Whole numbers from the first to the second.
    FromTo(i64, i64),
    /// Finite numbers above the first.
    Above(f64),
    /// Numbers above the first, at most the second.
    AboveTo(f64, f64),
}

impl Numbers {
    /// In lists, and in refusals.
    #[doc(hidden)]
    pub fn words(&self) -> [String; 2] {
        let whole = |least: i64| format!("whole number from {least}");
        let above = |least: f64| format!("a number above {least}");
        match *self {
            Self::From(least) => [whole(least), format!("at least {least}")],
            // All that a file can hold.
            Self::FromTo(least, most @ i64::MAX) => [whole(least), format!("{least} to {most}")],
            Self::FromTo(least, most) => {
                ["whole number from ", ""].map(|it| format!("{it}{least} to {most}"))
            }
            Self::Above(least) => [above(least), above(least)],
            Self::AboveTo(least, most) => {
                [above(least), format!("{}, at most {most}", above(least))]
            }
        }
    }

    /// Refuses a value of the entry `key` that is none of the numbers; an entry may be left open.
    #[doc(hidden)]
    pub fn check(&self, key: &str, value: &impl Setting) -> Result<(), SettingError> {
        let value = value.to_value();
        let fits = match (*self, &value) {
            (Self::From(least), Value::Int(v)) => *v >= least,
            (Self::FromTo(least, most), Value::Int(v)) => (least..=most).contains(v),
            (Self::Above(least), Value::Real(v)) => *v > least && v.is_finite(),
            (Self::AboveTo(least, most), Value::Real(v)) => *v > least && *v <= most,
            // Without an upper limit larger ones than files hold are among them.
            (Self::From(_), Value::Text(_)) => true,
            (_, other) => *other == Value::from("auto"),
        };
        if fits {
            return Ok(());
        }
        let ([_, takes], key, value) = (self.words(), key.to_owned(), value.to_string());
        Err(SettingError::Value { key, takes, value })
    }
}

/// Whether a file leaves `value` out.
#[doc(hidden)]
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
