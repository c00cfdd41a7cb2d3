//! One effect of every group, sorted.

use super::intervals::{ROW, interval, notes};
use super::{FigureEntry, Takes, Trouble, in_rows};
use crate::Chains;
use crate::figure::{Figure, Interval, Intervals};
use ergodic_base::{Class, ParamId, group_term};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "groups",
    title: "Groups",
    about: "One effect of every group with 50 % and 90 % intervals, sorted: those of the grouping and the term of the parameter named, such \
            as sd[school,Intercept], or the first ones",
    takes: Takes::of(0, 1, 0),
    make,
    ..FigureEntry::ORDINARY
};

/// Groups drawn, at most: of more, those at both ends.
const MOST: usize = 80;

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let names = chains.names();
    let selected = parameters.first().map(|&parameter| &names[parameter]);
    let (factor, term) = group_term(names, selected).ok_or(Trouble::Nothing(
        "this model has no effects that vary by group",
    ))?;
    let mut rows: Vec<Interval> = Vec::new();
    for (parameter, name) in names.iter().enumerate() {
        let effect = name.group_effect();
        if let Some(effect) = effect.filter(|it| (it.factor, it.term) == (factor, term)) {
            rows.push(interval(chains, parameter, effect.level.to_owned())?);
        }
    }
    rows.sort_by(|a, b| b.centre.total_cmp(&a.centre));
    let left_out = rows.len().saturating_sub(MOST);
    if left_out > 0 {
        rows.drain(MOST / 2..MOST / 2 + left_out);
    }
    let title = match factor {
        "" => format!("Medians and intervals of `{term}` by group"),
        factor => format!("Medians and intervals of `{term}` by `{factor}`"),
    };
    let mut figure = Figure::new(ENTRY.id, title);
    figure.panel_height = ROW * rows.len() as f64 + 4.0;
    let labels = rows.iter().map(|row| row.name.clone()).collect();
    // Effects of mixed models are deviations, others lie about their mean.
    let mean = ParamId::of(Class::Mean, [term]);
    let middle = match names.iter().position(|name| *name == mean) {
        Some(parameter) => interval(chains, parameter, String::new())?.centre,
        None => 0.0,
    };
    let centre = "median";
    let groups = ("groups", Intervals { rows, centre });
    let panel = in_rows("", labels, ("all groups", middle), groups);
    figure.panels.push(Some(panel));
    figure.notes.extend(notes(chains));
    figure.note("The dashed line is the average group");
    if left_out > 0 {
        figure.note(format!(
            "Of {} groups the {MOST} with the largest and the smallest medians are drawn",
            MOST + left_out
        ));
    }
    Ok(figure)
}
