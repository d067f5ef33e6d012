internal import CloudWire
import Foundation

/// An event of an exchange about a record.
protocol FetchedRecordEvent: Sendable {
    /// The record, if the event has one.
    var fetchedRecord: RecordState? { get }
    /// The same event with another result.
    func with(_ result: Result<RecordState, CKError>) -> Self
}

/// Runs another exchange, and downloads the files of the records' assets before it reports the records.
///
/// A file that the server doesn't send is an error of its record, unless the operation accepts the record without the
/// file. If the server can't be reached, is too busy, or the file can't be stored, the whole operation fails. So no
/// change token is reported that would skip the record.
struct DownloadingExchange<Base: OperationExchange>: OperationExchange where Base.Event: FetchedRecordEvent {
    typealias Event = Base.Event
    typealias Output = Base.Output

    private var base: Base
    /// The cache of fetched files; nil if no files are fetched.
    private let cache: AssetCache?
    /// Events that wait for their files, in order.
    private var held: ArraySlice<Event> = []
    private var failure: CKError?
    /// The files that the first of these events still needs.
    private var missing: [PendingDownload]?
    private var underWay: PendingDownload?

    private let containerIdentifier: String
    /// True if the files' checksums can be verified here. Apple's can't.
    private let checksumsAreOurs: Bool
    /// Decides how each file is handled. Nil requires all files.
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

/// A file on the server to download.
private struct PendingDownload: Sendable {
    var asset: FetchedAsset
    var transfer: FileTransfer
    /// True if the record is reported without the file when the server doesn't send it.
    var isOptional: Bool
}

extension CKError {
    /// Returns the error of a file that couldn't be fetched, as the error of its record.
    fileprivate func ofAsset(_ fetched: FetchedAsset, _ code: Code, in container: String) -> CKError {
        CKError(
            code, "\(fetched.key): the file couldn't be fetched: \(bareMessage)", userInfo: userInfo
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
    /// Returns the downloads that the record needs.
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

    /// The asset, or the assets of a list.
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
