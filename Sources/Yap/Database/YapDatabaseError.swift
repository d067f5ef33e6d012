import SQLite

/// Why the database refused or failed: a code to decide by, where it happened, and what to do about it.
public struct YapDatabaseError: Error, Sendable {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The file is not an SQLite database, or it is encrypted with another key. It was left as it is.
        case notADatabase
        /// The file is an SQLite database of another program. It was left as it is.
        case notAYapDatabase
        /// The file was written by a later version of this library. It was left as it is.
        case unsupportedFormat
        /// The file is damaged. It was left as it is, and never is another put in its place.
        case corrupt
        /// The file can't be opened: no such folder, or no permission.
        case cannotOpen
        /// The disk is full. The transaction left no trace.
        case diskFull
        /// Another process holds the write lock for longer than the busy timeout. The transaction left no
        /// trace.
        case busy
        /// Reading from, writing to or syncing the file failed. The transaction left no trace.
        case inputOutput
        /// Another SQLite error.
        case sqlite
        /// The value can't be encoded.
        case encoding
        /// The stored bytes can't be decoded as the registered type.
        case decoding
        /// The value or the asked-for type is not the one that is registered for the collection.
        case typeMismatch
        /// No type is registered for the collection.
        case missingRegistration
        /// The transaction was used after its closure had ended, or a long-lived read after its end.
        case transactionEnded
        /// Rows of a collection were added or removed while it was iterated.
        case mutatedDuringIteration
        /// A transaction was begun inside another on the same thread, where it could only wait for itself.
        case nestedTransaction
        /// The transaction would wait for another thread's, which waits for one of this thread.
        case deadlock
        /// The connection doesn't permit such a transaction. Nothing was queued.
        case transactionNotPermitted
        /// The maximum number of long-lived reads are open.
        case tooManyLongLivedReads
        /// The write-ahead log had become too large because of the long-lived read, which stood at an old commit.
        case longLivedReadExpired
        /// The database was closed.
        case closed
        /// An extension tried to write in a transaction that only reads.
        case readOnlyTransaction
        /// An extension is described in a way that can't work, or is asked what it can't answer.
        case invalidExtension
        /// A vector has a wrong number of dimensions, a component that isn't a finite number, or no direction.
        case invalidVector
        /// No extension is registered under the name, or one of another class, or it is still being filled.
        case extensionNotRegistered
        /// An extension is already registered under the name.
        case extensionNameTaken
        /// An extension that it depends on is not registered, or lacks rows and can't be brought up to date here.
        case extensionDependencyMissing
        /// Extensions changed rows at the end of the transaction without coming to an end, or hooks did in each other.
        case extensionsDoNotSettle
        /// A registered extension can't undo a part of a transaction.
        case savepointUnsupported
        /// `encryptionKey` was given, and the loaded SQLite library has no encryption. No file was created or changed.
        case encryptionUnavailable
        /// A key of another length than 32 bytes, or a passphrase that is empty or has a NUL.
        case invalidEncryptionKey
        /// No reader of changes is registered under the name.
        case changeReaderNotRegistered
        /// A proxy has as many pending changes as it may have.
        case tooManyPendingChanges
        /// As many completions as a database may have were added and not called yet.
        case tooManyCompletions
        /// A group of an undo log changes more rows or bytes than a group may.
        case undoGroupTooLarge
        /// An undo log was to undo, redo or forget groups while a group or an undo is running.
        case undoInsideGroup
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, in words.
    public let message: String
    /// The collection it happened in, if one.
    public let collection: String?
    /// The key of the row it happened at, if one.
    public let key: String?
    /// The error beneath: SQLite's, or the coder's.
    public let underlying: (any Error)?

    init(
        _ code: Code, _ message: String, collection: String? = nil, key: String? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.collection = collection
        self.key = key
        self.underlying = underlying
    }

    init(_ error: SQLiteError, path: String? = nil) {
        let code: Code =
            if error.isBusy {
                .busy
            } else if error.isDiskFull {
                .diskFull
            } else if error.isNotADatabase {
                .notADatabase
            } else if error.isCorrupt {
                .corrupt
            } else if error.isCannotOpen || error.isReadOnly {
                .cannotOpen
            } else if error.isEncryptionUnavailable {
                .encryptionUnavailable
            } else if error.isInputOutput {
                .inputOutput
            } else {
                .sqlite
            }
        self.init(code, path.map { "\(error.message) (\($0))" } ?? error.message, underlying: error)
    }

    static func missingRegistration(ofCollection collection: String) -> YapDatabaseError {
        YapDatabaseError(
            .missingRegistration, "no type is registered for the collection", collection: collection)
    }

    /// What to do about it.
    public var advice: String {
        switch code {
        case .notADatabase: "check the path, and encryptionKey; to start anew, move the file away yourself"
        case .notAYapDatabase: "check the path; to start anew, move the file away yourself"
        case .unsupportedFormat: "open it with the version that wrote it, or a later one"
        case .corrupt: "keep the file for inspection and restore a backup"
        case .cannotOpen: "check that the folder exists and that file and folder may be written"
        case .diskFull: "free disk space, then try again"
        case .busy: "try again later, or raise busyTimeoutMilliseconds"
        case .inputOutput: "check the disk; what was committed before is still there"
        case .sqlite: "see the underlying error"
        case .encoding: "look at the value's encode(to:)"
        case .decoding: "make the type read what older versions wrote, or read serializedObject"
        case .typeMismatch: "use the type that is registered for the collection"
        case .missingRegistration: "call register(_:inCollection:) when the database is opened"
        case .transactionEnded: "use the transaction only inside its closure, or begin a new read"
        case .mutatedDuringIteration: "collect the keys first, then add or remove rows"
        case .readOnlyTransaction: "write in readWrite"
        case .invalidExtension: "change the description of the extension, or the query"
        case .invalidVector: "give vectors of the index's dimensions with finite components, or nil"
        case .nestedTransaction: "use the transaction that is open"
        case .deadlock: "read and write one after the other, not inside of each other's closures"
        case .transactionNotPermitted: "use another connection, or permit it in newConnection(name:permits:)"
        case .tooManyLongLivedReads: "end one, or raise longLivedReadsMax"
        case .longLivedReadExpired: "call moveToNewest() after commits, or raise longLivedReadLogBytesMax"
        case .closed: "open the database again"
        case .changeReaderNotRegistered: "call registerChangeReader(_:) after the database is opened"
        case .extensionNotRegistered, .extensionDependencyMissing: "register the extension first"
        case .extensionNameTaken: "unregister it, or use another name"
        case .extensionsDoNotSettle: "look at what hooks and flushPendingChangesToMainDatabaseTable write"
        case .savepointUnsupported: "write without a savepoint, or add makeRestorePoint() to the extension"
        case .encryptionUnavailable: "link SQLCipher 4 in place of SQLite, or open without a key"
        case .invalidEncryptionKey: "use 32 random bytes, or a passphrase"
        case .tooManyPendingChanges: "wait for flush() of the proxy, then try again"
        case .tooManyCompletions: "add one that does the work of many, and don't let it block"
        case .undoGroupTooLarge: "write without a group and call removeAll(), or raise the log's limits"
        case .undoInsideGroup: "call it before or after the group, or the undo"
        }
    }
}

extension YapDatabaseError: CustomStringConvertible {
    /// Code, message, place and advice in one line.
    public var description: String {
        var text = "\(code.rawValue): \(message)"
        if let collection { text += ", collection \"\(collection)\"" }
        if let key { text += ", key \"\(key)\"" }
        text += "; \(advice)"
        if let underlying { text += " (\(underlying))" }
        return text
    }
}
