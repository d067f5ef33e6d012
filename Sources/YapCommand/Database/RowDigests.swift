import Crypto
import Yap

/// Digests of 128 bits of the rows after the lines read so far, because a later line may have the same key.
struct RowDigests {
    /// First bytes of a SHA-256.
    struct Digest: Hashable {
        private let first: UInt64
        private let second: UInt64

        /// Digest of a row's name.
        init(collection: String, key: String) throws {
            try self.init(Array(collection.utf8), Array(key.utf8))
        }

        /// Digest of an object and its metadata.
        init(_ bytes: YapDatabaseReadWriteTransaction.StoredBytes) throws {
            try self.init(bytes.data, bytes.metadata)
        }

        private init(_ first: [UInt8], _ second: [UInt8]?) throws {
            var hash = try SHA256()
            // The length marks the end of the first part. Its sign shows whether there is a second part.
            let length = Int64(first.count)
            try withUnsafeBytes(of: second == nil ? -1 - length : length) { try hash.update($0) }
            try hash.update(first)
            if let second { try hash.update(second) }
            let digest = try hash.finish()
            (self.first, self.second) = digest.withUnsafeBytes {
                ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
        }
    }

    /// Default maximum rows, which take up to 200 MB of memory.
    static let rowsMaxDefault = 3_000_000

    private let rowsMax: Int
    private var rows: [Digest: Digest] = [:]

    init(rowsMax: Int) { self.rowsMax = rowsMax }

    /// Returns the digest of a row after the lines read so far, or nil if no line named it.
    func row(_ name: Digest) -> Digest? { rows[name] }

    /// Records a row after a line.
    ///
    /// - Throws: `Failure.failed` if there are too many rows.
    mutating func set(_ row: Digest, for name: Digest, line: Int) throws {
        guard rows.updateValue(row, forKey: name) == nil, rows.count > rowsMax else { return }
        throw Failure.failed(
            "line \(line): more than \(rowsMax) rows can't be checked as a whole: split the file, or load it from a "
                + "pipe, which isn't checked first.")
    }
}
