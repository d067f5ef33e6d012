import CloudKit
import CloudKitTesting
import Foundation

/// Whole tests of an app, each with a cloud and a device of its own, that save a record and fetch it; against a
/// thousand a second, a millisecond each.
final class TestingRun: LineRun {
    private static let testsCount = 500

    func ours() async throws -> Double {
        try await measured {
            let database = TestCloud().device(user: "ada").container.privateCloudDatabase
            try await Self.saveAndFetch(BenchRecords.records(1, in: .default)[0], database)
        }
    }

    func reference() -> Double { 1_000 }

    func remarks() async throws -> [LineRemark] {
        let made = try await measured { _ = TestCloud().device(user: "ada") }
        let database = TestCloud().device(user: "ada").container.privateCloudDatabase
        try await database.save(CKRecordZone(zoneName: "notes"))
        var number = 0
        let more = try await measured {
            number += 1
            let record = BenchRecords.records(1) { _ in BenchRecords.name(number) }[0]
            try await Self.saveAndFetch(record, database)
        }
        let text = String(
            format:
                "%.0f us to make a cloud and a device; %.0f us for each further save and fetch, up to %d records",
            1e6 / made, 1e6 / more, Self.testsCount)
        return [LineRemark(text: text)]
    }

    private nonisolated static func saveAndFetch(_ record: CKRecord, _ database: CKDatabase) async throws {
        _ = try await database.save(record)
        let fetched = try await database.record(for: record.recordID)
        guard fetched["title"] is String else { throw BenchError("what was saved did not come back") }
    }

    private func measured(_ body: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        for _ in 0..<Self.testsCount { try await body() }
        return Double(Self.testsCount) / ((ContinuousClock.now - start) / .seconds(1))
    }
}
