import SQLite
import System

/// How a database is opened.
public struct YapDatabaseOptions: Sendable {
    /// When a commit waits for the disk.
    public enum Durability: Sendable {
        /// At each commit: a commit that returned survives the death of the process and losing power.
        case full
        /// At checkpoints: it survives the death of the process; losing power may lose the last commits.
        case normal
    }

    /// What opening does with a file that is damaged, or is no database at all.
    public enum CorruptAction: Sendable {
        /// Throws `corrupt` or `notADatabase`, and leaves the file as it is.
        case refuse
        /// Renames the file and its log, and creates an empty database.
        case rename
        /// Deletes the file and its log, and creates an empty database.
        case delete
    }

    /// What opening does with a file that is damaged. A file that is no database is always refused: it may be encrypted
    /// with another key, or of another kind. So are the databases of other programs, and those of a later version.
    ///
    /// Damage is found where opening reads the file: its header, its schema and a few rows of its own. `YapDatabase`
    /// reports in `corruption` what was done. Choose `rename` or `delete` only for a file that no other process has
    /// open.
    public var whenCorrupt = CorruptAction.refuse

    /// When a commit waits for the disk.
    public var durability = Durability.full
    /// How many rows of each collection a connection keeps decoded. 0 keeps none.
    public var cachedRowsPerCollectionMax = 1000
    /// How many changed keys a commit names. Beyond it, it says of each collection only that it changed.
    public var changedKeysPerCommitMax = 10_000
    /// The size from which the write-ahead log is written back to the file and cut, even if readers must be
    /// waited for.
    public var logBytesMax: Int64 = 8 << 20
    /// Maximum number of long-lived reads that are open. Each has an SQLite handle and caches as a connection.
    public var longLivedReadsMax = 16
    /// Size of the write-ahead log beyond which a long-lived read at an old commit expires: the log keeps what that
    /// read needs, and can't begin anew. `logBytesMax` is the minimum.
    public var longLivedReadLogBytesMax: Int64 = 64 << 20
    /// How long a write waits for another process's write before it throws `busy`. 0 never waits.
    public var busyTimeoutMilliseconds: Int32 = 5000
    /// Maximum bytes of memory for the pages of the file that the writer keeps. SQLite takes the memory as it reads
    /// pages, so a small file needs little. Each connection that reads has up to 2 MB besides.
    public var writerPageCacheBytesMax: Int64 = 32 << 20
    /// The key of an encrypted file. `nil`: the file isn't encrypted. It needs SQLCipher in the place of SQLite:
    /// without it, opening throws `encryptionUnavailable`.
    public var encryptionKey: EncryptionKey?
    /// How much of the file is read through a memory map; an encrypted file is never. 0 reads by calls.
    public var memoryMapBytes: Int64 = 0

    /// Whether observers are notified of the commits of other processes as they are made. A process that observes
    /// commits then keeps a file of 16 bytes beside the database: the database's name followed by `-notify`.
    /// False: such commits are noticed when a transaction begins here.
    public var observesOtherProcesses = true

    /// Whether opening reads a few objects of each collection, and fails when they are none of the registered type.
    /// False opens the file all the same; reading such an object throws, and `YapDatabase.modelWarnings` is empty.
    public var checksStoredObjects = true

    /// The SQLite VFS through which the file is reached, by name: tests and the simulator have their own.
    package var vfsName: String?
    /// From how many frames of the log a commit copies them into the file. The simulator takes few, so that it happens
    /// often.
    package var checkpointFrames: Int32?
    /// Where the database's identity among its processes comes from.
    package var random: any RandomSource = SystemRandomSource()

    /// Makes the options with their defaults.
    public init() {}

    /// How the writer's handle is opened.
    var writerSQLiteOptions: OpenOptions {
        var options = sqliteOptions
        options.cacheBytes = writerPageCacheBytesMax
        return options
    }

    /// How a reader's handle is opened.
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
