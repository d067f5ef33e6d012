/// Storage of the files of records. Each file is found by the SHA-256 of its bytes: two records with the same file
/// share it. Calls may block.
package protocol AssetStore: Sendable {
    /// Starts a new file. It can be opened after `finish`.
    ///
    /// - Throws: `CloudStoreError`.
    func begin() throws -> any StoredAssetWriter

    /// Opens the file `digest`, or returns nil if it doesn't exist.
    ///
    /// - Throws: `CloudStoreError`.
    func open(_ digest: [UInt8]) throws -> (any StoredAssetReader)?

    /// Sets the time of the file `digest` to now, so that the collection keeps it for a while.
    ///
    /// - Returns: False if the file doesn't exist.
    ///
    /// - Throws: `CloudStoreError`.
    func renew(_ digest: [UInt8]) throws -> Bool

    /// Returns the files that follow `after` (nil for the first page), sorted by digest. Maximum `filesMax` files.
    ///
    /// - Throws: `CloudStoreError`.
    func files(after: [UInt8]?, filesMax: Int) throws -> [AssetFileEntry]

    /// Removes the file `digest` if it was finished or renewed before `milliseconds` since 1970.
    ///
    /// - Returns: True if it was removed.
    /// - Throws: `CloudStoreError`.
    @discardableResult
    func remove(_ digest: [UInt8], ifOlderThan milliseconds: Int64) throws -> Bool

    /// Allows one step of the collection to remove files while the result is held.
    ///
    /// - Returns: Nil if nothing may be removed now.
    /// - Throws: The error that prevents the check.
    func holdForCollection() throws -> (any AnyObject & Sendable)?
}

/// A file that is being written. One thread at a time uses it.
package protocol StoredAssetWriter: AnyObject {
    /// Appends bytes.
    ///
    /// - Throws: `CloudStoreError`; then the file is deleted.
    func write(_ bytes: [UInt8]) throws

    /// Finishes the file. When this returns, the file is on disk under its digest, and a crash doesn't lose
    /// it.
    ///
    /// - Throws: `CloudStoreError`; then the file is deleted.
    func finish() throws -> AssetUse

    /// Deletes the file. Does nothing after `finish`.
    func cancel()
}

/// A file that is being read. Any thread can use it.
package protocol StoredAssetReader: Sendable {
    /// Size of the file in bytes.
    var bytes: Int64 { get }

    /// Returns up to `bytesMax` bytes from `offset` on, or an empty array at the end.
    ///
    /// - Throws: `CloudStoreError`.
    func read(at offset: Int64, bytesMax: Int) throws -> [UInt8]
}

/// A file in a listing for the collection.
package struct AssetFileEntry: Hashable, Sendable {
    /// SHA-256 of its bytes.
    package let digest: [UInt8]
    /// Size in bytes.
    package let bytes: Int64
    /// Time when it was finished or renewed, in milliseconds since 1970.
    package let atMilliseconds: Int64

    /// Makes an entry.
    package init(digest: [UInt8], bytes: Int64, atMilliseconds: Int64) {
        self.digest = digest
        self.bytes = bytes
        self.atMilliseconds = atMilliseconds
    }
}
