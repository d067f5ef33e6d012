import SQLite
import System

/// Options for opening a database.
///
/// ```swift
/// var options = YapDatabaseOptions()
/// options.durability = .normal
/// let database = try YapDatabase(url: url, options: options) {
///     $0.register(Todo.self, inCollection: "todos")
/// }
/// ```
public struct YapDatabaseOptions: Sendable {
    /// When a commit waits for the disk.
    public enum Durability: Sendable {
        /// At each commit. A commit that returned survives a killed process and a power loss.
        case full
        /// At checkpoints. A commit survives a killed process; a power loss may lose the last commits.
        case normal
    }

    /// The handling of a damaged file when opening it.
    public enum CorruptAction: Sendable {
        /// Throws `corrupt` or `notADatabase`, and doesn't change the file.
        case refuse
        /// Renames the file and its log, and creates an empty database.
        case rename
        /// Deletes the file and its log, and creates an empty database.
        case delete
    }

    /// The handling of a damaged file when opening it. Default: `refuse`. A file that isn't a database is
    /// always rejected, because it may be encrypted with another key or have another format. Databases of
    /// other programs and of later versions are rejected too.
    ///
    /// Opening detects damage in the parts that it reads: the header, the schema and a few rows of its own.
    /// `YapDatabase.corruption` reports the action. Choose `rename` or `delete` only if no other process has
    /// the file open.
    public var whenCorrupt = CorruptAction.refuse

    /// When a commit waits for the disk. Default: `full`.
    public var durability = Durability.full
    /// Maximum decoded rows of each collection that a connection caches. 0 caches none.
    public var cachedRowsPerCollectionMax = 1000
    /// Maximum changed keys that a commit names. Beyond it, the commit only says for each collection that it changed.
    public var changedKeysPerCommitMax = 10_000
    /// Bytes of the write-ahead log at which it is copied to the file and truncated, even if that has to wait for
    /// readers.
    public var logBytesMax: Int64 = 8 << 20
    /// Maximum number of open long-lived reads. Each has an SQLite handle and caches, as a connection has.
    public var longLivedReadsMax = 16
    /// Bytes of the write-ahead log beyond which a long-lived read at an old commit expires, because the log must
    /// keep what the read needs and can't restart. `logBytesMax` is the minimum.
    public var longLivedReadLogBytesMax: Int64 = 64 << 20
    /// How long a write waits for the write of another process before it throws `busy`. 0 doesn't wait.
    public var busyTimeoutMilliseconds: Int32 = 5000
    /// Maximum bytes of the writer's page cache. SQLite allocates memory as it reads pages, so a small file needs
    /// little. Each connection that reads has up to 2 MB more.
    public var writerPageCacheBytesMax: Int64 = 32 << 20
    /// Key of an encrypted file. Nil for an unencrypted file. It requires SQLCipher instead of SQLite;
    /// otherwise opening throws `encryptionUnavailable`.
    public var encryptionKey: EncryptionKey?
    /// Bytes of the file that are read through a memory map. 0, the default, maps nothing; an encrypted file is never
    /// mapped.
    public var memoryMapBytes: Int64 = 0

    /// Whether observers are notified of the commits of other processes as they are made. Default: true. A process
    /// that observes commits then keeps a file of 16 bytes beside the database, named after it with `-notify`. If
    /// false, such commits are noticed when a transaction begins in this process.
    public var observesOtherProcesses = true

    /// Whether opening decodes a few objects of each collection, and fails if they don't match the registered type.
    /// Default: true. If false, reading such an object throws, and `YapDatabase.modelWarnings` is empty.
    public var checksStoredObjects = true

    /// Name of the SQLite VFS. Tests and the simulator have their own.
    package var vfsName: String?
    /// Number of frames in the log from which a commit copies them to the file. The simulator uses few, so that it
    /// happens often.
    package var checkpointFrames: Int32?
    /// Source of the database's random identity among its processes.
    package var random: any RandomSource = SystemRandomSource()

    /// Creates the default options.
    public init() {}

    /// Options of the writer's handle.
    var writerSQLiteOptions: OpenOptions {
        var options = sqliteOptions
        options.cacheBytes = writerPageCacheBytesMax
        return options
    }

    /// Options of a reader's handle.
    var sqliteOptions: OpenOptions {
        var options = OpenOptions()
        options.synchronous = durability == .full ? .full : .normal
        options.busyTimeoutMilliseconds = busyTimeoutMilliseconds
        options.vfsName = vfsName
        options.journalSizeLimitBytes = logBytesMax
        options.encryptionKey = encryptionKey?.key
        // SQLCipher decrypts into pages of its own.
        options.mmapBytes = memoryMapBytes == 0 || encryptionKey != nil ? nil : memoryMapBytes
        if let checkpointFrames { options.checkpointFrames = checkpointFrames }
        return options
    }
}
