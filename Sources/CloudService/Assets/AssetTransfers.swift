import CloudStore
public import CloudWire
import System

/// A file that a client sends, from its first byte to its receipt. Its calls block.
public final class AssetUpload: Sendable {
    private let transfers: AssetTransfers
    private let claims: AssetClaims
    private let state: Lock<State>
    /// The user that the address was made for. Empty for a program with a server-to-server key.
    package var user: String { claims.user }

    private struct State {
        /// Nil when the file is finished or given up.
        var writer: (any StoredAssetWriter)?
        var bytes: Int64 = 0
        /// Those that count as under way.
        var countedBytes: Int64 = 0
    }

    fileprivate init(_ transfers: AssetTransfers, _ claims: AssetClaims, _ writer: any StoredAssetWriter) {
        self.transfers = transfers
        self.claims = claims
        state = Lock(State(writer: writer))
    }

    deinit { cancel() }

    /// Takes the next bytes.
    ///
    /// - Throws: when the file has become too large, the user has sent too much that no record has, or it can't be
    ///   written; then nothing of it is left.
    public func write(_ bytes: [UInt8]) throws(WireError) {
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

    /// Counts bytes to the user; false when the user has sent too much. A program that signs with a key has no limit.
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

    /// Ends the file, and answers with what a record's field is set to. The file is on the disk by then.
    ///
    /// - Throws: when it can't be written; then nothing of it is left.
    public func finish() throws(WireError) -> AssetUploadedResponse {
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

    /// Gives the file up. Does nothing after `finish`.
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

/// A file that a client fetches. May be used from any thread; its calls block.
public struct AssetDownload: Sendable {
    /// The file's size.
    public let bytes: Int64
    /// The same for the same bytes; without quotation marks.
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

    /// Up to `bytesMax` bytes from `offset` on; none at the end.
    ///
    /// - Throws: when the disk fails.
    public func read(at offset: Int64, bytesMax: Int) throws(WireError) -> [UInt8] {
        try AssetUpload.translating { try reader.read(at: offset, bytesMax: bytesMax) }
    }
}

/// Files on their way between clients and the disk.
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
