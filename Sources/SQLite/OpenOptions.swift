/// How a database file is opened.
public struct OpenOptions: Sendable {
    /// Opens without permission to write. The file must exist.
    ///
    /// A file that this process may not write, or that lies in a folder that it may not write, is opened without locks
    /// if no process has it open. A transaction then throws an error with `isBusy` if another process has written the
    /// file meanwhile. If locks are needed and the process lacks a permission for them, the error names it.
    public var readOnly = false
    /// Creates the file when there is none. Without it a missing file is an error.
    public var create = true
    /// Leaves a file that is opened for writing in the journal mode that it has, rather than switching it to WAL.
    package var keepsJournalMode = false
    /// How long a call waits for another connection's lock before it throws an error with `isBusy`. 0 never waits.
    public var busyTimeoutMilliseconds: Int32 = 5000
    /// The name of a registered SQLite VFS. `nil` takes the operating system's.
    public var vfsName: String?
    /// When a commit waits for the disk.
    public var synchronous = Synchronous.full
    /// From how many frames in the write-ahead log `commit()` also copies them into the file. The default is SQLite's.
    public var checkpointFrames: Int32 = 1000
    /// The size to which a write-ahead log is cut after a checkpoint. `nil` leaves it as large as it ever was.
    public var journalSizeLimitBytes: Int64? = 64 << 20
    /// The most memory for pages of the file. `nil` takes SQLite's default of 2 MB.
    public var cacheBytes: Int64?
    /// How much of the file is read through a memory map. `nil` takes SQLite's default, none.
    public var mmapBytes: Int64?

    /// The key with which SQLCipher reads and writes the file. `nil`: the file isn't encrypted. A library without
    /// encryption refuses to open with a key.
    public var encryptionKey: EncryptionKey?

    /// Makes options for reading and writing, creating the file if needed, with `Synchronous.full`.
    public init() {}
}

/// When a commit waits for the disk. The raw values are those of `PRAGMA synchronous`.
public enum Synchronous: Int, Sendable {
    /// Never. Losing power may lose commits and damage the file.
    case off = 0
    /// At checkpoints. Losing power may lose the last commits, and keeps the file sound.
    case normal = 1
    /// At each commit. A commit that returned survives losing power.
    case full = 2
    /// As `full`, and the folder is synced when a rollback journal goes, which a write-ahead log doesn't need.
    case extra = 3
}
