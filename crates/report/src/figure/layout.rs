//! Where the panels of a figure stand: frames of one size, far enough apart for titles and labels.

use super::axis::AxisKind;
use super::place::Place;
use super::width::{fitted, width};
use super::{Figure, POINTS_PER_MM, Panel};

/// Sizes of text in points: labels and legends, and titles of panels.
pub const SMALL: f64 = 7.5;
pub const TITLE: f64 = 8.5;
/// Room around everything.
pub const EDGE: f64 = 5.0;
/// Length of a tick.
pub const TICK: f64 = 3.0;
/// From the axis to its labels.
pub const LABEL_GAP: f64 = 3.0;
/// Heights of a line of labels, of a title of an axis or of a panel, and of the legend.
const LABELS: f64 = 14.0;
const AXIS_TITLE: f64 = 10.0;
const PANEL_TITLE: f64 = 13.0;
pub const LEGEND_LINE: f64 = 13.0;
/// Below the legend.
const LEGEND_GAP: f64 = 4.0;
/// Between panels.
const GAP: f64 = 9.0;
/// Length of a line in the legend, and its distances to the words and to the next one.
pub const SWATCH: f64 = 18.0;
pub const SWATCH_GAP: f64 = 4.0;
pub const KEY_GAP: f64 = 12.0;
/// Least room left and right of a frame, for half a label.
const LEAST_SIDE: f64 = 12.0;
/// Share of a panel's width that names of rows may take.
const NAMES: f64 = 0.45;

/// A figure laid out.
pub struct Layout {
    /// Width and height of all in points.
    pub size: [f64; 2],
    /// Left end of each key of the legend and the middle of its line.
    pub keys: Vec<[f64; 2]>,
    /// The frame of each panel.
    pub frames: Vec<Option<Place>>,
    /// Most width of names of rows.
    pub name_room: f64,
}

impl Layout {
    /// Lays out a figure.
    pub fn of(figure: &Figure) -> Self {
        let total = figure.width_mm * POINTS_PER_MM;
        let columns = figure.columns.max(1);
        let (keys, legend) = legend(figure, total);
        let cell = (total - 2.0 * EDGE - (columns - 1) as f64 * GAP) / columns as f64;
        let panels = || figure.panels.iter().flatten();
        let name_room = NAMES * cell;
        let left = panels().map(|panel| {
            let labels = panel.y.labels(y_most(figure.panel_height));
            let wide = |(_, text): &(f64, String)| width(&fitted(text, SMALL, name_room), SMALL);
            let widest = labels.iter().map(wide).fold(0.0, f64::max);
            // Hidden axes have no labels to make room for.
            let gap = if labels.is_empty() {
                0.0
            } else {
                TICK + LABEL_GAP
            };
            widest + gap
        });
        let left = left.fold(LEAST_SIDE, f64::max);
        let any = |what: fn(&Panel) -> bool| panels().any(what);
        let room = |has: bool, room: f64| if has { room } else { 0.0 };
        let top = room(any(|panel| !panel.title.is_empty()), PANEL_TITLE)
            + room(any(|panel| !panel.y.title.is_empty()), AXIS_TITLE)
            + 2.0;
        let bottom = room(any(|panel| panel.x.kind != AxisKind::Hidden), LABELS)
            + room(any(|panel| !panel.x.title.is_empty()), AXIS_TITLE)
            + 2.0;
        let height = figure.panel_height;
        let frame_width = (cell - left - LEAST_SIDE).max(10.0);
        let place = |(k, panel): (usize, &Option<Panel>)| {
            let (row, column) = ((k / columns) as f64, (k % columns) as f64);
            panel.as_ref().map(|panel| Place {
                left: EDGE + column * (cell + GAP) + left,
                top: EDGE + legend + row * (top + height + bottom + GAP) + top,
                width: frame_width,
                height,
                x: panel.x.range,
                y: panel.y.range,
                logarithmic: [&panel.x, &panel.y].map(|axis| axis.kind == AxisKind::Logarithmic),
            })
        };
        let rows = figure.panels.len().div_ceil(columns) as f64;
        let all = rows * (top + height + bottom) + (rows - 1.0).max(0.0) * GAP;
        Self {
            size: [total, 2.0 * EDGE + legend + all],
            keys,
            frames: figure.panels.iter().enumerate().map(place).collect(),
            name_room,
        }
    }
}

/// Most labels of an axis so wide: a label and a gap have 42 points.
pub fn x_most(width: f64) -> usize {
    (width / 42.0).clamp(3.0, 8.0) as usize
}

/// Most labels of an axis so high.
pub fn y_most(height: f64) -> usize {
    (height / 22.0).clamp(2.0, 6.0) as usize
}

/// Where keys stand, in as many lines as they need, and the height of these.
fn legend(figure: &Figure, total: f64) -> (Vec<[f64; 2]>, f64) {
    let mut keys = Vec::new();
    let (mut x, mut line) = (EDGE, 0.0);
    for key in &figure.legend {
        let wide = SWATCH + SWATCH_GAP + width(&key.words, SMALL);
        if x > EDGE && x + wide > total - EDGE {
            (x, line) = (EDGE, line + 1.0);
        }
        keys.push([x, EDGE + (line + 0.5) * LEGEND_LINE]);
        x += wide + KEY_GAP;
    }
    let lines = if keys.is_empty() { 0.0 } else { line + 1.0 };
    let gap = if keys.is_empty() { 0.0 } else { LEGEND_GAP };
    (keys, lines * LEGEND_LINE + gap)
}
