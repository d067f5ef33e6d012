public import CloudKit
public import Yap

/// Returns the record that a row stands for, and the record's values.
///
/// It is called inside the write transaction that changes the row. `record` is nil for a row without a record: set a
/// record with all its values, or leave it nil to not sync the row. For a row that has a record, `record` has the
/// system fields and the values that this transaction has already changed: set the changed values. If the handler sets
/// it to nil, the row is no longer synced, and the record is deleted on the server.
///
/// With `QueueStorage.keysOnly` it is also called to read queued values again. Then `info.keysToRestore` has their
/// keys, and `record` has no values. Set exactly these values, from the current object.
public struct YapDatabaseCloudKitRecordHandler: Sendable {
    /// The changes for which the handler is called.
    public struct Invocation: OptionSet, Sendable {
        /// Bits of the set.
        public let rawValue: UInt8

        /// Makes a set from its bits.
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

    /// A handler that receives collection and key only.
    public typealias WithKey =
        @Sendable (
            _ transaction: YapDatabaseReadTransaction, _ record: inout CKRecord?, _ info: YDBCKRecordInfo,
            _ collection: String, _ key: String
        ) throws -> Void
    /// A handler that receives the object.
    public typealias WithObject =
        @Sendable (
            _ transaction: YapDatabaseReadTransaction, _ record: inout CKRecord?, _ info: YDBCKRecordInfo,
            _ collection: String, _ key: String, _ object: any Sendable
        ) throws -> Void
    /// A handler that receives the metadata.
    public typealias WithMetadata =
        @Sendable (
            _ transaction: YapDatabaseReadTransaction, _ record: inout CKRecord?, _ info: YDBCKRecordInfo,
            _ collection: String, _ key: String, _ metadata: (any Sendable)?
        ) throws -> Void
    /// A handler that receives object and metadata.
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

    /// Returns a handler that needs the key only. By default it is called for new rows only.
    public static func withKey(
        invocation: Invocation = [], _ block: @escaping WithKey
    ) -> YapDatabaseCloudKitRecordHandler {
        YapDatabaseCloudKitRecordHandler(block: .key(block), invocation: invocation)
    }

    /// Returns a handler that needs the object. By default it is called when the object is set or touched.
    public static func withObject(
        invocation: Invocation = [.objectModified, .objectTouched], _ block: @escaping WithObject
    ) -> YapDatabaseCloudKitRecordHandler {
        YapDatabaseCloudKitRecordHandler(block: .object(block), invocation: invocation)
    }

    /// Returns a handler that needs the metadata. By default it is called when the metadata is set or touched.
    public static func withMetadata(
        invocation: Invocation = [.metadataModified, .metadataTouched], _ block: @escaping WithMetadata
    ) -> YapDatabaseCloudKitRecordHandler {
        YapDatabaseCloudKitRecordHandler(block: .metadata(block), invocation: invocation)
    }

    /// Returns a handler that needs object and metadata. By default it is called when either is set or touched.
    public static func withRow(
        invocation: Invocation = [.objectModified, .objectTouched, .metadataModified, .metadataTouched],
        _ block: @escaping WithRow
    ) -> YapDatabaseCloudKitRecordHandler {
        YapDatabaseCloudKitRecordHandler(block: .row(block), invocation: invocation)
    }
}
