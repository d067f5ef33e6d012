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
struct DownloadingExchange<Base: Exchange>: Exchange where Base.Event: FetchedRecordEvent {
    typealias Event = Base.Event
    typealias Output = Base.Output

    private var base: Base
    /// Where fetched files are; nil where none are fetched.
    private let cache: AssetCache?
    /// Events that wait for their files, in order.
    private var held: [Event] = []
    /// The files that the first of these still needs.
    private var missing: [FetchedAsset]?
    private var underWay: FetchedAsset?

    private let containerIdentifier: String
    /// Whether the files' checksums are of a kind that can be looked at here: Apple's aren't.
    private let checksumsAreOurs: Bool

    init(_ base: Base, address: RequestAddress) {
        self.base = base
        cache = address.assetCache
        containerIdentifier = address.containerIdentifier
        checksumsAreOurs = address.serverKind == .yap
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Output> {
        var ready: [Event] = []
        while let event = held.first {
            if missing == nil { missing = cache == nil ? [] : event.fetchedRecord?.assetsToFetch ?? [] }
            if let next = missing?.first {
                guard ready.isEmpty else { return .report(ready) }
                return .transfer(transfer(next))
            }
            ready.append(event)
            held.removeFirst()
            missing = nil
        }
        return ready.isEmpty ? try base.nextStep() : .report(ready)
    }

    private mutating func transfer(_ fetched: FetchedAsset) -> FileTransfer {
        underWay = fetched
        missing?.removeFirst()
        let checksum = fetched.asset.fileChecksum
        return FileTransfer(
            direction: .download, url: fetched.asset.downloadURL ?? "",
            fileURL: cache?.place(checksum: checksum ?? "") ?? URL(fileURLWithPath: "/dev/null"),
            bytes: fetched.asset.size, checksum: checksumsAreOurs ? checksum : nil)
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        guard let fetched = underWay else {
            held += base.receive(reply)
            return []
        }
        underWay = nil
        guard let event = held.first, var record = event.fetchedRecord, let cache else { return [] }
        do throws(CKError) {
            let response = try reply.get()
            guard (200..<300).contains(response.status) else { throw Message.refusal(response) }
            record.assetArrived(fetched, at: cache.place(checksum: fetched.asset.fileChecksum ?? ""))
            held[0] = event.with(.success(record))
        } catch {
            missing = []
            held[0] = event.with(.failure(error.ofAsset(fetched, in: containerIdentifier)))
        }
        return []
    }
}

extension CKError {
    /// The error of a file that couldn't be fetched, as its record's error.
    fileprivate func ofAsset(_ fetched: FetchedAsset, in container: String) -> CKError {
        let code = isOfTheNetwork || self.code == .operationCancelled ? self.code : .assetNotAvailable
        return CKError(
            code, "\(fetched.key): the file didn't come: \(bareMessage)", userInfo: userInfo
        ).naming(record: fetched.recordID, container: container)
    }
}

extension RecordState {
    /// The files of the record that lie on the server.
    fileprivate var assetsToFetch: [FetchedAsset] {
        let values = plain.values
        return values.keys.sorted().flatMap { key -> [FetchedAsset] in
            let assets: [CKAsset] =
                switch values[key] {
                case .asset(let asset)?: [asset]
                case .list(let elements)?:
                    elements.compactMap { if case .asset(let asset) = $0 { asset } else { nil } }
                default: []
                }
            return assets.compactMap { asset in
                guard asset.fileURL == nil, let fetched = asset.fetched, fetched.asset.fileChecksum != nil,
                    fetched.asset.downloadURL != nil
                else { return nil }
                return fetched
            }
        }
    }

    fileprivate mutating func assetArrived(_ fetched: FetchedAsset, at url: URL) {
        plain = plain.fetchedValues { key, value in
            key == fetched.key ? value.replacing(fetched, with: CKAsset(fetched, fileURL: url)) : value
        }
    }
}

extension RecordValue {
    fileprivate func replacing(_ fetched: FetchedAsset, with asset: CKAsset) -> RecordValue {
        switch self {
        case .asset(let old) where old.fetched == fetched: .asset(asset)
        case .list(let values): .list(values.map { $0.replacing(fetched, with: asset) })
        default: self
        }
    }
}
