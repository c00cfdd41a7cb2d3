//! Every operation on files by which results are written, so that their order is decided, and tested, in one place.
//!
//! New files are made under unguessable temporary names that must not exist, so that no link is followed; they are synced
//! before they are renamed, and the folder after. In builds with debug assertions each operation can be made to fail or to end
//! the program, as the module `fault` says.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use ergodic_base::numerals::hex;

/// End of the name of a file that is not whole yet.
const PART: &str = ".part";
/// Digits of a token.
const TOKEN_DIGITS: usize = 16;
/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct OutFile {
    file: File,
    path: PathBuf,
}

impl OutFile {
    /// A new file; nothing may be at `path`, not even a link.
    pub fn create(path: &Path) -> io::Result<Self> {
        fault::before(fault::Operation::Create, path)?;
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(Self {
            file,
            path: path.to_owned(),
        })
    }

    /// The file at `path`, to be written from its byte `at` on; what stands behind that is cut off. A link is refused.
    pub(crate) fn reopen(path: &Path, at: u64) -> io::Result<Self> {
        fault::before(fault::Operation::Open, path)?;
        let mut file = Self {
            file: open_in_place(path)?,
            path: path.to_owned(),
        };
        if file.file.metadata()?.len() != at {
            file.cut(at)?;
        }
        file.file.seek(SeekFrom::Start(at))?;
        Ok(file)
    }

    /// Cuts the file off at byte `at` and goes on there.
    pub fn cut(&mut self, at: u64) -> io::Result<()> {
        fault::before(fault::Operation::Cut, &self.path)?;
        self.file.set_len(at)?;
        self.file.seek(SeekFrom::Start(at)).map(|_at| ())
    }

    /// Waits until the disk has it.
    pub fn sync(&self) -> io::Result<()> {
        fault::before(fault::Operation::Sync, &self.path)?;
        self.file.sync_all()
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        fault::while_writing(&mut self.file, bytes, &self.path)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens what is at `path` for writing, if that is a file of this place and no link to another.
pub(crate) fn open_in_place(path: &Path) -> io::Result<File> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "it is a link or no file");
    if !path.symlink_metadata()?.is_file() {
        return Err(refused());
    }
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    // Between the look and the opening a link may have taken its place.
    if is_at(&file, path) {
        Ok(file)
    } else {
        Err(refused())
    }
}

/// Whether `path` names the very file that `file` is.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(mine), Ok(there)) = (file.metadata(), path.symlink_metadata()) else {
        return false;
    };
    (mine.dev(), mine.ino()) == (there.dev(), there.ino())
}

/// Whether `path` names the very file that `file` is; here only whether there is a file.
#[cfg(not(unix))]
pub(crate) fn is_at(_file: &File, path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| about.is_file())
}

/// Sixteen hexadecimal digits that nobody can guess: keys of the standard library's hash maps come from the operating system.
pub fn token() -> String {
    let state = std::hash::RandomState::new();
    let mut hasher = state.build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:016x}", hasher.finish())
}

/// The temporary name of `path` with `token`.
pub fn part_of(path: &Path, token: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{token}{PART}"));
    path.with_file_name(name)
}

/// The name whose temporary name `name` is, if it is one.
pub(crate) fn whole_of(name: &str) -> Option<&str> {
    let (whole, token) = name.strip_suffix(PART)?.rsplit_once('.')?;
    let digits = token.bytes().all(|byte| byte.is_ascii_hexdigit());
    (token.len() == TOKEN_DIGITS && digits).then_some(whole)
}

/// Whether `name` is that of a file in a folder, and no path to another one.
pub(crate) fn is_plain(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|it| it == name)
}

/// Writes a new file at `path`, where nothing may be, synced; if that fails nothing stays behind. Returns its bytes and their
/// SHA-256 in hexadecimal digits.
pub(crate) fn write_new(
    path: &Path,
    act: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<(u64, String)> {
    let mut out = OutFile::create(path)?;
    let written = (|| {
        let mut hashing = Hashing {
            out: BufWriter::with_capacity(BUFFER, &mut out),
            digest: Sha256::new(),
            bytes: 0,
        };
        act(&mut hashing)?;
        hashing.out.flush()?;
        Ok((hashing.bytes, hex(&hashing.digest.finalize())))
    })();
    let done = written.and_then(|written| out.sync().map(|()| written));
    if done.is_err() {
        // Best effort: the first failure is the one to tell.
        drop(remove(path));
    }
    done
}

/// Writes `path` by a temporary name: whatever fails, what stood there before stays.
pub fn replace(path: &Path, act: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let part = part_of(path, &token());
    write_new(&part, act)?;
    let named = rename(&part, path);
    if named.is_err() {
        // Best effort, as above.
        drop(remove(&part));
    }
    named.and_then(|()| sync_parent(path))
}

/// Gives `from` the name `to`, in place of what had it.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fault::before(fault::Operation::Rename, to)?;
    std::fs::rename(from, to)
}

/// Gives what is at `path` a second name: `path` with `.damaged-1`, or the next free number. Returns that name.
pub(crate) fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{number}"));
        let aside = PathBuf::from(name);
        fault::before(fault::Operation::Link, &aside)?;
        let linked = std::fs::hard_link(path, &aside).or_else(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                return Err(error);
            }
            // File systems without links.
            let bytes = std::fs::read(path)?;
            write_new(&aside, |out| out.write_all(&bytes)).map(|_written| ())
        });
        match linked {
            Ok(()) => return sync_parent(&aside).map(|()| aside),
            // It may have been set aside before.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if cfg!(unix) && File::open(path).is_ok_and(|file| is_at(&file, &aside)) {
                    return Ok(aside);
                }
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Removes a file; one that is not there is removed already.
pub fn remove(path: &Path) -> io::Result<()> {
    fault::before(fault::Operation::Remove, path)?;
    match std::fs::remove_file(path) {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Makes one folder, which must not exist.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    fault::before(fault::Operation::Folder, path)?;
    std::fs::create_dir(path)
}

/// Makes one folder that is closed to other users.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    fault::before(fault::Operation::Folder, path)?;
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Waits until the disk knows the names in `folder`.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    fault::before(fault::Operation::Sync, folder)?;
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        // File systems that cannot do that for folders; none of their other operations is in doubt.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    sync_folder(parent.unwrap_or(Path::new(".")))
}

/// The whole of a file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    fault::before(fault::Operation::Open, path)?;
    std::fs::read(path)
}

/// A file to read from.
pub fn open(path: &Path) -> io::Result<File> {
    fault::before(fault::Operation::Open, path)?;
    File::open(path)
}

/// Locks `file`, which is at `path`, for this program alone.
pub fn lock(file: &File, path: &Path) -> Result<(), std::fs::TryLockError> {
    fault::before(fault::Operation::Lock, path).map_err(std::fs::TryLockError::Error)?;
    file.try_lock()
}

/// Writes on and computes the SHA-256.
struct Hashing<W> {
    out: W,
    digest: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads on and computes the SHA-256.
pub(crate) struct HashingReader<R> {
    input: R,
    digest: Sha256,
}

impl<R: io::Read> HashingReader<R> {
    /// Around `input`.
    pub fn new(input: R) -> Self {
        Self {
            input,
            digest: Sha256::new(),
        }
    }

    /// Reads what is left and returns the hexadecimal digits of everything that was read.
    pub fn finish(mut self) -> io::Result<String> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(hex(&self.digest.finalize()))
    }
}

impl<R: io::Read> io::Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.digest.update(&buffer[..read]);
        Ok(read)
    }
}

/// Faults on request, for tests of builds with debug assertions: `ERGODIC_FAULT=kill:N` ends the program at operation N (a
/// write is torn in the middle), `full:N` lets operation N and all later ones that need room fail as on a full disk, `broken:N`
/// lets operation N alone fail. `list:1` names every operation on standard error.
mod fault {
    /// What is about to be done.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Operation {
        Create,
        Open,
        #[cfg(debug_assertions)]
        Write,
        Cut,
        Sync,
        Rename,
        Link,
        Remove,
        Folder,
        Lock,
    }

    #[cfg(not(debug_assertions))]
    pub fn before(_operation: Operation, _path: &std::path::Path) -> std::io::Result<()> {
        Ok(())
    }

    #[cfg(not(debug_assertions))]
    pub fn while_writing(
        _file: &mut std::fs::File,
        _bytes: &[u8],
        _path: &std::path::Path,
    ) -> std::io::Result<()> {
        Ok(())
    }

    #[cfg(debug_assertions)]
    pub use on_request::{before, while_writing};

    #[cfg(debug_assertions)]
    mod on_request {
        use std::fs::File;
        use std::io::{self, Write as _};
        use std::path::Path;
        use std::sync::OnceLock;
        use std::sync::atomic::{AtomicU64, Ordering};

        use super::Operation;

        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Kind {
            Kill,
            Full,
            Broken,
            List,
        }

        fn plan() -> Option<(Kind, u64)> {
            static PLAN: OnceLock<Option<(Kind, u64)>> = OnceLock::new();
            *PLAN.get_or_init(|| {
                let text = std::env::var("ERGODIC_FAULT").ok()?;
                let (kind, at) = text.split_once(':')?;
                let kind = match kind {
                    "kill" => Kind::Kill,
                    "full" => Kind::Full,
                    "broken" => Kind::Broken,
                    "list" => Kind::List,
                    _ => return None,
                };
                Some((kind, at.parse().ok()?))
            })
        }

        /// What is to happen to the present operation.
        fn next(operation: Operation, path: &Path) -> Option<Kind> {
            static COUNT: AtomicU64 = AtomicU64::new(0);
            let (kind, at) = plan()?;
            let number = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
            match kind {
                Kind::List => {
                    // Nobody reads it if standard error is closed.
                    drop(writeln!(
                        io::stderr(),
                        "operation {number}: {operation:?} {}",
                        path.display()
                    ));
                    None
                }
                Kind::Full => {
                    let needs_room = !matches!(
                        operation,
                        Operation::Open | Operation::Remove | Operation::Lock | Operation::Cut
                    );
                    (number >= at && needs_room).then_some(kind)
                }
                Kind::Kill | Kind::Broken => (number == at).then_some(kind),
            }
        }

        fn error(kind: Kind) -> io::Error {
            match kind {
                Kind::Full => io::ErrorKind::StorageFull.into(),
                _ => io::Error::other("a fault that was asked for"),
            }
        }

        /// Comes before every operation but writing.
        pub fn before(operation: Operation, path: &Path) -> io::Result<()> {
            match next(operation, path) {
                None => Ok(()),
                Some(Kind::Kill) => std::process::abort(),
                Some(kind) => Err(error(kind)),
            }
        }

        /// Comes before `bytes` are written; a fault leaves half of them.
        pub fn while_writing(file: &mut File, bytes: &[u8], path: &Path) -> io::Result<()> {
            let Some(kind) = next(Operation::Write, path) else {
                return Ok(());
            };
            file.write_all(&bytes[..bytes.len() / 2])?;
            if kind == Kind::Kill {
                std::process::abort();
            }
            Err(error(kind))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn folders_of_file_systems_that_cannot_sync_them_are_no_trouble() {
        assert!(File::open("/proc").unwrap().sync_all().is_err());
        sync_folder(Path::new("/proc")).unwrap();
        assert!(sync_folder(Path::new("/nonexistent")).is_err());
    }

    #[test]
    fn a_temporary_name_says_of_which_file_it_is() {
        let part = part_of(Path::new("a/draws.csv"), &token());
        assert_eq!(part.parent(), Some(Path::new("a")));
        let name = part.file_name().unwrap().to_str().unwrap();
        assert_eq!(whole_of(name), Some("draws.csv"));
        for other in [
            "draws.csv",
            "draws.csv.part",
            "draws.csv.0123456789abcdeg.part",
        ] {
            assert_eq!(whole_of(other), None);
        }
    }
}
