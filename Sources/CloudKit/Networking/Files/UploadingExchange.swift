internal import CloudWire
import Foundation

/// Uploads the files of the records' assets, then saves and deletes records.
struct UploadingExchange: OperationExchange {
    typealias Event = ModifyRecordsExchange.Event

    /// Maximum files for which one request gets upload URLs.
    static let filesMax = 200

    private typealias File = (place: AssetLocation, asset: CKAsset)

    private enum Step {
        case addresses([File], zone: CKRecordZoneID)
        case file(File, FileTransfer)
    }

    private let address: RequestAddress
    private var recordTypes: [CKRecordID: String] = [:]
    /// Each file's part of its record's progress. All files count the same, because their sizes aren't known yet.
    private var parts: [AssetLocation: FileProgress] = [:]
    private let modify: @Sendable (AssetUploads) -> ModifyRecordsExchange
    private var waiting: [Step] = []
    /// Files that got a second upload URL. A service that was restored from a backup doesn't know the URLs that it gave
    /// out after the backup.
    private var lostAddresses: Set<AssetLocation> = []
    private var underWay: Step?
    private var uploads = AssetUploads()
    /// The error because of which nothing is saved.
    private var failure: CKError?
    /// Set after all uploads.
    private var modifying: ModifyRecordsExchange?

    init(
        saving records: [RecordState], deleting recordIDs: [CKRecordID],
        policy: CKModifyRecordsOperation.RecordSavePolicy, isAtomic: Bool,
        clientChangeToken: Data? = nil, address: RequestAddress
    ) {
        self.address = address
        modify = { uploads in
            ModifyRecordsExchange(
                saving: records, deleting: recordIDs, policy: policy, isAtomic: isAtomic,
                clientChangeToken: clientChangeToken, uploads: uploads, address: address)
        }
        // A request that will be rejected as a whole uploads no file.
        guard ModifyRecordsExchange.itemsMax >= records.count + recordIDs.count else { return }
        let files = records.flatMap { $0.files(for: policy) }
        guard !files.isEmpty else { return }
        recordTypes = Dictionary(records.map { ($0.recordID, $0.recordType) }) { first, _ in first }
        for ofRecord in files.grouped(by: { $0.place.recordID }) {
            let count = Double(ofRecord.count)
            for (index, file) in ofRecord.enumerated() {
                parts[file.place] = FileProgress(
                    recordID: file.place.recordID, begin: Double(index) / count,
                    end: Double(index + 1) / count)
            }
        }
        waiting = files.grouped { $0.place.recordID.zoneID }.flatMap { ofZone in
            ofZone.chunks(countMax: Self.filesMax).map { .addresses($0, zone: $0[0].place.recordID.zoneID) }
        }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Void> {
        if let failure { throw failure }
        guard !waiting.isEmpty else {
            var exchange = modifying ?? modify(uploads)
            // Avoids a copy of the exchange when it is changed.
            modifying = nil
            defer { modifying = exchange }
            return try exchange.nextStep()
        }
        let step = waiting.removeFirst()
        underWay = step
        switch step {
        case .file(_, let transfer): return .transfer(transfer)
        case .addresses(let files, let zoneID):
            let tokens = files.map { place, _ in
                AssetsUploadRequest.Token(
                    fieldName: place.key, recordType: recordTypes[place.recordID],
                    recordName: address.recordName(place.recordID))
            }
            let message = AssetsUploadRequest(tokens: tokens, zoneID: zoneID.wire)
            return .send(try address.request("assets/upload", message: message))
        }
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        guard let step = underWay else { return modifying?.receive(reply) ?? [] }
        underWay = nil
        if let error = reply.error, error.isOfTheWholeOperation {
            failure = error
            return []
        }
        switch step {
        case .addresses(let files, _): takeAddresses(files, reply)
        case .file(let file, _): takeUpload(of: file, reply)
        }
        return []
    }

    private mutating func takeUpload(of file: File, _ reply: Result<WireResponse, CKError>) {
        do throws(CKError) {
            uploads[file.place] = .success(
                try ResponseDecoder.decode(AssetUploadedResponse.self, from: reply).singleFile)
        } catch let error where error.code == .unknownItem {
            if lostAddresses.insert(file.place).inserted {
                replaceAddresses(of: file)
            } else {
                // The URL is unknown, not the record, and nothing was saved. So the error isn't one of the save.
                uploads[file.place] = .failure(
                    CKError(.assetNotAvailable, "The server rejected its own upload URL twice."))
            }
        } catch {
            uploads[file.place] = .failure(error)
        }
    }

    /// Gets new upload URLs for a file and for the pending files of its zone, which the server has lost too.
    private mutating func replaceAddresses(of file: File) {
        let zoneID = file.place.recordID.zoneID
        var files = [file]
        waiting.removeAll { step in
            guard case .file(let other, _) = step, other.place.recordID.zoneID == zoneID,
                lostAddresses.insert(other.place).inserted
            else { return false }
            files.append(other)
            return true
        }
        waiting.insert(.addresses(files, zone: zoneID), at: 0)
    }

    private mutating func takeAddresses(_ files: [File], _ reply: Result<WireResponse, CKError>) {
        do throws(CKError) {
            let response = try ResponseDecoder.decode(AssetsUploadResponse.self, from: reply)
            guard response.tokens.count == files.count else {
                throw .unreadable("\(response.tokens.count) addresses for \(files.count) files")
            }
            waiting =
                zip(files, response.tokens).compactMap { file, token in
                    guard let url = file.asset.fileURL else { return nil }
                    return .file(
                        file,
                        FileTransfer(
                            direction: .upload, url: token.url, fileURL: address.fileCopy(url) ?? url,
                            progress: parts[file.place]))
                } + waiting
        } catch let error where error.isOfTheWholeOperation {
            failure = error
        } catch {
            for (place, _) in files { uploads[place] = .failure(error) }
        }
    }
}
