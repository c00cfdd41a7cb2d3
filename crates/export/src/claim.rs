//! The right to write a run into a folder: a lock that the operating system takes back from a program that ended.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::{ExportError, files};

/// File name of what is locked while a program writes the run.
pub const LOCK: &str = "journal.lock";
/// Attempts at a lock file that others remove at the same moment.
const ATTEMPTS: usize = 100;

/// The right to write a run into a folder, taken before anything in it is read or written. Dropping it gives the folder free
/// and removes folders that were made for it, should they still be empty.
#[derive(Debug)]
pub struct Claim {
    locked: File,
    folder: PathBuf,
    /// Folders that were made for it, outermost first.
    made: Vec<PathBuf>,
}

impl Claim {
    /// Claims an existing folder, as its last writer left it.
    ///
    /// # Errors
    /// Another program has it, or its lock cannot be made.
    pub(super) fn take(folder: &Path) -> Result<Self, ExportError> {
        Self::take_unless_busy(folder, Vec::new())?
            .ok_or_else(|| ExportError::Busy(folder.to_owned()))
    }

    /// Claims the folder; `None` if another program has it. `made` are folders that were made for it, outermost first; should
    /// it not be claimed they are removed again.
    pub(super) fn take_unless_busy(
        folder: &Path,
        made: Vec<PathBuf>,
    ) -> Result<Option<Self>, ExportError> {
        let locked = Self::lock(folder);
        match locked {
            Ok(Some(locked)) => Ok(Some(Self {
                locked,
                folder: folder.to_owned(),
                made,
            })),
            other => {
                remove_empty(&made);
                other.map(|_busy| None)
            }
        }
    }

    fn lock(folder: &Path) -> Result<Option<File>, ExportError> {
        let path = folder.join(LOCK);
        let failed = |error| {
            ExportError::at(
                "The folder cannot be claimed for the run, which needs a file that can be locked",
                error,
                &path,
            )
        };
        for _ in 0..ATTEMPTS {
            let file = match OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&path)
            {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    match files::open_in_place(&path) {
                        Ok(file) => file,
                        // The one that was there has just gone.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        Err(error) => return Err(failed(error)),
                    }
                }
                Err(error) => return Err(failed(error)),
            };
            match files::lock(&file, &path) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            // Whoever had the lock before may have removed the file since it was opened: then it locks nothing.
            if files::is_at(&file, &path) {
                return Ok(Some(file));
            }
        }
        Err(failed(io::ErrorKind::ResourceBusy.into()))
    }

    /// Whether another program has `folder`.
    pub(super) fn is_taken(folder: &Path) -> bool {
        let file = File::open(folder.join(LOCK));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let path = self.folder.join(LOCK);
        // Should the folder have been replaced, its lock is another's. A file that stays behind unlocked says nothing.
        if cfg!(unix) && files::is_at(&self.locked, &path) {
            drop(std::fs::remove_file(&path));
        }
        remove_empty(&self.made);
    }
}

/// Removes folders as far as they are empty, innermost first.
pub(super) fn remove_empty(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // One that holds something stays.
        drop(std::fs::remove_dir(folder));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_belongs_to_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let claim = Claim::take(folder.path()).unwrap();
        let second = Claim::take(folder.path()).unwrap_err();
        assert!(matches!(second, ExportError::Busy(_)), "{second}");
        drop(claim);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(Claim::take(folder.path()).unwrap());
    }

    #[test]
    fn many_at_once_never_have_it_together() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let inside = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        if let Ok(claim) = Claim::take(folder.path()) {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            std::thread::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                            drop(claim);
                        }
                    }
                });
            }
        });
    }

    #[test]
    #[cfg(unix)]
    fn a_lock_that_is_a_link_is_refused_and_its_target_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("elsewhere");
        let run = folder.path().join("run");
        std::fs::create_dir(&run).unwrap();
        std::os::unix::fs::symlink(&target, run.join(LOCK)).unwrap();
        let refused = || Claim::take(&run).unwrap_err().to_string();
        assert!(refused().contains("link"));
        assert!(!target.exists());
        std::fs::write(&target, "precious").unwrap();
        assert!(refused().contains("link"));
        assert_eq!(std::fs::read(&target).unwrap(), b"precious");
    }
}
