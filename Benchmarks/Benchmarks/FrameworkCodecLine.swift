import CloudKit
import CloudService
import CloudStore
import CloudWire
import Foundation
import Seams

/// The wire coding of fifty records, to the bytes of a message and back, against Foundation's JSON coding of the same
/// content by `Codable`. What it costs to have them as objects of the app besides, through whole operations, is told
/// beside it.
final class CodecRun: LineRun {
    private static let recordsCount = 50
    private static let batchesCount = 100

    private let database: CKDatabase
    private let records: [CKRecord]
    private let answer: [UInt8]
    private let message: RecordsResponse
    private let page: CodedPage

    init() throws {
        let names = (0..<Self.recordsCount).map(BenchRecords.name)
        let service = benchService(MemoryCloudStore())
        let saved = try Recording.answer(toSaveOf: names, service: service)
        answer = try Recording.answer(toLookupOf: names, service: service)
        let transport = CannedTransport(saved: saved, fetched: answer)
        database =
            CKContainer(
                identifier: ServiceRequests.container,
                connection: CloudConnection(transport: transport, execution: .inline, webAuthToken: "t")
            ).privateCloudDatabase
        records = BenchRecords.records(Self.recordsCount, named: BenchRecords.name)
        message = try RecordsResponse(json: answer)
        page = try JSONDecoder().decode(CodedPage.self, from: Data(answer))
    }

    func ours() throws -> Double {
        try measured {
            let back = try RecordsResponse(json: self.message.json())
            guard back.records.count == Self.recordsCount else { throw BenchError("records are lost") }
        }
    }

    func reference() throws -> Double {
        try measured {
            let data = try JSONEncoder().encode(self.page)
            let back = try JSONDecoder().decode(CodedPage.self, from: data)
            guard back.records.count == Self.recordsCount else { throw BenchError("records are lost") }
        }
    }

    func remarks() throws -> [LineRemark] {
        let rounds = 0..<5
        let references = try rounds.map { _ in try reference() }
        let saves = try rounds.map { _ in try measured { try self.save() } }
        let fetches = try rounds.map { _ in try measured { _ = try self.fetch() } }
        let (save, fetch) = (1e6 / LineResult.median(saves), 1e6 / LineResult.median(fetches))
        guard try self.fetch() == Self.recordsCount else { throw BenchError("records are lost") }
        let text = String(
            format: "as objects, through operations: %.2f (a save of all %.0f us, a fetch %.0f us); %d bytes",
            1e6 / (save + fetch) / LineResult.median(references), save, fetch, answer.count)
        return [LineRemark(text: text)]
    }

    private func measured(_ body: () throws -> Void) throws -> Double {
        try rate(Self.batchesCount) { for _ in 0..<Self.batchesCount { try body() } }
    }

    private func save() throws {
        let operation = CKModifyRecordsOperation(recordsToSave: records)
        // All fields each time, and not what changed since the last.
        operation.savePolicy = .allKeys
        let result = Lock<Result<Void, any Error>?>(nil)
        operation.modifyRecordsResultBlock = { outcome in result.withLock { $0 = outcome } }
        database.add(operation)
        try result.withLock { try $0?.get() }
    }

    /// How many records came.
    private func fetch() throws -> Int {
        let operation = CKFetchRecordsOperation(recordIDs: records.map(\.recordID))
        let titles = Lock(0)
        operation.perRecordResultBlock = { _, result in
            guard let record = try? result.get(), record["title"] is String else { return }
            titles.withLock { $0 += 1 }
        }
        database.add(operation)
        return titles.withLock { $0 }
    }
}

/// A server that has two answers, and is no further away than a call.
private struct CannedTransport: Transport {
    let saved: [UInt8]
    let fetched: [UInt8]

    func send(
        _ request: WireRequest, timeoutSeconds: Double,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let body = request.path.hasSuffix("/lookup") ? fetched : saved
        completion(
            .success(WireResponse(status: 200, headers: [(WireHeader.protocolVersion, "1")], body: body)))
        return {}
    }
}

/// The same content by `Codable`, each field with its type, as one writes it for this one record type.
private struct CodedPage: Codable {
    struct Field<Value: Codable>: Codable {
        var value: Value
        var type: String
    }

    struct Fields: Codable {
        var title: Field<String>
        var body: Field<String>
        var isDone: Field<Int64>
        var priority: Field<Int64>
        var estimateHours: Field<Double>
        var created: Field<Int64>
        var project: Field<String>
        var tags: Field<[String]>
    }

    struct Stamp: Codable {
        var timestamp: Int64
        var userRecordName: String
        var deviceID: String
    }

    struct Record: Codable {
        var recordName: String
        var recordType: String
        var fields: Fields
        var recordChangeTag: String
        var created: Stamp
        var modified: Stamp
        var deleted: Bool
    }

    var records: [Record]
}
