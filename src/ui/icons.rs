//! Icons: characters of the Phosphor fonts, and helpers that paint them.
//!
//! Outlines for actions and kinds, filled ones for verdicts. The list is generated: see `assets/fonts/build.py`.

use eframe::egui::{Align2, Color32, Painter, Pos2, Rect, RichText, Sense, Ui, Vec2};

use super::theme::icon_font;

/// An outline icon as text, `size` points high.
pub fn icon(icon: char, size: f32) -> RichText {
    RichText::new(icon.to_string()).font(icon_font(size, false))
}

/// A filled icon as text, `size` points high.
pub fn icon_fill(icon: char, size: f32) -> RichText {
    RichText::new(icon.to_string()).font(icon_font(size, true))
}

/// Paints an icon centred at `center`.
pub fn paint(
    painter: &Painter,
    center: Pos2,
    icon: char,
    size: f32,
    filled: bool,
    color: Color32,
) -> Rect {
    painter.text(
        center,
        Align2::CENTER_CENTER,
        icon,
        icon_font(size, filled),
        color,
    )
}

/// An icon that only decorates: it takes `size`×`size` points and has no name.
pub fn icon_ui(ui: &mut Ui, icon: char, size: f32, filled: bool, color: Color32) -> Rect {
    let (rect, _) = ui.allocate_exact_size(Vec2::splat(size), Sense::hover());
    paint(ui.painter(), rect.center(), icon, size, filled, color);
    rect
}

// begin of the generated part
/// Phosphor `arrow-clockwise`.
pub(super) const ARROW_CLOCKWISE: char = '\u{e036}';
/// Phosphor `arrow-counter-clockwise`.
pub(super) const ARROW_COUNTER_CLOCKWISE: char = '\u{e038}';
/// Phosphor `arrow-down`.
pub(super) const ARROW_DOWN: char = '\u{e03e}';
/// Phosphor `arrow-left`.
pub(super) const ARROW_LEFT: char = '\u{e058}';
/// Phosphor `arrow-right`.
pub(super) const ARROW_RIGHT: char = '\u{e06c}';
/// Phosphor `arrows-clockwise`.
pub(super) const ARROWS_CLOCKWISE: char = '\u{e094}';
/// Phosphor `bell`.
pub(super) const BELL: char = '\u{e0ce}';
/// Phosphor `calendar-blank`.
pub(super) const CALENDAR_BLANK: char = '\u{e10a}';
/// Phosphor `caret-double-right`.
pub(super) const CARET_DOUBLE_RIGHT: char = '\u{e12a}';
/// Phosphor `caret-down`.
pub(super) const CARET_DOWN: char = '\u{e136}';
/// Phosphor `caret-right`.
pub(super) const CARET_RIGHT: char = '\u{e13a}';
/// Phosphor `caret-up`.
pub(super) const CARET_UP: char = '\u{e13c}';
/// Phosphor `chart-bar`.
pub(super) const CHART_BAR: char = '\u{e150}';
/// Phosphor `chart-bar-horizontal`.
pub(super) const CHART_BAR_HORIZONTAL: char = '\u{e152}';
/// Phosphor `chart-line`.
pub(super) const CHART_LINE: char = '\u{e154}';
/// Phosphor `chart-line-up`.
pub(super) const CHART_LINE_UP: char = '\u{e156}';
/// Phosphor `chart-scatter`.
pub(super) const CHART_SCATTER: char = '\u{eaac}';
/// Phosphor `check`.
pub(super) const CHECK: char = '\u{e182}';
/// Phosphor `check-circle`.
pub(super) const CHECK_CIRCLE: char = '\u{e184}';
/// Phosphor `circle-dashed`.
pub(super) const CIRCLE_DASHED: char = '\u{e602}';
/// Phosphor `circle-half`.
pub(super) const CIRCLE_HALF: char = '\u{e18c}';
/// Phosphor `clock`.
pub(super) const CLOCK: char = '\u{e19a}';
/// Phosphor `copy`.
pub(super) const COPY: char = '\u{e1ca}';
/// Phosphor `dots-three`.
pub(super) const DOTS_THREE: char = '\u{e1fe}';
/// Phosphor `export`.
pub(super) const EXPORT: char = '\u{eaf0}';
/// Phosphor `file`.
pub(super) const FILE: char = '\u{e230}';
/// Phosphor `file-code`.
pub(super) const FILE_CODE: char = '\u{e914}';
/// Phosphor `file-csv`.
pub(super) const FILE_CSV: char = '\u{eb1c}';
/// Phosphor `floppy-disk`.
pub(super) const FLOPPY_DISK: char = '\u{e248}';
/// Phosphor `folder-open`.
pub(super) const FOLDER_OPEN: char = '\u{e256}';
/// Phosphor `function`.
pub(super) const FUNCTION: char = '\u{ebe4}';
/// Phosphor `funnel`.
pub(super) const FUNNEL: char = '\u{e266}';
/// Phosphor `gauge`.
pub(super) const GAUGE: char = '\u{e628}';
/// Phosphor `grid-four`.
pub(super) const GRID_FOUR: char = '\u{e296}';
/// Phosphor `hash`.
pub(super) const HASH: char = '\u{e2a2}';
/// Phosphor `hourglass-medium`.
pub(super) const HOURGLASS_MEDIUM: char = '\u{e2b8}';
/// Phosphor `info`.
pub(super) const INFO: char = '\u{e2ce}';
/// Phosphor `intersect`.
pub(super) const INTERSECT: char = '\u{e2d2}';
/// Phosphor `key`.
pub(super) const KEY: char = '\u{e2d6}';
/// Phosphor `list-numbers`.
pub(super) const LIST_NUMBERS: char = '\u{e2f6}';
/// Phosphor `magnifying-glass`.
pub(super) const MAGNIFYING_GLASS: char = '\u{e30c}';
/// Phosphor `pause`.
pub(super) const PAUSE: char = '\u{e39e}';
/// Phosphor `pencil-simple`.
pub(super) const PENCIL_SIMPLE: char = '\u{e3b4}';
/// Phosphor `play`.
pub(super) const PLAY: char = '\u{e3d0}';
/// Phosphor `plus`.
pub(super) const PLUS: char = '\u{e3d4}';
/// Phosphor `question`.
pub(super) const QUESTION: char = '\u{e3e8}';
/// Phosphor `scales`.
pub(super) const SCALES: char = '\u{e750}';
/// Phosphor `seal-check`.
pub(super) const SEAL_CHECK: char = '\u{e606}';
/// Phosphor `seal-question`.
pub(super) const SEAL_QUESTION: char = '\u{e608}';
/// Phosphor `sliders-horizontal`.
pub(super) const SLIDERS_HORIZONTAL: char = '\u{e434}';
/// Phosphor `stop`.
pub(super) const STOP: char = '\u{e46c}';
/// Phosphor `table`.
pub(super) const TABLE: char = '\u{e476}';
/// Phosphor `tag`.
pub(super) const TAG: char = '\u{e478}';
/// Phosphor `terminal`.
pub(super) const TERMINAL: char = '\u{e47e}';
/// Phosphor `text-t`.
pub(super) const TEXT_T: char = '\u{e48a}';
/// Phosphor `toggle-left`.
pub(super) const TOGGLE_LEFT: char = '\u{e674}';
/// Phosphor `trash`.
pub(super) const TRASH: char = '\u{e4a6}';
/// Phosphor `warning`.
pub(super) const WARNING: char = '\u{e4e0}';
/// Phosphor `warning-circle`.
pub(super) const WARNING_CIRCLE: char = '\u{e4e2}';
/// Phosphor `waveform`.
pub(super) const WAVEFORM: char = '\u{e802}';
/// Phosphor `x`.
pub(super) const X: char = '\u{e4f6}';
/// Phosphor `x-circle`.
pub(super) const X_CIRCLE: char = '\u{e4f8}';
/// Every icon above with its name.
#[cfg(test)]
pub(super) const ALL: &[(&str, char)] = &[
    ("arrow-clockwise", ARROW_CLOCKWISE),
    ("arrow-counter-clockwise", ARROW_COUNTER_CLOCKWISE),
    ("arrow-down", ARROW_DOWN),
    ("arrow-left", ARROW_LEFT),
    ("arrow-right", ARROW_RIGHT),
    ("arrows-clockwise", ARROWS_CLOCKWISE),
    ("bell", BELL),
    ("calendar-blank", CALENDAR_BLANK),
    ("caret-double-right", CARET_DOUBLE_RIGHT),
    ("caret-down", CARET_DOWN),
    ("caret-right", CARET_RIGHT),
    ("caret-up", CARET_UP),
    ("chart-bar", CHART_BAR),
    ("chart-bar-horizontal", CHART_BAR_HORIZONTAL),
    ("chart-line", CHART_LINE),
    ("chart-line-up", CHART_LINE_UP),
    ("chart-scatter", CHART_SCATTER),
    ("check", CHECK),
    ("check-circle", CHECK_CIRCLE),
    ("circle-dashed", CIRCLE_DASHED),
    ("circle-half", CIRCLE_HALF),
    ("clock", CLOCK),
    ("copy", COPY),
    ("dots-three", DOTS_THREE),
    ("export", EXPORT),
    ("file", FILE),
    ("file-code", FILE_CODE),
    ("file-csv", FILE_CSV),
    ("floppy-disk", FLOPPY_DISK),
    ("folder-open", FOLDER_OPEN),
    ("function", FUNCTION),
    ("funnel", FUNNEL),
    ("gauge", GAUGE),
    ("grid-four", GRID_FOUR),
    ("hash", HASH),
    ("hourglass-medium", HOURGLASS_MEDIUM),
    ("info", INFO),
    ("intersect", INTERSECT),
    ("key", KEY),
    ("list-numbers", LIST_NUMBERS),
    ("magnifying-glass", MAGNIFYING_GLASS),
    ("pause", PAUSE),
    ("pencil-simple", PENCIL_SIMPLE),
    ("play", PLAY),
    ("plus", PLUS),
    ("question", QUESTION),
    ("scales", SCALES),
    ("seal-check", SEAL_CHECK),
    ("seal-question", SEAL_QUESTION),
    ("sliders-horizontal", SLIDERS_HORIZONTAL),
    ("stop", STOP),
    ("table", TABLE),
    ("tag", TAG),
    ("terminal", TERMINAL),
    ("text-t", TEXT_T),
    ("toggle-left", TOGGLE_LEFT),
    ("trash", TRASH),
    ("warning", WARNING),
    ("warning-circle", WARNING_CIRCLE),
    ("waveform", WAVEFORM),
    ("x", X),
    ("x-circle", X_CIRCLE),
];
// end of the generated part
