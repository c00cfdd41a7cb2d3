//! Settings as plain structs: [`settings!`](crate::settings!) declares each one once, and from that come the typed value, the
//! [`Field`] that forms and documents show, the check of what a user wrote, and the value in force for the recipe.
//! [`choice!`](crate::choice!) declares the words of a setting as an enum.

use super::{Default, Field, Kind, SettingError, Settings, Value};

/// What the value of one setting is stored as. A setting that may be left to its owner ("auto") is an [`Option`]; so is one
/// whose default depends on whether a user gave it.
pub trait Setting: Sized {
    /// The kind of field that holds such values; bounds and words do not matter.
    const KIND: Kind;
    /// Whether the setting may be left to the owner.
    const AUTO: bool = false;
    /// What people say instead of words, where these are codes.
    const SAID: &'static [(&'static str, &'static str)] = &[];
    /// From a value that the field accepts.
    fn from_value(value: &Value) -> Option<Self>;
    /// As written in a recipe.
    fn to_value(&self) -> Value;
}

/// A struct of settings made by [`settings!`](crate::settings!).
pub trait Declared: Sized {
    /// Settings in the order of forms.
    const FIELDS: &'static [Field];

    /// What a user gave, with defaults for the rest.
    ///
    /// # Errors
    /// A value that its field does not take. Unknown keys are what [`Settings::check`] is for.
    fn read(settings: &Settings) -> Result<Self, SettingError>;

    /// Appends key and value of every setting; "auto" stands for what its owner has not settled.
    fn write(&self, values: &mut Vec<(&'static str, Value)>);
}

/// Declares a struct of settings. Each line is a member, its type, and the [`Field`] that describes it, whose key is the name
/// of the member; a line without a field includes all settings of another such struct, which may be a parameter of this one.
///
/// ```
/// use ergodic_base::settings::{Declared as _, Field, Settings};
///
/// ergodic_base::choice! {
///     /// Form of a proposal.
///     pub enum Proposal {
///         /// A normal distribution.
///         Normal = "normal",
///         /// A t distribution.
///         HeavyTailed = "heavy-tailed",
///     }
/// }
///
/// ergodic_base::settings! {
///     /// Settings of a random walk.
///     pub struct WalkSettings {
///         length: Option<f64> = Field::real("Length of a step", 1e-6, 1e6, None)
///             .help("Standard deviation of a proposal in every coordinate")
///             .why("adapted in warm-up");
///         proposal: Proposal = Proposal::field("Proposal", Some(Proposal::Normal))
///             .help("normal: light tails; heavy-tailed: now and then a long jump")
///             .why("the cheapest where tails are light");
///     }
/// }
///
/// let mut given = Settings::default();
/// given.set("proposal", "heavy-tailed".into());
/// let mut walk = WalkSettings::read(&given)?;
/// assert_eq!((walk.length, walk.proposal), (None, Proposal::HeavyTailed));
/// walk.length = Some(0.5);
/// let mut values = Vec::new();
/// walk.write(&mut values);
/// assert_eq!(values, [("length", 0.5.into()), ("proposal", "heavy-tailed".into())]);
///
/// given.set("proposal", "wild".into());
/// let refused = WalkSettings::read(&given).unwrap_err();
/// assert_eq!(refused.to_string(), "Setting `proposal` takes one of normal, heavy-tailed, not `wild`");
/// # Ok::<(), ergodic_base::settings::SettingError>(())
/// ```
#[macro_export]
macro_rules! settings {
    (@fields $member:ident $type:ty) => { <$type as $crate::settings::Declared>::FIELDS };
    (@fields $member:ident $type:ty = $field:expr) => { &[$crate::settings!(@field $member $type = $field)] };
    (@field $member:ident $type:ty = $field:expr) => {
        $crate::settings::declare::<$type>(stringify!($member), $field)
    };
    (@read $from:ident $member:ident $type:ty) => { <$type as $crate::settings::Declared>::read($from) };
    (@read $from:ident $member:ident $type:ty = $field:expr) => {
        const { $crate::settings!(@field $member $type = $field) }.read::<$type>($from)
    };
    (@write $values:ident $self:ident $member:ident $type:ty) => {
        $crate::settings::Declared::write(&$self.$member, $values)
    };
    (@write $values:ident $self:ident $member:ident $type:ty = $field:expr) => {
        $values.push((stringify!($member), $crate::settings::Setting::to_value(&$self.$member)))
    };
    (
        $(#[$about:meta])*
        $visible:vis struct $name:ident $(<$($group:ident),+>)? { $($shown:vis $member:ident: $type:ty $(= $field:expr)?;)* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        $visible struct $name $(<$($group),+>)? {
            $(#[doc = concat!("The setting `", stringify!($member), "`, or those of a group of settings.")] $shown $member: $type,)*
        }

        impl $(<$($group: $crate::settings::Declared),+>)? $crate::settings::Declared for $name $(<$($group),+>)? {
            const FIELDS: &'static [$crate::settings::Field] =
                $crate::settings::Joined::new(&[$($crate::settings!(@fields $member $type $(= $field)?)),*]).fields();

            fn read(settings: &$crate::settings::Settings) -> Result<Self, $crate::settings::SettingError> {
                Ok(Self { $($member: $crate::settings!(@read settings $member $type $(= $field)?)?,)* })
            }

            fn write(&self, values: &mut Vec<(&'static str, $crate::settings::Value)>) {
                $($crate::settings!(@write values self $member $type $(= $field)?);)*
            }
        }
    };
}

/// Declares an enum whose variants are the words of a setting, each with `=> "what people say"` if it is a code; see
/// [`settings!`](crate::settings!) for an example.
#[macro_export]
macro_rules! choice {
    (
        $(#[$about:meta])*
        $visible:vis enum $name:ident { $($(#[$note:meta])* $variant:ident = $word:expr $(=> $said:expr)?),+ $(,)? }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $name { $($(#[$note])* $variant,)+ }

        impl $name {
            /// Words of all variants, in their order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word of the setting.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// A setting with these words; without a default its owner chooses.
            pub const fn field(label: &'static str, default: Option<Self>) -> $crate::settings::Field {
                let default = match default {
                    Some(default) => Some(default.word()),
                    None => None,
                };
                $crate::settings::Field::choice(label, Self::WORDS, default)
            }

            /// The variant of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                [$(Self::$variant),+].into_iter().find(|it| it.word() == word)
            }
        }

        impl $crate::settings::Setting for $name {
            const KIND: $crate::settings::Kind = $crate::settings::Kind::Choice(Self::WORDS);
            const SAID: &'static [(&'static str, &'static str)] = &[$($(($word, $said),)?)+];

            fn from_value(value: &$crate::settings::Value) -> Option<Self> {
                match value {
                    $crate::settings::Value::Text(word) => Self::from_word(word),
                    _ => None,
                }
            }

            fn to_value(&self) -> $crate::settings::Value {
                self.word().into()
            }
        }
    };
}

/// `field` as the one with key `key` of a struct whose member is a `T`; refuses to compile where they do not go together.
#[doc(hidden)]
pub const fn declare<T: Setting>(key: &'static str, field: Field) -> Field {
    assert!(
        field.default.is_some() || T::AUTO,
        "a setting without a default is an Option"
    );
    assert!(
        matches!(
            (T::KIND, field.kind),
            (Kind::Int { .. }, Kind::Int { .. })
                | (Kind::Real { .. }, Kind::Real { .. })
                | (Kind::Rows, Kind::Rows)
                | (Kind::Choice(_), Kind::Choice(_))
                | (Kind::Text { .. }, Kind::Text { .. })
                | (Kind::Bool, Kind::Bool)
        ),
        "the type of a setting and the kind of its field differ"
    );
    Field {
        key,
        said: T::SAID,
        ..field
    }
}

/// Most settings of one owner.
const MOST: usize = 24;

/// Fields of several groups in one list.
#[doc(hidden)]
#[derive(Debug)]
pub struct Joined([Field; MOST], usize);

impl Joined {
    /// All fields of `groups`.
    pub const fn new(groups: &[&[Field]]) -> Self {
        let mut all = Self([Field::new("", Kind::Bool, None); MOST], 0);
        let mut group = 0;
        while group < groups.len() {
            let mut k = 0;
            while k < groups[group].len() {
                all.0[all.1] = groups[group][k];
                all.1 += 1;
                k += 1;
            }
            group += 1;
        }
        all
    }

    /// The fields.
    pub const fn fields(&self) -> &[Field] {
        self.0.split_at(self.1).0
    }
}

impl Field {
    const fn new(label: &'static str, kind: Kind, default: Option<Default>) -> Self {
        Self {
            key: "",
            label,
            help: "",
            kind,
            default,
            why: "",
            when: None,
            said: &[],
        }
    }

    /// A whole number from `min` to `max`; without a default its owner chooses.
    pub const fn int(label: &'static str, min: i64, max: i64, default: Option<i64>) -> Self {
        let default = match default {
            Some(value) => Some(Default::Int(value)),
            None => None,
        };
        Self::new(label, Kind::Int { min, max }, default)
    }

    /// A number from `min` to `max`; without a default its owner chooses.
    pub const fn real(label: &'static str, min: f64, max: f64, default: Option<f64>) -> Self {
        let default = match default {
            Some(value) => Some(Default::Real(value)),
            None => None,
        };
        Self::new(label, Kind::Real { min, max }, default)
    }

    /// A whole number of rows, or below 1 a share of all rows; its owner chooses the default.
    pub const fn rows(label: &'static str) -> Self {
        Self::new(label, Kind::Rows, None)
    }

    /// Yes or no.
    pub const fn bool(label: &'static str, default: bool) -> Self {
        Self::new(label, Kind::Bool, Some(Default::Bool(default)))
    }

    /// One of `words`; without a default its owner chooses.
    pub const fn choice(
        label: &'static str,
        words: &'static [&'static str],
        default: Option<&'static str>,
    ) -> Self {
        let default = match default {
            Some(word) => Some(Default::Text(word)),
            None => None,
        };
        Self::new(label, Kind::Choice(words), default)
    }

    /// One of `words`, or a text in a notation such as `example`, which the owner reads; words and notation in one default.
    pub const fn text(
        label: &'static str,
        words: &'static [&'static str],
        example: &'static str,
        default: &'static str,
    ) -> Self {
        Self::new(
            label,
            Kind::Text { words, example },
            Some(Default::Text(default)),
        )
    }

    /// The field with `help`: what the setting does, its unit, its symbol in the source.
    #[must_use]
    pub const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// The field with the reason `why` for its default.
    #[must_use]
    pub const fn why(self, why: &'static str) -> Self {
        Self { why, ..self }
    }

    /// The field of a setting that means something only where another one of the same owner has one of `words`.
    #[must_use]
    pub const fn when(self, key: &'static str, words: &'static [&'static str]) -> Self {
        Self {
            when: Some((key, words)),
            ..self
        }
    }

    /// Reads what `settings` have for the field, or its default.
    ///
    /// # Errors
    /// A value that the field does not take.
    pub fn read<T: Setting>(&self, settings: &Settings) -> Result<T, SettingError> {
        let value = match (settings.get(self.key), self.default) {
            (Some(given), _) => {
                self.accepts(given)?;
                given.clone()
            }
            (None, Some(default)) if !T::AUTO => default.into(),
            (None, _) => AUTO.into(),
        };
        T::from_value(&value).ok_or_else(|| self.refuses(&value))
    }
}

/// The word that leaves a setting to its owner.
const AUTO: &str = "auto";

impl Declared for () {
    const FIELDS: &'static [Field] = &[];

    fn read(_settings: &Settings) -> Result<Self, SettingError> {
        Ok(())
    }

    fn write(&self, _values: &mut Vec<(&'static str, Value)>) {}
}

impl<T: Setting> Setting for Option<T> {
    const KIND: Kind = T::KIND;
    const AUTO: bool = true;
    const SAID: &'static [(&'static str, &'static str)] = T::SAID;

    fn from_value(value: &Value) -> Option<Self> {
        Some(T::from_value(value))
    }

    fn to_value(&self) -> Value {
        self.as_ref().map_or_else(|| AUTO.into(), T::to_value)
    }
}

impl Setting for f64 {
    const KIND: Kind = Kind::Real { min: 0.0, max: 0.0 };

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(v) => Some(*v as Self),
            Value::Real(v) => Some(*v),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        Value::Real(*self)
    }
}

impl Setting for bool {
    const KIND: Kind = Kind::Bool;

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(v) => Some(*v),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Setting for String {
    const KIND: Kind = Kind::Text {
        words: &[],
        example: "",
    };

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(v) => Some(v.clone()),
            Value::Int(v) => Some(v.to_string()),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        Value::Text(self.clone())
    }
}

macro_rules! whole_numbers {
    ($($type:ty),+) => {$(
        impl Setting for $type {
            const KIND: Kind = Kind::Int { min: 0, max: 0 };

            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Int(v) => Self::try_from(*v).ok(),
                    Value::Real(v) if v.fract() == 0.0 => Self::try_from(*v as i64).ok(),
                    _ => None,
                }
            }

            fn to_value(&self) -> Value {
                // Larger ones than files hold are refused as they are.
                i64::try_from(*self).map_or_else(|_too_large| Value::Text(self.to_string()), Value::Int)
            }
        }
    )+};
}

whole_numbers!(u64, usize);
