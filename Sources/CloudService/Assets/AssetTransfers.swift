import CloudStore
import CloudWire
import System

/// An upload of a file, from its first byte to its receipt. Its calls block.
public final class AssetUpload: Sendable {
    private let transfers: AssetTransfers
    private let claims: AssetClaims
    private let state: Lock<State>
    /// The user for whom the address was issued. Empty for a program with a server-to-server key.
    package var user: String { claims.user }

    private struct State {
        /// Nil once the upload is finished or cancelled.
        var writer: (any StoredAssetWriter)?
        var bytes: Int64 = 0
        /// Bytes that are counted as in progress.
        var countedBytes: Int64 = 0
    }

    fileprivate init(_ transfers: AssetTransfers, _ claims: AssetClaims, _ writer: any StoredAssetWriter) {
        self.transfers = transfers
        self.claims = claims
        state = Lock(State(writer: writer))
    }

    deinit { cancel() }

    /// Writes the next bytes.
    ///
    /// - Throws: if the file exceeds its maximum, the user has too many unsaved bytes, or the write fails;
    ///   then the file is deleted.
    package func write(_ bytes: [UInt8]) throws(WireError) {
        let limits = transfers.tickets.limits
        try Self.translating {
            let (givenUp, error) = state.withLock { state -> ((any StoredAssetWriter)?, (any Error)?) in
                state.bytes += Int64(bytes.count)
                guard state.bytes <= limits.fileBytesMax else {
                    return (giveUp(&state), ServiceError.fileTooLarge(bytesMax: limits.fileBytesMax))
                }
                guard let writer = state.writer else { return (nil, nil) }
                guard count(bytes.count, in: &state) else {
                    return (giveUp(&state), ServiceError.tooMuchUnsaved)
                }
                do {
                    try writer.write(bytes)
                    return (nil, nil)
                } catch {
                    return (giveUp(&state), error)
                }
            }
            givenUp?.cancel()
            if let error { throw error }
        }
    }

    /// Counts bytes for the user. Returns false if the user has uploaded too much. A program that signs with
    /// a key has no limit.
    private func count(_ bytesCount: Int, in state: inout State) -> Bool {
        guard !user.isEmpty else { return true }
        let bytes = Int64(bytesCount)
        let isAdmitted = transfers.unsaved.grow(user, by: bytes, ownBytes: state.countedBytes)
        if isAdmitted { state.countedBytes += bytes }
        return isAdmitted
    }

    /// Returns the writer, for the caller to cancel after the lock.
    private func giveUp(_ state: inout State) -> (any StoredAssetWriter)? {
        endCount(&state)
        defer { state.writer = nil }
        return state.writer
    }

    private func endCount(_ state: inout State) {
        let bytes = state.countedBytes
        state.countedBytes = 0
        if bytes > 0 { transfers.unsaved.end(user, bytes: bytes) }
    }

    /// Finishes the upload, and returns the value for the record's field. The file is durable then.
    ///
    /// - Throws: if the file can't be written; then it is deleted.
    package func finish() throws(WireError) -> AssetUploadedResponse {
        try Self.translating {
            let writer = state.withLock { state in
                defer { state.writer = nil }
                return state.writer
            }
            guard let writer else { throw ServiceError.noSuchUpload }
            let use = try finish(writer)
            let file = StoredAsset(digest: use.digest, bytes: use.bytes)
            transfers.unsaved.remember(use, of: claims.user)
            let zone = ZoneKey(database: claims.database, zoneName: claims.zoneName)
            var receipt = transfers.tickets.receipt(for: file, in: zone, user: claims.user)
            receipt.recordName = claims.recordName
            receipt.recordType = claims.recordType
            receipt.fieldName = claims.fieldName
            var asset = file.told(in: claims.database.scope)
            asset.receipt = try receipt.signed(transfers.tickets.secret.value())
            return AssetUploadedResponse(singleFile: asset)
        }
    }

    private func finish(_ writer: any StoredAssetWriter) throws -> AssetUse {
        defer { state.withLock { endCount(&$0) } }
        return try writer.finish()
    }

    /// Cancels the upload. Does nothing after `finish`.
    public func cancel() {
        state.withLock { giveUp(&$0) }?.cancel()
    }

    fileprivate static func translating<Result>(_ body: () throws -> Result) throws(WireError) -> Result {
        do {
            return try body()
        } catch {
            throw ServiceFailure.wireError(error)
        }
    }
}

/// A file that a client downloads. May be used from any thread. Its calls block.
public struct AssetDownload: Sendable {
    /// The file's size.
    public let bytes: Int64
    /// A checksum of the bytes, without quotation marks.
    public let checksum: String
    /// Milliseconds until the address expires.
    public let remainingMilliseconds: Int64
    private let reader: any StoredAssetReader

    fileprivate init(_ file: StoredAsset, _ reader: any StoredAssetReader, remainingMilliseconds: Int64) {
        bytes = file.bytes
        checksum = file.checksumInAddress
        self.reader = reader
        self.remainingMilliseconds = remainingMilliseconds
    }

    /// Reads up to `bytesMax` bytes from `offset` on. Empty at the end.
    ///
    /// - Throws: if the read fails.
    package func read(at offset: Int64, bytesMax: Int) throws(WireError) -> [UInt8] {
        try AssetUpload.translating { try reader.read(at: offset, bytesMax: bytesMax) }
    }
}

/// Uploads and downloads of files.
struct AssetTransfers: Sendable {
    let store: any CloudStore
    let clock: any TimeSource
    let tickets: AssetTickets
    let unsaved: UnsavedFiles

    func begin(ticket: String) throws(WireError) -> AssetUpload {
        try AssetUpload.translating {
            guard let claims = try tickets.checked(ticket, for: .upload) else {
                throw ServiceError.noSuchUpload
            }
            guard try unsaved.admits(claims.user) else { throw ServiceError.tooMuchUnsaved }
            return AssetUpload(self, claims, try tickets.files.begin())
        }
    }

    func open(checksum: String, ticket: String) throws(WireError) -> AssetDownload {
        try AssetUpload.translating {
            let now = clock.nowMilliseconds()
            guard let claims = try tickets.checked(ticket, for: .download), let file = claims.file,
                file.checksumInAddress == checksum
            else {
                throw ServiceError.noSuchFile
            }
            let owned = OwnedAsset(database: claims.database, digest: file.digest)
            var wanted = StoreLoad()
            wanted.assets.owned = [owned]
            let question = wanted
            guard try store.read({ try $0.load(question) }).assets.owned[owned] != nil,
                let reader = try tickets.files.open(file.digest), reader.bytes == file.bytes
            else { throw ServiceError.noSuchFile }
            return AssetDownload(file, reader, remainingMilliseconds: claims.expiresMilliseconds - now)
        }
    }
}
