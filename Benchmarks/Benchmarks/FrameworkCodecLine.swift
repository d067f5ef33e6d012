import CloudKit
import CloudService
import CloudStore
import CloudWire
import Foundation
import System

/// Fifty records of an app to the bytes of a request, and back from those of an answer, against Foundation's JSON
/// coding of the same content by `Codable`. It is measured in operations that run on this thread, from the call to the
/// bytes and from the bytes to the last block; what a server's answer to a save costs is no coding of records, and is
/// told beside it, as is the coding of the messages alone.
final class CodecRun: LineRun {
    private static let recordsCount = 50
    private static let batchesCount = 100

    private let database: CKDatabase
    private let transport: CannedTransport
    private let records: [CKRecord]
    private let answer: [UInt8]
    private let message: RecordsResponse
    private let page: CodedPage

    init() throws {
        let names = (0..<Self.recordsCount).map(BenchRecords.name)
        let service = benchService(MemoryCloudStore())
        let saved = try Recording.answer(toSaveOf: names, service: service)
        answer = try Recording.answer(toLookupOf: names, service: service)
        transport = CannedTransport(saved: saved, fetched: answer)
        database =
            CKContainer(
                identifier: ServiceRequests.container,
                connection: CloudConnection(transport: transport, execution: .inline, webAuthToken: "t")
            ).privateCloudDatabase
        records = BenchRecords.records(Self.recordsCount, named: BenchRecords.name)
        message = try RecordsResponse(json: answer)
        page = try JSONDecoder().decode(CodedPage.self, from: Data(answer))
    }

    func ours() throws -> Double { try measured { try self.toBytes() + self.toRecords() } }

    func reference() throws -> Double {
        try measured {
            try ContinuousClock().measure {
                let data = try JSONEncoder().encode(self.page)
                let back = try JSONDecoder().decode(CodedPage.self, from: data)
                guard back.records.count == Self.recordsCount else { throw BenchError("records are lost") }
            }
        }
    }

    func remarks() throws -> [LineRemark] {
        let wholes = try microseconds { try ContinuousClock().measure { _ = try self.toBytes() } }
        let (to, back) = (try microseconds(toBytes), try microseconds(toRecords))
        let messages = try microseconds {
            try ContinuousClock().measure {
                let back = try RecordsResponse(json: self.message.json())
                guard back.records.count == Self.recordsCount else { throw BenchError("records are lost") }
            }
        }
        let text = String(
            format:
                "to bytes %.0f us, back %.0f us; a whole save %.0f us; the messages alone %.0f us; %d bytes",
            to, back, wholes, messages, answer.count)
        return [LineRemark(text: text)]
    }

    /// Batches a second, of which `body` says how long each takes.
    private func measured(_ body: () throws -> Duration) throws -> Double {
        var sum = Duration.zero
        for _ in 0..<Self.batchesCount { sum += try body() }
        return Double(Self.batchesCount) / (sum / .seconds(1))
    }

    private func microseconds(_ body: () throws -> Duration) throws -> Double {
        1e6 / LineResult.median(try (0..<5).map { _ in try measured(body) })
    }

    /// How long it takes from a save of all to the bytes of its request.
    private func toBytes() throws -> Duration {
        let operation = CKModifyRecordsOperation(recordsToSave: records)
        // All fields each time, and not what changed since the last.
        operation.savePolicy = .allKeys
        let result = Lock<Result<Void, any Error>?>(nil)
        operation.modifyRecordsResultBlock = { outcome in result.withLock { $0 = outcome } }
        let start = ContinuousClock.now
        database.add(operation)
        try result.withLock { try $0?.get() }
        return transport.sent.withLock { $0 } - start
    }

    /// How long it takes from the bytes of the answer to the last record's block.
    private func toRecords() throws -> Duration {
        let operation = CKFetchRecordsOperation(recordIDs: records.map(\.recordID))
        let titlesCount = Lock(0)
        operation.perRecordResultBlock = { _, result in
            guard let record = try? result.get(), record["title"] is String else { return }
            titlesCount.withLock { $0 += 1 }
        }
        database.add(operation)
        let end = ContinuousClock.now
        guard titlesCount.withLock({ $0 }) == Self.recordsCount else { throw BenchError("records are lost") }
        return end - transport.sent.withLock { $0 }
    }
}

/// A server that has two answers, and is no further away than a call.
private struct CannedTransport: Transport {
    let saved: [UInt8]
    let fetched: [UInt8]
    /// When the last request came.
    let sent = Lock(ContinuousClock.now)

    func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        sent.withLock { $0 = ContinuousClock.now }
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
