/// The bytes of the files that records hold, each found by the SHA-256 of its bytes: two records with the same file
/// share it. Calls may block.
public protocol AssetStore: Sendable {
    /// Begins a file. Nobody finds it before it is finished.
    ///
    /// - Throws: `CloudStoreError`.
    func begin() throws -> any StoredAssetWriter

    /// Opens the file `digest`; nil when there is none.
    ///
    /// - Throws: `CloudStoreError`.
    func open(_ digest: [UInt8]) throws -> (any StoredAssetReader)?

    /// Makes the file `digest` young again, so that the collection leaves it alone for a while; false when there is
    /// none.
    ///
    /// - Throws: `CloudStoreError`.
    func renew(_ digest: [UInt8]) throws -> Bool

    /// The files behind `after` (nil: from the first), in the order of their digests, `filesMax` at most.
    ///
    /// - Throws: `CloudStoreError`.
    func files(after: [UInt8]?, filesMax: Int) throws -> [AssetFileEntry]

    /// Removes the file `digest` when it was finished or renewed before `milliseconds` since 1970.
    ///
    /// - Returns: whether it was removed.
    /// - Throws: `CloudStoreError`.
    @discardableResult
    func remove(_ digest: [UInt8], ifOlderThan milliseconds: Int64) throws -> Bool

    /// Lets one bounded step of the collection remove files for as long as the result is held; nil while nothing may
    /// be removed.
    ///
    /// - Throws: what keeps the collection from knowing.
    func holdForCollection() throws -> (any AnyObject & Sendable)?
}

/// A file that is being written. Used by one thread at a time.
public protocol StoredAssetWriter: AnyObject {
    /// Appends bytes.
    ///
    /// - Throws: `CloudStoreError`; then the file is gone.
    func write(_ bytes: [UInt8]) throws

    /// Ends the file. When this returns it lies on the disk whole, under its digest, whatever happens next.
    ///
    /// - Throws: `CloudStoreError`; then the file is gone.
    func finish() throws -> AssetUse

    /// Gives the file up. Does nothing after `finish`.
    func cancel()
}

/// A file that is being read. May be used from any thread.
public protocol StoredAssetReader: Sendable {
    /// The file's size.
    var bytes: Int64 { get }

    /// Up to `bytesMax` bytes from `offset` on; none at the end.
    ///
    /// - Throws: `CloudStoreError`.
    func read(at offset: Int64, bytesMax: Int) throws -> [UInt8]
}

/// A file as the collection sees it.
public struct AssetFileEntry: Hashable, Sendable {
    /// The SHA-256 of its bytes.
    public let digest: [UInt8]
    /// Its size.
    public let bytes: Int64
    /// When it was finished or renewed, in milliseconds since 1970.
    public let atMilliseconds: Int64

    /// Makes an entry.
    public init(digest: [UInt8], bytes: Int64, atMilliseconds: Int64) {
        self.digest = digest
        self.bytes = bytes
        self.atMilliseconds = atMilliseconds
    }
}
