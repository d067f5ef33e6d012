public import CloudKit
public import Yap

/// The app's answer to "which record, and which of its values, does this row stand for?"
///
/// It is called inside the write transaction that changes the row. `record` is nil for a row without a
/// record: leave it so and the row isn't synced; else set a record with all its values. For a row that has a
/// record, `record` holds the system fields and the values already changed in this transaction: set the
/// values that changed. A handler that sets it to nil takes the row out of sync and deletes the record on the
/// server.
///
/// With `QueueStorage.keysOnly` it is also called for what it has already said: then `info.keysToRestore` names the
/// keys with values that are needed again, and `record` has no values. Set exactly these, from the object as it is.
public struct YapDatabaseCloudKitRecordHandler: Sendable {
    /// For which changes the handler is called.
    public struct Invocation: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Makes a set of its bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The object was set.
        public static let objectModified = Invocation(rawValue: 1)
        /// The metadata was set.
        public static let metadataModified = Invocation(rawValue: 2)
        /// The object was touched.
        public static let objectTouched = Invocation(rawValue: 4)
        /// The metadata was touched.
        public static let metadataTouched = Invocation(rawValue: 8)
    }

    /// The handler that looks at collection and key only.
    public typealias WithKey =
        @Sendable (
            _ transaction: YapDatabaseReadTransaction, _ record: inout CKRecord?, _ info: YDBCKRecordInfo,
            _ collection: String, _ key: String
        ) throws -> Void
    /// The handler that looks at the object.
    public typealias WithObject =
        @Sendable (
            _ transaction: YapDatabaseReadTransaction, _ record: inout CKRecord?, _ info: YDBCKRecordInfo,
            _ collection: String, _ key: String, _ object: any Sendable
        ) throws -> Void
    /// The handler that looks at the metadata.
    public typealias WithMetadata =
        @Sendable (
            _ transaction: YapDatabaseReadTransaction, _ record: inout CKRecord?, _ info: YDBCKRecordInfo,
            _ collection: String, _ key: String, _ metadata: (any Sendable)?
        ) throws -> Void
    /// The handler that looks at object and metadata.
    public typealias WithRow =
        @Sendable (
            _ transaction: YapDatabaseReadTransaction, _ record: inout CKRecord?, _ info: YDBCKRecordInfo,
            _ collection: String, _ key: String, _ object: any Sendable, _ metadata: (any Sendable)?
        ) throws -> Void

    enum Block: Sendable {
        case key(WithKey)
        case object(WithObject)
        case metadata(WithMetadata)
        case row(WithRow)
    }

    let block: Block
    let invocation: Invocation

    /// Whether the block looks at the metadata.
    var needsMetadata: Bool {
        switch block {
        case .key, .object: false
        case .metadata, .row: true
        }
    }

    /// A handler that needs the key only; called for new rows only, unless `invocation` says otherwise.
    public static func withKey(
        invocation: Invocation = [], _ block: @escaping WithKey
    ) -> YapDatabaseCloudKitRecordHandler {
        YapDatabaseCloudKitRecordHandler(block: .key(block), invocation: invocation)
    }

    /// A handler that needs the object; called when it is set or touched.
    public static func withObject(
        invocation: Invocation = [.objectModified, .objectTouched], _ block: @escaping WithObject
    ) -> YapDatabaseCloudKitRecordHandler {
        YapDatabaseCloudKitRecordHandler(block: .object(block), invocation: invocation)
    }

    /// A handler that needs the metadata; called when it is set or touched.
    public static func withMetadata(
        invocation: Invocation = [.metadataModified, .metadataTouched], _ block: @escaping WithMetadata
    ) -> YapDatabaseCloudKitRecordHandler {
        YapDatabaseCloudKitRecordHandler(block: .metadata(block), invocation: invocation)
    }

    /// A handler that needs object and metadata; called when either is set or touched.
    public static func withRow(
        invocation: Invocation = [.objectModified, .objectTouched, .metadataModified, .metadataTouched],
        _ block: @escaping WithRow
    ) -> YapDatabaseCloudKitRecordHandler {
        YapDatabaseCloudKitRecordHandler(block: .row(block), invocation: invocation)
    }
}
