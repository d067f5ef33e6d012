import SQLite

/// An error of the database: a code to decide by, where it happened, and what to do about it.
public struct YapDatabaseError: Error, Sendable {
    /// Kinds of errors.
    public enum Code: String, Sendable {
        /// The file isn't an SQLite database, or it is encrypted with another key. It wasn't changed.
        case notADatabase
        /// The file is an SQLite database of another program. It wasn't changed.
        case notAYapDatabase
        /// The file was written by a later version of this library. It wasn't changed.
        case unsupportedFormat
        /// The file is damaged. It wasn't changed or replaced.
        case corrupt
        /// The file can't be opened: the folder is missing, or permission is denied.
        case cannotOpen
        /// The disk is full. Nothing of the transaction was kept.
        case diskFull
        /// Another process held the write lock longer than the busy timeout. Nothing of the transaction was kept.
        case busy
        /// Reading, writing or syncing the file failed. Nothing of the transaction was kept.
        case inputOutput
        /// Another SQLite error.
        case sqlite
        /// The value can't be encoded.
        case encoding
        /// The stored bytes can't be decoded as the registered type.
        case decoding
        /// The value or the requested type isn't the type that is registered for the collection.
        case typeMismatch
        /// No type is registered for the collection.
        case missingRegistration
        /// The transaction was used after its closure had ended, or a long-lived read after its end.
        case transactionEnded
        /// Rows of a collection were added or removed while it was iterated.
        case mutatedDuringIteration
        /// A transaction was begun inside another one on the same thread, and would wait for itself.
        case nestedTransaction
        /// The transaction would wait for a transaction of another thread, which waits for one of this thread.
        case deadlock
        /// The connection doesn't permit this kind of transaction. Nothing was queued.
        case transactionNotPermitted
        /// The maximum number of long-lived reads are open.
        case tooManyLongLivedReads
        /// The write-ahead log became too large because of this long-lived read, which was at an old commit.
        case longLivedReadExpired
        /// The database was closed.
        case closed
        /// An extension tried to write in a read-only transaction.
        case readOnlyTransaction
        /// The description of an extension is invalid, or the extension doesn't support the request.
        case invalidExtension
        /// A vector has the wrong number of dimensions, a component that isn't finite, or length zero.
        case invalidVector
        /// No extension is registered under the name, it has another class, or it is still being filled.
        case extensionNotRegistered
        /// An extension is already registered under the name.
        case extensionNameTaken
        /// An extension that this one depends on isn't registered, or lacks rows and can't catch up here.
        case extensionDependencyMissing
        /// Extensions kept changing rows at the end of the transaction, or hooks called each other without an end.
        case extensionsDoNotSettle
        /// A registered extension can't undo a part of a transaction.
        case savepointUnsupported
        /// `encryptionKey` was set, but the loaded SQLite library has no encryption. No file was created or changed.
        case encryptionUnavailable
        /// The key isn't 32 bytes long, or the passphrase is empty or contains a NUL.
        case invalidEncryptionKey
        /// No reader of changes is registered under the name.
        case changeReaderNotRegistered
        /// The proxy has reached its maximum of pending changes.
        case tooManyPendingChanges
        /// The database has reached its maximum of pending completions.
        case tooManyCompletions
        /// A group of an undo log changes more rows or bytes than its maximum.
        case undoGroupTooLarge
        /// Undo, redo or forget was called on an undo log while a group or an undo is running.
        case undoInsideGroup
    }

    /// Kind of the error.
    public let code: Code
    /// Description of the error.
    public let message: String
    /// The collection in which it happened, if known.
    public let collection: String?
    /// The key of the row at which it happened, if known.
    public let key: String?
    /// The underlying error of SQLite or of the coder.
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

    /// Suggested remedy.
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
