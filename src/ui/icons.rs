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
pub const ARROW_CLOCKWISE: char = '\u{e036}';
/// Phosphor `arrow-counter-clockwise`.
pub const ARROW_COUNTER_CLOCKWISE: char = '\u{e038}';
/// Phosphor `arrow-down`.
pub const ARROW_DOWN: char = '\u{e03e}';
/// Phosphor `arrow-left`.
pub const ARROW_LEFT: char = '\u{e058}';
/// Phosphor `arrow-line-down`.
pub const ARROW_LINE_DOWN: char = '\u{e05c}';
/// Phosphor `arrow-right`.
pub const ARROW_RIGHT: char = '\u{e06c}';
/// Phosphor `arrow-square-out`.
pub const ARROW_SQUARE_OUT: char = '\u{e5de}';
/// Phosphor `arrow-up`.
pub const ARROW_UP: char = '\u{e08e}';
/// Phosphor `arrows-clockwise`.
pub const ARROWS_CLOCKWISE: char = '\u{e094}';
/// Phosphor `arrows-in`.
pub const ARROWS_IN: char = '\u{e09a}';
/// Phosphor `arrows-left-right`.
pub const ARROWS_LEFT_RIGHT: char = '\u{e0a0}';
/// Phosphor `arrows-out`.
pub const ARROWS_OUT: char = '\u{e0a2}';
/// Phosphor `bell`.
pub const BELL: char = '\u{e0ce}';
/// Phosphor `binoculars`.
pub const BINOCULARS: char = '\u{ea64}';
/// Phosphor `bookmark-simple`.
pub const BOOKMARK_SIMPLE: char = '\u{e0ea}';
/// Phosphor `bounding-box`.
pub const BOUNDING_BOX: char = '\u{e6ce}';
/// Phosphor `brackets-curly`.
pub const BRACKETS_CURLY: char = '\u{e860}';
/// Phosphor `bug`.
pub const BUG: char = '\u{e5f4}';
/// Phosphor `calculator`.
pub const CALCULATOR: char = '\u{e538}';
/// Phosphor `calendar-blank`.
pub const CALENDAR_BLANK: char = '\u{e10a}';
/// Phosphor `caret-double-right`.
pub const CARET_DOUBLE_RIGHT: char = '\u{e12a}';
/// Phosphor `caret-down`.
pub const CARET_DOWN: char = '\u{e136}';
/// Phosphor `caret-left`.
pub const CARET_LEFT: char = '\u{e138}';
/// Phosphor `caret-right`.
pub const CARET_RIGHT: char = '\u{e13a}';
/// Phosphor `caret-up`.
pub const CARET_UP: char = '\u{e13c}';
/// Phosphor `caret-up-down`.
pub const CARET_UP_DOWN: char = '\u{e140}';
/// Phosphor `chart-bar`.
pub const CHART_BAR: char = '\u{e150}';
/// Phosphor `chart-bar-horizontal`.
pub const CHART_BAR_HORIZONTAL: char = '\u{e152}';
/// Phosphor `chart-line`.
pub const CHART_LINE: char = '\u{e154}';
/// Phosphor `chart-line-up`.
pub const CHART_LINE_UP: char = '\u{e156}';
/// Phosphor `chart-scatter`.
pub const CHART_SCATTER: char = '\u{eaac}';
/// Phosphor `check`.
pub const CHECK: char = '\u{e182}';
/// Phosphor `check-circle`.
pub const CHECK_CIRCLE: char = '\u{e184}';
/// Phosphor `check-square`.
pub const CHECK_SQUARE: char = '\u{e186}';
/// Phosphor `circle`.
pub const CIRCLE: char = '\u{e18a}';
/// Phosphor `circle-dashed`.
pub const CIRCLE_DASHED: char = '\u{e602}';
/// Phosphor `circle-half`.
pub const CIRCLE_HALF: char = '\u{e18c}';
/// Phosphor `clipboard`.
pub const CLIPBOARD: char = '\u{e196}';
/// Phosphor `clipboard-text`.
pub const CLIPBOARD_TEXT: char = '\u{e198}';
/// Phosphor `clock`.
pub const CLOCK: char = '\u{e19a}';
/// Phosphor `clock-counter-clockwise`.
pub const CLOCK_COUNTER_CLOCKWISE: char = '\u{e1a0}';
/// Phosphor `code`.
pub const CODE: char = '\u{e1bc}';
/// Phosphor `columns`.
pub const COLUMNS: char = '\u{e546}';
/// Phosphor `command`.
pub const COMMAND: char = '\u{e1c4}';
/// Phosphor `copy`.
pub const COPY: char = '\u{e1ca}';
/// Phosphor `corners-out`.
pub const CORNERS_OUT: char = '\u{e1d0}';
/// Phosphor `cpu`.
pub const CPU: char = '\u{e610}';
/// Phosphor `crosshair`.
pub const CROSSHAIR: char = '\u{e1d6}';
/// Phosphor `cube`.
pub const CUBE: char = '\u{e1da}';
/// Phosphor `database`.
pub const DATABASE: char = '\u{e1de}';
/// Phosphor `diamond`.
pub const DIAMOND: char = '\u{e1ec}';
/// Phosphor `dots-six-vertical`.
pub const DOTS_SIX_VERTICAL: char = '\u{eae2}';
/// Phosphor `dots-three`.
pub const DOTS_THREE: char = '\u{e1fe}';
/// Phosphor `dots-three-vertical`.
pub const DOTS_THREE_VERTICAL: char = '\u{e208}';
/// Phosphor `download-simple`.
pub const DOWNLOAD_SIMPLE: char = '\u{e20c}';
/// Phosphor `eraser`.
pub const ERASER: char = '\u{e21e}';
/// Phosphor `export`.
pub const EXPORT: char = '\u{eaf0}';
/// Phosphor `eye`.
pub const EYE: char = '\u{e220}';
/// Phosphor `eye-slash`.
pub const EYE_SLASH: char = '\u{e224}';
/// Phosphor `file`.
pub const FILE: char = '\u{e230}';
/// Phosphor `file-code`.
pub const FILE_CODE: char = '\u{e914}';
/// Phosphor `file-csv`.
pub const FILE_CSV: char = '\u{eb1c}';
/// Phosphor `file-dashed`.
pub const FILE_DASHED: char = '\u{e704}';
/// Phosphor `file-plus`.
pub const FILE_PLUS: char = '\u{e236}';
/// Phosphor `file-text`.
pub const FILE_TEXT: char = '\u{e23a}';
/// Phosphor `flag`.
pub const FLAG: char = '\u{e244}';
/// Phosphor `flask`.
pub const FLASK: char = '\u{e79e}';
/// Phosphor `floppy-disk`.
pub const FLOPPY_DISK: char = '\u{e248}';
/// Phosphor `folder`.
pub const FOLDER: char = '\u{e24a}';
/// Phosphor `folder-open`.
pub const FOLDER_OPEN: char = '\u{e256}';
/// Phosphor `folder-plus`.
pub const FOLDER_PLUS: char = '\u{e258}';
/// Phosphor `function`.
pub const FUNCTION: char = '\u{ebe4}';
/// Phosphor `funnel`.
pub const FUNNEL: char = '\u{e266}';
/// Phosphor `funnel-simple`.
pub const FUNNEL_SIMPLE: char = '\u{e268}';
/// Phosphor `gauge`.
pub const GAUGE: char = '\u{e628}';
/// Phosphor `gear`.
pub const GEAR: char = '\u{e270}';
/// Phosphor `gear-six`.
pub const GEAR_SIX: char = '\u{e272}';
/// Phosphor `git-branch`.
pub const GIT_BRANCH: char = '\u{e278}';
/// Phosphor `git-diff`.
pub const GIT_DIFF: char = '\u{e27c}';
/// Phosphor `graph`.
pub const GRAPH: char = '\u{eb58}';
/// Phosphor `grid-four`.
pub const GRID_FOUR: char = '\u{e296}';
/// Phosphor `hand`.
pub const HAND: char = '\u{e298}';
/// Phosphor `hash`.
pub const HASH: char = '\u{e2a2}';
/// Phosphor `hourglass-medium`.
pub const HOURGLASS_MEDIUM: char = '\u{e2b8}';
/// Phosphor `house`.
pub const HOUSE: char = '\u{e2c2}';
/// Phosphor `info`.
pub const INFO: char = '\u{e2ce}';
/// Phosphor `intersect`.
pub const INTERSECT: char = '\u{e2d2}';
/// Phosphor `key`.
pub const KEY: char = '\u{e2d6}';
/// Phosphor `keyboard`.
pub const KEYBOARD: char = '\u{e2d8}';
/// Phosphor `lightbulb`.
pub const LIGHTBULB: char = '\u{e2dc}';
/// Phosphor `lightning`.
pub const LIGHTNING: char = '\u{e2de}';
/// Phosphor `link`.
pub const LINK: char = '\u{e2e2}';
/// Phosphor `list`.
pub const LIST: char = '\u{e2f0}';
/// Phosphor `list-bullets`.
pub const LIST_BULLETS: char = '\u{e2f2}';
/// Phosphor `list-dashes`.
pub const LIST_DASHES: char = '\u{e2f4}';
/// Phosphor `list-numbers`.
pub const LIST_NUMBERS: char = '\u{e2f6}';
/// Phosphor `lock`.
pub const LOCK: char = '\u{e2fa}';
/// Phosphor `lock-open`.
pub const LOCK_OPEN: char = '\u{e306}';
/// Phosphor `magnifying-glass`.
pub const MAGNIFYING_GLASS: char = '\u{e30c}';
/// Phosphor `magnifying-glass-minus`.
pub const MAGNIFYING_GLASS_MINUS: char = '\u{e30e}';
/// Phosphor `magnifying-glass-plus`.
pub const MAGNIFYING_GLASS_PLUS: char = '\u{e310}';
/// Phosphor `math-operations`.
pub const MATH_OPERATIONS: char = '\u{e31e}';
/// Phosphor `memory`.
pub const MEMORY: char = '\u{e9c4}';
/// Phosphor `minus`.
pub const MINUS: char = '\u{e32a}';
/// Phosphor `minus-circle`.
pub const MINUS_CIRCLE: char = '\u{e32c}';
/// Phosphor `moon`.
pub const MOON: char = '\u{e330}';
/// Phosphor `number-circle-one`.
pub const NUMBER_CIRCLE_ONE: char = '\u{e36a}';
/// Phosphor `package`.
pub const PACKAGE: char = '\u{e390}';
/// Phosphor `palette`.
pub const PALETTE: char = '\u{e6c8}';
/// Phosphor `pause`.
pub const PAUSE: char = '\u{e39e}';
/// Phosphor `pencil-simple`.
pub const PENCIL_SIMPLE: char = '\u{e3b4}';
/// Phosphor `percent`.
pub const PERCENT: char = '\u{e3b6}';
/// Phosphor `play`.
pub const PLAY: char = '\u{e3d0}';
/// Phosphor `play-pause`.
pub const PLAY_PAUSE: char = '\u{e8be}';
/// Phosphor `plugs`.
pub const PLUGS: char = '\u{eb56}';
/// Phosphor `plus`.
pub const PLUS: char = '\u{e3d4}';
/// Phosphor `plus-circle`.
pub const PLUS_CIRCLE: char = '\u{e3d6}';
/// Phosphor `power`.
pub const POWER: char = '\u{e3da}';
/// Phosphor `printer`.
pub const PRINTER: char = '\u{e3dc}';
/// Phosphor `prohibit`.
pub const PROHIBIT: char = '\u{e3de}';
/// Phosphor `push-pin`.
pub const PUSH_PIN: char = '\u{e3e2}';
/// Phosphor `question`.
pub const QUESTION: char = '\u{e3e8}';
/// Phosphor `radio-button`.
pub const RADIO_BUTTON: char = '\u{eb08}';
/// Phosphor `record`.
pub const RECORD: char = '\u{e3ee}';
/// Phosphor `repeat`.
pub const REPEAT: char = '\u{e3f6}';
/// Phosphor `rewind`.
pub const REWIND: char = '\u{e6a8}';
/// Phosphor `rows`.
pub const ROWS: char = '\u{e5a2}';
/// Phosphor `ruler`.
pub const RULER: char = '\u{e6b8}';
/// Phosphor `scales`.
pub const SCALES: char = '\u{e750}';
/// Phosphor `seal-check`.
pub const SEAL_CHECK: char = '\u{e606}';
/// Phosphor `seal-question`.
pub const SEAL_QUESTION: char = '\u{e608}';
/// Phosphor `seal-warning`.
pub const SEAL_WARNING: char = '\u{e60c}';
/// Phosphor `selection-all`.
pub const SELECTION_ALL: char = '\u{e746}';
/// Phosphor `shield-check`.
pub const SHIELD_CHECK: char = '\u{e40c}';
/// Phosphor `shuffle`.
pub const SHUFFLE: char = '\u{e422}';
/// Phosphor `sidebar`.
pub const SIDEBAR: char = '\u{eab6}';
/// Phosphor `sidebar-simple`.
pub const SIDEBAR_SIMPLE: char = '\u{ec24}';
/// Phosphor `sigma`.
pub const SIGMA: char = '\u{eab8}';
/// Phosphor `skip-forward`.
pub const SKIP_FORWARD: char = '\u{e5a6}';
/// Phosphor `sliders`.
pub const SLIDERS: char = '\u{e432}';
/// Phosphor `sliders-horizontal`.
pub const SLIDERS_HORIZONTAL: char = '\u{e434}';
/// Phosphor `sort-ascending`.
pub const SORT_ASCENDING: char = '\u{e444}';
/// Phosphor `sort-descending`.
pub const SORT_DESCENDING: char = '\u{e446}';
/// Phosphor `sparkle`.
pub const SPARKLE: char = '\u{e6a2}';
/// Phosphor `spinner`.
pub const SPINNER: char = '\u{e66a}';
/// Phosphor `split-horizontal`.
pub const SPLIT_HORIZONTAL: char = '\u{e872}';
/// Phosphor `split-vertical`.
pub const SPLIT_VERTICAL: char = '\u{e876}';
/// Phosphor `stack`.
pub const STACK: char = '\u{e466}';
/// Phosphor `star`.
pub const STAR: char = '\u{e46a}';
/// Phosphor `stop`.
pub const STOP: char = '\u{e46c}';
/// Phosphor `sun`.
pub const SUN: char = '\u{e472}';
/// Phosphor `swap`.
pub const SWAP: char = '\u{e83c}';
/// Phosphor `table`.
pub const TABLE: char = '\u{e476}';
/// Phosphor `tag`.
pub const TAG: char = '\u{e478}';
/// Phosphor `target`.
pub const TARGET: char = '\u{e47c}';
/// Phosphor `terminal`.
pub const TERMINAL: char = '\u{e47e}';
/// Phosphor `terminal-window`.
pub const TERMINAL_WINDOW: char = '\u{eae8}';
/// Phosphor `text-aa`.
pub const TEXT_AA: char = '\u{e6ee}';
/// Phosphor `text-t`.
pub const TEXT_T: char = '\u{e48a}';
/// Phosphor `timer`.
pub const TIMER: char = '\u{e492}';
/// Phosphor `toggle-left`.
pub const TOGGLE_LEFT: char = '\u{e674}';
/// Phosphor `toggle-right`.
pub const TOGGLE_RIGHT: char = '\u{e676}';
/// Phosphor `trash`.
pub const TRASH: char = '\u{e4a6}';
/// Phosphor `tray`.
pub const TRAY: char = '\u{e4aa}';
/// Phosphor `tree-structure`.
pub const TREE_STRUCTURE: char = '\u{e67c}';
/// Phosphor `tree-view`.
pub const TREE_VIEW: char = '\u{ee48}';
/// Phosphor `trend-down`.
pub const TREND_DOWN: char = '\u{e4ac}';
/// Phosphor `trend-up`.
pub const TREND_UP: char = '\u{e4ae}';
/// Phosphor `upload-simple`.
pub const UPLOAD_SIMPLE: char = '\u{e4c0}';
/// Phosphor `users-three`.
pub const USERS_THREE: char = '\u{e68e}';
/// Phosphor `warning`.
pub const WARNING: char = '\u{e4e0}';
/// Phosphor `warning-circle`.
pub const WARNING_CIRCLE: char = '\u{e4e2}';
/// Phosphor `warning-octagon`.
pub const WARNING_OCTAGON: char = '\u{e4e4}';
/// Phosphor `wave-sine`.
pub const WAVE_SINE: char = '\u{ea9a}';
/// Phosphor `waveform`.
pub const WAVEFORM: char = '\u{e802}';
/// Phosphor `wrench`.
pub const WRENCH: char = '\u{e5d4}';
/// Phosphor `x`.
pub const X: char = '\u{e4f6}';
/// Phosphor `x-circle`.
pub const X_CIRCLE: char = '\u{e4f8}';
/// Every icon above with its name.
pub const ALL: &[(&str, char)] = &[
    ("arrow-clockwise", ARROW_CLOCKWISE),
    ("arrow-counter-clockwise", ARROW_COUNTER_CLOCKWISE),
    ("arrow-down", ARROW_DOWN),
    ("arrow-left", ARROW_LEFT),
    ("arrow-line-down", ARROW_LINE_DOWN),
    ("arrow-right", ARROW_RIGHT),
    ("arrow-square-out", ARROW_SQUARE_OUT),
    ("arrow-up", ARROW_UP),
    ("arrows-clockwise", ARROWS_CLOCKWISE),
    ("arrows-in", ARROWS_IN),
    ("arrows-left-right", ARROWS_LEFT_RIGHT),
    ("arrows-out", ARROWS_OUT),
    ("bell", BELL),
    ("binoculars", BINOCULARS),
    ("bookmark-simple", BOOKMARK_SIMPLE),
    ("bounding-box", BOUNDING_BOX),
    ("brackets-curly", BRACKETS_CURLY),
    ("bug", BUG),
    ("calculator", CALCULATOR),
    ("calendar-blank", CALENDAR_BLANK),
    ("caret-double-right", CARET_DOUBLE_RIGHT),
    ("caret-down", CARET_DOWN),
    ("caret-left", CARET_LEFT),
    ("caret-right", CARET_RIGHT),
    ("caret-up", CARET_UP),
    ("caret-up-down", CARET_UP_DOWN),
    ("chart-bar", CHART_BAR),
    ("chart-bar-horizontal", CHART_BAR_HORIZONTAL),
    ("chart-line", CHART_LINE),
    ("chart-line-up", CHART_LINE_UP),
    ("chart-scatter", CHART_SCATTER),
    ("check", CHECK),
    ("check-circle", CHECK_CIRCLE),
    ("check-square", CHECK_SQUARE),
    ("circle", CIRCLE),
    ("circle-dashed", CIRCLE_DASHED),
    ("circle-half", CIRCLE_HALF),
    ("clipboard", CLIPBOARD),
    ("clipboard-text", CLIPBOARD_TEXT),
    ("clock", CLOCK),
    ("clock-counter-clockwise", CLOCK_COUNTER_CLOCKWISE),
    ("code", CODE),
    ("columns", COLUMNS),
    ("command", COMMAND),
    ("copy", COPY),
    ("corners-out", CORNERS_OUT),
    ("cpu", CPU),
    ("crosshair", CROSSHAIR),
    ("cube", CUBE),
    ("database", DATABASE),
    ("diamond", DIAMOND),
    ("dots-six-vertical", DOTS_SIX_VERTICAL),
    ("dots-three", DOTS_THREE),
    ("dots-three-vertical", DOTS_THREE_VERTICAL),
    ("download-simple", DOWNLOAD_SIMPLE),
    ("eraser", ERASER),
    ("export", EXPORT),
    ("eye", EYE),
    ("eye-slash", EYE_SLASH),
    ("file", FILE),
    ("file-code", FILE_CODE),
    ("file-csv", FILE_CSV),
    ("file-dashed", FILE_DASHED),
    ("file-plus", FILE_PLUS),
    ("file-text", FILE_TEXT),
    ("flag", FLAG),
    ("flask", FLASK),
    ("floppy-disk", FLOPPY_DISK),
    ("folder", FOLDER),
    ("folder-open", FOLDER_OPEN),
    ("folder-plus", FOLDER_PLUS),
    ("function", FUNCTION),
    ("funnel", FUNNEL),
    ("funnel-simple", FUNNEL_SIMPLE),
    ("gauge", GAUGE),
    ("gear", GEAR),
    ("gear-six", GEAR_SIX),
    ("git-branch", GIT_BRANCH),
    ("git-diff", GIT_DIFF),
    ("graph", GRAPH),
    ("grid-four", GRID_FOUR),
    ("hand", HAND),
    ("hash", HASH),
    ("hourglass-medium", HOURGLASS_MEDIUM),
    ("house", HOUSE),
    ("info", INFO),
    ("intersect", INTERSECT),
    ("key", KEY),
    ("keyboard", KEYBOARD),
    ("lightbulb", LIGHTBULB),
    ("lightning", LIGHTNING),
    ("link", LINK),
    ("list", LIST),
    ("list-bullets", LIST_BULLETS),
    ("list-dashes", LIST_DASHES),
    ("list-numbers", LIST_NUMBERS),
    ("lock", LOCK),
    ("lock-open", LOCK_OPEN),
    ("magnifying-glass", MAGNIFYING_GLASS),
    ("magnifying-glass-minus", MAGNIFYING_GLASS_MINUS),
    ("magnifying-glass-plus", MAGNIFYING_GLASS_PLUS),
    ("math-operations", MATH_OPERATIONS),
    ("memory", MEMORY),
    ("minus", MINUS),
    ("minus-circle", MINUS_CIRCLE),
    ("moon", MOON),
    ("number-circle-one", NUMBER_CIRCLE_ONE),
    ("package", PACKAGE),
    ("palette", PALETTE),
    ("pause", PAUSE),
    ("pencil-simple", PENCIL_SIMPLE),
    ("percent", PERCENT),
    ("play", PLAY),
    ("play-pause", PLAY_PAUSE),
    ("plugs", PLUGS),
    ("plus", PLUS),
    ("plus-circle", PLUS_CIRCLE),
    ("power", POWER),
    ("printer", PRINTER),
    ("prohibit", PROHIBIT),
    ("push-pin", PUSH_PIN),
    ("question", QUESTION),
    ("radio-button", RADIO_BUTTON),
    ("record", RECORD),
    ("repeat", REPEAT),
    ("rewind", REWIND),
    ("rows", ROWS),
    ("ruler", RULER),
    ("scales", SCALES),
    ("seal-check", SEAL_CHECK),
    ("seal-question", SEAL_QUESTION),
    ("seal-warning", SEAL_WARNING),
    ("selection-all", SELECTION_ALL),
    ("shield-check", SHIELD_CHECK),
    ("shuffle", SHUFFLE),
    ("sidebar", SIDEBAR),
    ("sidebar-simple", SIDEBAR_SIMPLE),
    ("sigma", SIGMA),
    ("skip-forward", SKIP_FORWARD),
    ("sliders", SLIDERS),
    ("sliders-horizontal", SLIDERS_HORIZONTAL),
    ("sort-ascending", SORT_ASCENDING),
    ("sort-descending", SORT_DESCENDING),
    ("sparkle", SPARKLE),
    ("spinner", SPINNER),
    ("split-horizontal", SPLIT_HORIZONTAL),
    ("split-vertical", SPLIT_VERTICAL),
    ("stack", STACK),
    ("star", STAR),
    ("stop", STOP),
    ("sun", SUN),
    ("swap", SWAP),
    ("table", TABLE),
    ("tag", TAG),
    ("target", TARGET),
    ("terminal", TERMINAL),
    ("terminal-window", TERMINAL_WINDOW),
    ("text-aa", TEXT_AA),
    ("text-t", TEXT_T),
    ("timer", TIMER),
    ("toggle-left", TOGGLE_LEFT),
    ("toggle-right", TOGGLE_RIGHT),
    ("trash", TRASH),
    ("tray", TRAY),
    ("tree-structure", TREE_STRUCTURE),
    ("tree-view", TREE_VIEW),
    ("trend-down", TREND_DOWN),
    ("trend-up", TREND_UP),
    ("upload-simple", UPLOAD_SIMPLE),
    ("users-three", USERS_THREE),
    ("warning", WARNING),
    ("warning-circle", WARNING_CIRCLE),
    ("warning-octagon", WARNING_OCTAGON),
    ("wave-sine", WAVE_SINE),
    ("waveform", WAVEFORM),
    ("wrench", WRENCH),
    ("x", X),
    ("x-circle", X_CIRCLE),
];
// end of the generated part
