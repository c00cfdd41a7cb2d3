//! What was renamed, converted or treated as missing while a file was read.

use ergodic_base::numerals::plural;

ergodic_base::remarks! {
    /// One thing that a user may want to know, or to have otherwise.
    pub enum Remark {
        /// The file is not UTF-8.
        Encoding {
            /// Name of the file.
            file: String,
            /// First line that is not.
            line: u64,
            /// The byte that is not.
            byte: u8,
        }
        Watch "encoding" (
            "{file} is not UTF-8 ({}), so it was read as windows-1252 (Latin-1)", bad_byte(*line, *byte)
        ) advice ("Look at letters with accents, and choose another encoding if they are wrong");

        /// Numbers with a comma that may separate thousands.
        DecimalComma {
            /// One such number.
            example: String,
        }
        Watch "ambiguous-decimal" (
            "Numbers such as `{example}` were read with a decimal comma, but the comma may separate thousands"
        )
        advice (
            "If it does, set the decimal mark to a point; such columns are then text until the commas are removed"
        );

        /// No header line.
        NoHeader {
            /// Name of the file.
            file: String,
            /// How that was seen.
            reason: String,
            /// Columns, which got numbers.
            columns: usize,
        }
        Info "no-header" (
            "{file} has no header line ({reason}), so its columns are called `column_1` to `column_{columns}`"
        );

        /// A column without a name in the header.
        EmptyName {
            /// Which column, from 1.
            position: usize,
            /// Name of the column in the table.
            column: String,
        }
        Watch "empty-name" ("Column {position} has no name in the header and is called `{column}`") about (column);

        /// A column with the name of another.
        DuplicateName {
            /// Which column, from 1.
            position: usize,
            /// Name of the column in the header.
            name: String,
            /// Name of the column in the table.
            column: String,
        }
        Watch "duplicate-name" (
            "The name `{name}` occurs more than once in the header, so column {position} is called `{column}`, and `{name}` is the first"
        ) about (name);

        /// Lines whose surplus was joined into the last column.
        Joined {
            /// How many.
            lines: usize,
            /// The first.
            line: u64,
        }
        Watch "ragged-lines" (
            "In {} with more values than the header the surplus was joined into the last column; the first is line {line}",
            plural(*lines, "line")
        );

        /// Lines that were left out for having another number of values than the header.
        Skipped {
            /// How many.
            lines: usize,
            /// The first.
            line: u64,
        }
        Watch "ragged-lines" (
            "{} left out for having another number of values than the header; the first is line {line}",
            counted(*lines, "line was", "lines were")
        );

        /// Blanks around texts.
        Blanks {
            /// Column of the texts.
            column: String,
            /// How many texts.
            values: usize,
        }
        Info "blanks" ("Blanks around {values} values of `{column}` were left out of their levels");

        /// A text that is kept as a value and may mean that there is none.
        MaybeMissing {
            /// Column of the text.
            column: String,
            /// The text.
            code: String,
            /// How often it occurs.
            count: usize,
            /// Line where it occurs first.
            line: u64,
        }
        Watch "possible-missing" (
            "`{code}` occurs {count} times in the text column `{column}` (first in line {line}) and is kept as a value"
        ) about (column)
        advice ("Add `{code}` to the missing-value codes if it means that there is no value");

        /// A column that cannot be held.
        Unsupported {
            /// The column.
            column: String,
            /// What the column holds.
            holds: &'static str,
        }
        Watch "unsupported-type" (
            "Column `{column}` holds {holds}, which a table cannot hold, so it was set aside"
        ) about (column);

        /// A column without values.
        NoValues {
            /// The column.
            column: String,
        }
        Watch "no-values" ("Column `{column}` has no values") about (column) advice ("Leave it out");

        /// A column kept as text although most of its values are numbers.
        NearlyNumeric {
            /// The column.
            column: String,
            /// Values that are not numbers.
            texts: usize,
            /// All values.
            values: usize,
            /// The first that is not a number.
            example: String,
            /// Line of that value.
            line: u64,
            /// What would make them numbers.
            advice: &'static str,
        }
        Watch "not-numeric" (
            "{texts} of {values} values of `{column}` {} (first `{example}` in line {line}), so the column is kept as text",
            if *texts == 1 { "is not a number" } else { "are not numbers" }
        ) about (column)
        advice ("{advice}");

        /// A column kept as text because of leading zeros.
        LeadingZeros {
            /// The column.
            column: String,
            /// Values that have them.
            count: usize,
            /// The first line.
            line: u64,
        }
        Watch "leading-zeros" (
            "{} in `{column}` written with a leading 0 like an identifier (first in line {line}), so the column is kept as text",
            counted(*count, "value is", "values are")
        ) about (column)
        advice ("Set the type of the column to number if they are quantities");

        /// A column kept as text because its whole numbers would lose digits.
        LargeIntegers {
            /// The column.
            column: String,
            /// How many would.
            count: usize,
            /// The first line.
            line: u64,
        }
        Watch "large-integers" (
            "{} in `{column}` would lose digits beyond 9007199254740992 (first in line {line}), so the column is kept as text",
            plural(*count, "whole number")
        ) about (column)
        advice ("Set the type of the column to number to round them");

        /// Whole numbers in a column of a typed file that would lose digits.
        TypedLargeIntegers {
            /// The column.
            column: String,
        }
        Watch "large-integers" (
            "Column `{column}` has whole numbers beyond 9007199254740992 that would lose digits, so it is kept as text"
        ) about (column);

        /// Whole numbers that have lost digits.
        Rounded {
            /// Column of the numbers.
            column: String,
            /// How many.
            count: usize,
        }
        Watch "large-integers" (
            "In `{column}` {} rounded, being beyond 9007199254740992",
            counted(*count, "whole number was", "whole numbers were")
        ) about (column)
        advice ("Give the column the type category to keep them");

        /// Infinite values, treated as missing.
        Infinite {
            /// Column of the values.
            column: String,
            /// How many.
            count: usize,
            /// The first line.
            line: u64,
        }
        Watch "infinite" (
            "In `{column}` {} infinite (first in line {line}) and treated as missing", counted(*count, "value is", "values are")
        ) about (column)
        advice ("Correct the file, or give the column the type category");

        /// Values too large for a number, treated as missing.
        Overflow {
            /// Column of the values.
            column: String,
            /// How many.
            count: usize,
            /// The first line.
            line: u64,
        }
        Watch "overflow" (
            "In `{column}` {} too large for a number (first in line {line}) and treated as missing", counted(*count, "value is", "values are")
        ) about (column)
        advice ("Correct the file, or give the column the type category");

        /// Values that are not numbers, treated as missing in a column that was to hold numbers.
        Texts {
            /// Column of the values.
            column: String,
            /// How many.
            count: usize,
            /// The first line.
            line: u64,
        }
        Watch "not-numeric" (
            "In `{column}` {} not a number (first in line {line}) and treated as missing", counted(*count, "value is", "values are")
        ) about (column)
        advice ("Correct the file, or give the column the type category");

        /// Infinite values in a column of a typed file, treated as missing.
        TypedInfinite {
            /// Column of the values.
            column: String,
            /// How many.
            count: usize,
        }
        Watch "infinite" ("In `{column}` {} infinite and treated as missing", counted(*count, "value is", "values are"))
        about (column);

        /// NaN in a column of a typed file, treated as missing.
        TypedNan {
            /// Column of the values.
            column: String,
            /// How many.
            count: usize,
        }
        Watch "nan" ("In `{column}` {} NaN and treated as missing", counted(*count, "value is", "values are")) about (column);
    }
}

/// "1 value is" or "3 values are".
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Where a file is not in the encoding that it was read in.
pub(crate) fn bad_byte(line: u64, byte: u8) -> String {
    format!("line {line} has the byte 0x{byte:02X}")
}
