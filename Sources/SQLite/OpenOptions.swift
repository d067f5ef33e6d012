/// Options for opening a database file.
public struct OpenOptions: Sendable {
    /// Opens without permission to write. The file must exist.
    ///
    /// A file that this process may not write, or in a folder that it may not write, is opened without locks if no
    /// process has it open. A transaction then throws an error with `isBusy` if another process has written the file
    /// meanwhile. If locks are needed and the process lacks a permission for them, the error names it.
    public var readOnly = false
    /// Creates the file if it doesn't exist. If false, a missing file is an error.
    public var create = true
    /// Keeps the journal mode of a file that is opened for writing, instead of switching it to WAL.
    package var keepsJournalMode = false
    /// How long a call waits for another connection's lock before it throws an error with `isBusy`. 0 doesn't wait.
    public var busyTimeoutMilliseconds: Int32 = 5000
    /// Name of a registered SQLite VFS. Nil for the operating system's.
    public var vfsName: String?
    /// When a commit waits for the disk.
    public var synchronous = Synchronous.full
    /// Number of frames in the write-ahead log from which `commit()` also copies them to the file. The default is
    /// SQLite's.
    public var checkpointFrames: Int32 = 1000
    /// Bytes to which a write-ahead log is truncated after a checkpoint. Nil keeps its largest size.
    public var journalSizeLimitBytes: Int64? = 64 << 20
    /// Maximum bytes of the page cache. Nil for SQLite's default of 2 MB.
    public var cacheBytes: Int64?
    /// Bytes of the file that are read through a memory map. Nil for SQLite's default, none.
    public var mmapBytes: Int64?

    /// Key with which SQLCipher reads and writes the file. Nil for an unencrypted file. A library without encryption
    /// refuses to open with a key.
    public var encryptionKey: EncryptionKey?

    /// Creates options for reading and writing, creating the file if needed, with `Synchronous.full`.
    public init() {}
}

/// When a commit waits for the disk. The raw values are those of `PRAGMA synchronous`.
public enum Synchronous: Int, Sendable {
    /// Never. A power loss may lose commits and damage the file.
    case off = 0
    /// At checkpoints. A power loss may lose the last commits, but doesn't damage the file.
    case normal = 1
    /// At each commit. A commit that returned survives a power loss.
    case full = 2
    /// Like `full`, and the folder is synced when a rollback journal is deleted, which a write-ahead log doesn't
    /// need.
    case extra = 3
}
