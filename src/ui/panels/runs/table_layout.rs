//! How wide the columns of the summary are: which share the room there is, and which stay in sight where it is not enough.

/// Most that an interval grows by, and any other column: wider ones would tear rows apart.
const INTERVAL_EXTRA: f32 = 120.0;
const COLUMN_EXTRA: f32 = 36.0;
/// Least width of the columns that are scrolled beside those that stay.
pub const SCROLLED: f32 = 92.0;

/// Widths of a table of names and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Widths {
    /// Of the names.
    pub name: f32,
    /// Of each column.
    pub columns: Vec<f32>,
    /// Whether the columns do not all fit: those that stay and those that are scrolled are then two tables.
    pub is_split: bool,
}

/// What columns ask for.
pub struct Wish {
    /// Least width.
    pub least: f32,
    /// Whether the column is a picture of intervals, which gains most from room.
    pub is_interval: bool,
    /// Whether the column stays in sight when others are scrolled.
    pub stays: bool,
}

/// Widths of columns and of names, which want `names` points and take at least `names_least`, in `room` points.
pub fn widths(wishes: &[Wish], names: f32, names_least: f32, room: f32) -> Widths {
    let least: f32 = wishes.iter().map(|wish| wish.least).sum();
    let mut columns: Vec<f32> = wishes.iter().map(|wish| wish.least).collect();
    let rest = room - least;
    if rest < names_least {
        let stay: f32 = wishes.iter().filter(|w| w.stays).map(|w| w.least).sum();
        let name = (room - stay - SCROLLED).min(names).max(names_least);
        return Widths {
            name,
            columns,
            is_split: true,
        };
    }
    let mut extra = (rest - names).max(0.0);
    let mut name = rest - extra;
    for (width, _) in columns
        .iter_mut()
        .zip(wishes)
        .filter(|(_, w)| w.is_interval)
    {
        let more = (extra / 2.0).min(INTERVAL_EXTRA);
        *width += more;
        extra -= more;
    }
    let others = wishes.iter().filter(|wish| !wish.is_interval).count();
    let more = (extra / (others + 1) as f32).min(COLUMN_EXTRA);
    for (width, _) in columns
        .iter_mut()
        .zip(wishes)
        .filter(|(_, w)| !w.is_interval)
    {
        *width += more;
        extra -= more;
    }
    name += extra;
    Widths {
        name,
        columns,
        is_split: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(least: f32, stays: bool) -> Wish {
        Wish {
            least,
            is_interval: least > 80.0,
            stays,
        }
    }

    #[test]
    fn columns_share_the_room_that_names_leave() {
        let wishes = [wish(64.0, true), wish(84.0, false), wish(52.0, true)];
        let got = widths(&wishes, 120.0, 96.0, 700.0);
        assert!(!got.is_split);
        assert!(got.columns[1] > 180.0 && got.columns[0] > 90.0, "{got:?}");
        let all = got.name + got.columns.iter().sum::<f32>();
        assert!((all - 700.0).abs() < 1e-3 && got.name >= 120.0, "{got:?}");
        // Not more than there is: names give way down to their least width.
        let tight = widths(&wishes, 180.0, 96.0, 300.0);
        assert_eq!((tight.name, tight.is_split), (100.0, false));
        assert_eq!(tight.columns, [64.0, 84.0, 52.0]);
    }

    #[test]
    fn what_does_not_fit_is_scrolled_beside_what_stays() {
        let wishes: Vec<Wish> = (0..8).map(|k| wish(64.0, k == 0 || k == 5)).collect();
        let got = widths(&wishes, 180.0, 96.0, 326.0);
        assert!(got.is_split && got.name == 106.0, "{got:?}");
        assert!(got.name + 128.0 + SCROLLED <= 326.0);
    }
}
