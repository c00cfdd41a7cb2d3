//! Fonts of the system for characters that ours lack: Chinese, Japanese, Korean, Arabic, emoji and others.
//!
//! Nothing is looked for before such a character appears. Then a thread looks through the usual folders, files with the most
//! promising names first, for one that has an outline of it, and adds that font behind ours. Where there is none, the
//! character stays a box, and the user is told once what would help.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eframe::egui::epaint::text::{
    FallbackRequest, FontInsert, FontPriority, FontProvider, InsertFontFamily,
};
use eframe::egui::{Context, FontData};
use skrifa::{FontRef, MetadataProvider as _};

use super::theme::text_families;

/// Characters of one text come one by one; the thread waits so long for the others.
const GATHER_TIME: Duration = Duration::from_millis(20);
/// Folders in folders that are looked through.
const MAX_DEPTH: usize = 6;
/// Larger files are not fonts that anybody needs: those of all Chinese characters have about 20 MB.
const MAX_FILE: u64 = 64 << 20;
/// Bytes that are read in search of one character.
const MAX_READ: u64 = 256 << 20;

/// Writing systems that fonts are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Script {
    Asian,
    Arabic,
    Emoji,
    Other,
}

impl Script {
    fn of(c: char) -> Self {
        match u32::from(c) {
            0x1100..=0x11FF
            | 0x2E80..=0x9FFF
            | 0xA960..=0xA97F
            | 0xAC00..=0xD7FF
            | 0xF900..=0xFAFF
            | 0xFE30..=0xFE4F
            | 0xFF00..=0xFFEF
            | 0x2_0000..=0x3_FFFF => Self::Asian,
            0x0600..=0x06FF
            | 0x0750..=0x077F
            | 0x08A0..=0x08FF
            | 0xFB50..=0xFDFF
            | 0xFE70..=0xFEFF => Self::Arabic,
            0x2190..=0x2BFF | 0x1_F000..=0x1_FAFF => Self::Emoji,
            _ => Self::Other,
        }
    }

    /// Parts of file names in lower case, the best first: of Linux, Windows, macOS.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Asian => &[
                "notosanscjk",
                "notosanssc",
                "notosansjp",
                "notosanskr",
                "notosanstc",
                "sourcehansans",
                "wqy",
                "droidsansfallback",
                "msyh",
                "yugoth",
                "malgun",
                "meiryo",
                "simsun",
                "pingfang",
                "hiragino",
                "applesdgothic",
                "arial unicode",
            ],
            Self::Arabic => &[
                "notosansarabic",
                "notonaskharabic",
                "dejavusans",
                "segoeui",
                "tahoma",
                "arial",
                "geezapro",
            ],
            Self::Emoji => &[
                "notoemoji",
                "symbola",
                "seguiemj",
                "seguisym",
                "notosanssymbols",
                "apple symbols",
                "dejavusans",
            ],
            Self::Other => &[
                "notosans",
                "dejavusans",
                "segoeui",
                "nirmala",
                "arial unicode",
                "unifont",
            ],
        }
    }

    /// What nobody can read, and what helps.
    fn advice(self) -> &'static str {
        match self {
            Self::Asian => {
                "Chinese, Japanese or Korean characters are shown as boxes, because this system has no font for them; \
                 install one, such as the package fonts-noto-cjk, and start Ergodic again"
            }
            Self::Arabic => {
                "Arabic letters are shown as boxes, because this system has no font for them; install one, such as the \
                 package fonts-noto-core, and start Ergodic again"
            }
            Self::Emoji => {
                "Some symbols or emoji are shown as boxes, because this system has no font with their outlines; install \
                 one, such as the package fonts-symbola, and start Ergodic again"
            }
            Self::Other => {
                "Some characters are shown as boxes, because this system has no font for them; install one, such as the \
                 package fonts-noto-core, and start Ergodic again"
            }
        }
    }
}

/// The fonts of the system, as far as they were needed.
#[derive(Clone)]
pub struct SystemFonts {
    shared: Arc<Shared>,
}

struct Shared {
    ctx: Context,
    folders: Vec<PathBuf>,
    search: Mutex<Search>,
}

#[derive(Default)]
struct Search {
    /// Characters that were asked for; each is looked for once.
    asked: BTreeSet<char>,
    /// Characters that nobody has looked for yet.
    wanted: Vec<char>,
    /// Whether a thread is looking.
    working: bool,
    /// Scripts without a font that the user was told about, or is to be told about.
    missing: BTreeSet<Script>,
    untold: Vec<Script>,
}

impl SystemFonts {
    /// Looks in the usual folders whenever `ctx` has no font for a character.
    pub fn install(ctx: &Context) -> Self {
        Self::install_from(ctx, folders())
    }

    fn install_from(ctx: &Context, folders: Vec<PathBuf>) -> Self {
        let fonts = Self {
            shared: Arc::new(Shared {
                ctx: ctx.clone(),
                folders,
                search: Mutex::default(),
            }),
        };
        ctx.add_font_provider(Arc::new(fonts.clone()));
        fonts
    }

    /// What to tell the user about characters that no font has; once for each writing system.
    pub fn take_advice(&self) -> Vec<&'static str> {
        let untold = std::mem::take(&mut self.shared.lock().untold);
        untold.into_iter().map(Script::advice).collect()
    }
}

impl FontProvider for SystemFonts {
    /// Asked while the context is locked: only notes the character. The font comes later, from the thread.
    fn font_for(&self, request: &FallbackRequest<'_>) -> Option<FontInsert> {
        let wanted = request.cluster.chars().next()?;
        let mut search = self.shared.lock();
        if !search.asked.insert(wanted) {
            return None;
        }
        search.wanted.push(wanted);
        if !search.working {
            let shared = Arc::clone(&self.shared);
            let looking = std::thread::Builder::new()
                .name("system-fonts".to_owned())
                .spawn(move || shared.look());
            // Without a thread the character stays a box.
            search.working = looking.is_ok();
        }
        None
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Search> {
        self.search.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for fonts until every wanted character was looked for.
    fn look(&self) {
        let mut found: Vec<FontFile> = Vec::new();
        let mut files: Option<Vec<PathBuf>> = None;
        loop {
            std::thread::sleep(GATHER_TIME);
            let wanted = {
                let mut search = self.lock();
                if search.wanted.is_empty() {
                    search.working = false;
                    return;
                }
                std::mem::take(&mut search.wanted)
            };
            for c in wanted {
                if found.iter().any(|file| file.has(c)) {
                    continue;
                }
                let files = files.get_or_insert_with(|| font_files(&self.folders));
                match find(files, c) {
                    Some(file) => {
                        self.ctx.add_font(file.insert());
                        self.ctx.request_repaint();
                        found.push(file);
                    }
                    None => self.miss(Script::of(c)),
                }
            }
        }
    }

    fn miss(&self, script: Script) {
        let mut search = self.lock();
        if search.missing.insert(script) {
            search.untold.push(script);
            drop(search);
            self.ctx.request_repaint();
        }
    }
}

/// A font in memory.
struct FontFile {
    name: String,
    bytes: Arc<Vec<u8>>,
    /// Which of the fonts in the file.
    index: u32,
}

impl FontFile {
    fn has(&self, c: char) -> bool {
        FontRef::from_index(&self.bytes, self.index).is_ok_and(|font| has_outline(&font, c))
    }

    /// Behind all fonts of every family of text.
    fn insert(&self) -> FontInsert {
        let families = text_families()
            .into_iter()
            .map(|family| InsertFontFamily {
                family,
                priority: FontPriority::Lowest,
            })
            .collect();
        let bytes: Arc<Vec<u8>> = Arc::clone(&self.bytes);
        FontInsert::new(&self.name, FontData::from_blob(bytes, self.index), families)
    }
}

/// Whether a font can draw `c`; a picture of it alone, as in fonts of coloured emoji, cannot be drawn here.
fn has_outline(font: &FontRef<'_>, c: char) -> bool {
    font.charmap()
        .map(c)
        .is_some_and(|glyph| font.outline_glyphs().get(glyph).is_some())
}

/// The first of `files`, in the order of their promise, that can draw `c`.
fn find(files: &[PathBuf], c: char) -> Option<FontFile> {
    let names = Script::of(c).names();
    let mut ranked: Vec<(usize, bool, &PathBuf)> = files
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.to_lowercase();
            let rank = names.iter().position(|part| name.contains(part));
            let other_cut = [
                "bold", "italic", "oblique", "light", "black", "thin", "mono",
            ];
            let is_other_cut = other_cut.iter().any(|word| name.contains(word));
            (rank.unwrap_or(names.len()), is_other_cut, path)
        })
        .collect();
    ranked.sort();
    let mut read = 0;
    for (_, _, path) in ranked {
        let size = path.metadata().map_or(u64::MAX, |about| about.len());
        if size > MAX_FILE || read + size > MAX_READ {
            continue;
        }
        read += size;
        let Ok(bytes) = std::fs::read(path) else {
            continue;
        };
        let index =
            FontRef::fonts(&bytes).position(|font| font.is_ok_and(|font| has_outline(&font, c)));
        if let Some(index) = index.and_then(|index| u32::try_from(index).ok()) {
            return Some(FontFile {
                name: path.display().to_string(),
                bytes: Arc::new(bytes),
                index,
            });
        }
    }
    None
}

/// All files of fonts in the folders.
fn font_files(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in folders {
        gather(folder, MAX_DEPTH, &mut files);
    }
    files
}

fn gather(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let ending = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        if ["ttf", "otf", "ttc", "otc"].contains(&ending.as_str()) {
            files.push(path);
        } else if depth > 0 && path.is_dir() {
            gather(&path, depth - 1, files);
        }
    }
}

/// Where systems keep fonts.
fn folders() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let home = std::env::home_dir();
    let at_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let folders = if cfg!(target_os = "macos") {
        vec![
            Some(PathBuf::from("/System/Library/Fonts")),
            Some(PathBuf::from("/Library/Fonts")),
            at_home("Library/Fonts"),
        ]
    } else if cfg!(windows) {
        vec![
            variable("WINDIR").map(|it| it.join("Fonts")),
            variable("LOCALAPPDATA").map(|it| it.join("Microsoft").join("Windows").join("Fonts")),
        ]
    } else {
        vec![
            Some(PathBuf::from("/usr/share/fonts")),
            Some(PathBuf::from("/usr/local/share/fonts")),
            variable("XDG_DATA_HOME")
                .map(|it| it.join("fonts"))
                .or_else(|| at_home(".local/share/fonts")),
            at_home(".fonts"),
        ]
    };
    folders.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use eframe::egui::epaint::text::MissingGlyphPolicy;

    use super::*;
    use crate::ui::icons;
    use crate::ui::testing::harness;
    use crate::ui::theme::Text;

    /// A folder with a font that has a character which the font of numbers lacks.
    fn with_font(name: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("truetype").join("some");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(folder.path().join("readme.ttf"), "not a font").unwrap();
        let bytes = include_bytes!("../../assets/fonts/Phosphor.ttf");
        std::fs::write(inner.join(name), bytes).unwrap();
        folder
    }

    #[test]
    fn a_font_is_found_by_what_it_can_draw_whatever_its_name() {
        for name in ["NotoSansCJK-Regular.ttc", "unknown.TTF"] {
            let folder = with_font(name);
            let files = font_files(&[folder.path().to_owned()]);
            assert_eq!(files.len(), 2);
            let file = find(&files, icons::WAVEFORM).unwrap();
            assert!(file.name.ends_with(name));
            assert!(file.has(icons::PLAY) && !file.has('字'));
            assert!(find(&files, '字').is_none());
        }
    }

    #[test]
    fn a_character_that_ours_lack_appears_from_a_font_of_the_system() {
        let folder = with_font("Symbols.ttf");
        let mut harness = harness([200.0, 100.0], 'a', |ui, c| {
            ui.label(Text::Number.rich(c.to_string(), eframe::egui::Color32::BLACK));
        });
        // Harnesses panic where the window draws a box.
        let ctx = harness.ctx.clone();
        ctx.set_missing_glyph_policy(MissingGlyphPolicy::Tofu);
        let fonts = SystemFonts::install_from(&ctx, vec![folder.path().to_owned()]);
        harness.step();
        *harness.state_mut() = icons::WAVEFORM;
        let begun = std::time::Instant::now();
        let has = |ctx: &Context, c: char| {
            ctx.fonts_mut(|fonts| fonts.has_glyph(&Text::Number.font(), c))
        };
        loop {
            harness.step();
            if has(&ctx, icons::WAVEFORM) {
                break;
            }
            assert!(begun.elapsed().as_secs() < 20, "no font was added");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(fonts.take_advice().is_empty());

        // What no font has is told once.
        let mut told = Vec::new();
        for c in ['字', '語', '한'] {
            *harness.state_mut() = c;
            while fonts.shared.lock().working || !fonts.shared.lock().asked.contains(&c) {
                harness.step();
                assert!(begun.elapsed().as_secs() < 20, "{c} was not looked for");
                std::thread::sleep(Duration::from_millis(5));
            }
            told.extend(fonts.take_advice());
        }
        assert_eq!(told, [Script::Asian.advice()]);
    }
}
