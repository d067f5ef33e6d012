internal import CloudWire
import Foundation

/// Something that an exchange tells of a record.
protocol FetchedRecordEvent: Sendable {
    /// The record, when there is one.
    var fetchedRecord: RecordState? { get }
    /// The same of another outcome.
    func with(_ result: Result<RecordState, CKError>) -> Self
}

/// Does what another exchange does, and fetches the files of the records' assets before a record is told.
///
/// What the server says of a file is an error of its record, unless the operation takes the record without the file.
/// Where the server couldn't be asked or is too busy, or the file couldn't be kept, the whole ends: so no token is told
/// behind which the record would be missed.
struct DownloadingExchange<Base: OperationExchange>: OperationExchange where Base.Event: FetchedRecordEvent {
    typealias Event = Base.Event
    typealias Output = Base.Output

    private var base: Base
    /// Where fetched files are; nil where none are fetched.
    private let cache: AssetCache?
    /// Events that wait for their files, in order.
    private var held: ArraySlice<Event> = []
    private var failure: CKError?
    /// The files that the first of these still needs.
    private var missing: [PendingDownload]?
    private var underWay: PendingDownload?

    private let containerIdentifier: String
    /// Whether the files' checksums are of a kind that can be looked at here: Apple's aren't.
    private let checksumsAreOurs: Bool
    /// Decides what becomes of each file. Nil requires all files.
    private let handling: AssetHandlingRule?

    init(_ base: Base, address: RequestAddress, handling: AssetHandlingRule? = nil) {
        self.base = base
        cache = address.assetCache
        containerIdentifier = address.containerIdentifier
        checksumsAreOurs = address.serverKind == .yap
        self.handling = checksumsAreOurs ? handling : nil
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Output> {
        if let failure { throw failure }
        var ready: [Event] = []
        while let event = held.first {
            if missing == nil { missing = downloads(of: event) }
            if let next = missing?.first {
                guard ready.isEmpty else { return .report(ready) }
                underWay = next
                missing?.removeFirst()
                return .transfer(next.transfer)
            }
            ready.append(event)
            held = held.dropFirst()
            missing = nil
        }
        return ready.isEmpty ? try base.nextStep() : .report(ready)
    }

    private func downloads(of event: Event) -> [PendingDownload] {
        guard let cache, let record = event.fetchedRecord else { return [] }
        return record.downloads(to: cache, checksChecksums: checksumsAreOurs, handling: handling)
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        guard let download = underWay else {
            let events = base.receive(reply)
            held = (checksumsAreOurs ? events : events.map { $0.markingForeignChecksums() })[...]
            return []
        }
        underWay = nil
        guard let event = held.first, var record = event.fetchedRecord else { return [] }
        do throws(CKError) {
            let response = try reply.get()
            guard (200..<300).contains(response.status) else { throw ResponseDecoder.refusal(response) }
            record.assetArrived(download.asset, at: download.transfer.fileURL)
            held[held.startIndex] = event.with(.success(record))
        } catch {
            let isOfTheFile = reply.error.map { $0.code == .assetNotAvailable } ?? true
            let isOfAll = !isOfTheFile || error.isOfTheWholeOperation
            if !isOfAll, download.isOptional { return [] }
            let ofAsset = error.ofAsset(
                download.asset, isOfAll ? error.code : .assetNotAvailable, in: containerIdentifier)
            if isOfAll { failure = ofAsset }
            missing = []
            held[held.startIndex] = event.with(.failure(ofAsset))
        }
        return []
    }
}

/// A file of a record that lies on the server, and how it is fetched.
private struct PendingDownload: Sendable {
    var asset: FetchedAsset
    var transfer: FileTransfer
    /// Whether the record is reported without the file when the server can't send it.
    var isOptional: Bool
}

extension CKError {
    /// The error of a file that couldn't be fetched, as its record's error.
    fileprivate func ofAsset(_ fetched: FetchedAsset, _ code: Code, in container: String) -> CKError {
        CKError(
            code, "\(fetched.key): the file didn't come: \(bareMessage)", userInfo: userInfo
        ).naming(record: fetched.recordID, container: container)
    }
}

extension FetchedRecordEvent {
    fileprivate func markingForeignChecksums() -> Self {
        guard var record = fetchedRecord, record.plain.hasAssets else { return self }
        record.plain = record.plain.fetchedValues { _, value in value.markingForeignChecksums() }
        return with(.success(record))
    }
}

extension RecordFieldValue {
    fileprivate func markingForeignChecksums() -> RecordFieldValue {
        switch self {
        case .asset(let asset):
            guard var fetched = asset.fetched else { return self }
            fetched.hasForeignChecksum = true
            return .asset(CKAsset(fetched, fileURL: asset.fileURL))
        case .list(let values): return .list(values.map { $0.markingForeignChecksums() })
        default: return self
        }
    }
}

extension RecordState {
    /// How the files of the record come that lie on the server.
    fileprivate func downloads(
        to cache: AssetCache, checksChecksums: Bool, handling: AssetHandlingRule?
    ) -> [PendingDownload] {
        guard plain.hasAssets else { return [] }
        var downloads: [PendingDownload] = []
        var bytes: Int64 = 0
        for (key, value) in plain.values.sorted(by: { $0.key < $1.key }) {
            for asset in value.assets where asset.fileURL == nil {
                guard let fetched = asset.fetched, let checksum = fetched.asset.fileChecksum,
                    let url = fetched.asset.downloadURL, fetched.key == key
                else { continue }
                let handling = handling?(recordID, recordType, key, asset) ?? .required
                if handling == .left { continue }
                var transfer = FileTransfer(
                    direction: .download, url: url, fileURL: cache.place(checksum: checksum),
                    bytes: fetched.asset.size, checksum: checksChecksums ? checksum : nil)
                let begin = bytes
                bytes += fetched.asset.size ?? 0
                transfer.progress = FileProgress(
                    recordID: recordID, begin: Double(begin), end: Double(bytes))
                downloads.append(
                    PendingDownload(
                        asset: fetched, transfer: transfer, isOptional: handling == .optional))
            }
        }
        for index in downloads.indices {
            downloads[index].transfer.progress?.begin /= Double(max(1, bytes))
            downloads[index].transfer.progress?.end /= Double(max(1, bytes))
        }
        return downloads
    }

    fileprivate mutating func assetArrived(_ fetched: FetchedAsset, at url: URL) {
        plain = plain.fetchedValues { key, value in
            key == fetched.key ? value.replacing(fetched, with: CKAsset(fetched, fileURL: url)) : value
        }
    }
}

extension RecordFieldValue {
    var hasAssets: Bool {
        switch self {
        case .asset: true
        case .list(let values): values.contains(where: \.hasAssets)
        default: false
        }
    }

    /// The asset, or those of a list.
    var assets: [CKAsset] {
        switch self {
        case .asset(let asset): [asset]
        case .list(let values): values.flatMap(\.assets)
        default: []
        }
    }

    fileprivate func replacing(_ fetched: FetchedAsset, with asset: CKAsset) -> RecordFieldValue {
        switch self {
        case .asset(let old) where old.fetched == fetched: .asset(asset)
        case .list(let values): .list(values.map { $0.replacing(fetched, with: asset) })
        default: self
        }
    }
}
