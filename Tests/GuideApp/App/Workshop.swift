import CloudKit
import Foundation

/// A screen's model as an app of today has it: on the main actor, with the cloud behind an actor of its own.
@MainActor final class WorkshopModel {
    struct Tool: Identifiable, Equatable, Sendable {
        let id: String
        var name: String
        var uses: Int
    }

    private(set) var tools: [Tool] = []
    private(set) var message: String?
    private let cloud: WorkshopCloud

    init(container: CKContainer = .default()) {
        cloud = WorkshopCloud(container: container)
    }

    func reload() async {
        do {
            tools = try await cloud.tools()
            message = nil
        } catch let error as CKError where error.code == .networkUnavailable {
            message = "No network"
        } catch {
            message = error.localizedDescription
        }
    }

    func add(_ names: [String]) async throws {
        try await cloud.add(names)
        await reload()
    }

    func use(_ tool: Tool) async throws {
        try await cloud.count(tool.id)
        await reload()
    }
}

/// The tools in the cloud.
actor WorkshopCloud {
    private let database: CKDatabase
    private let zoneID = CKRecordZone.ID(zoneName: "workshop")
    private var hasZone = false

    init(container: CKContainer) {
        database = container.privateCloudDatabase
    }

    func tools() async throws -> [WorkshopModel.Tool] {
        try await makeZone()
        let query = CKQuery(recordType: "tool", predicate: NSPredicate(value: true))
        query.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let (matchResults, _) = try await database.records(matching: query, inZoneWith: zoneID)
        return matchResults.compactMap { recordID, result in
            guard let record = try? result.get(), let name = record["name"] as? String else { return nil }
            return WorkshopModel.Tool(id: recordID.recordName, name: name, uses: record["uses"] as? Int ?? 0)
        }
    }

    func add(_ names: [String]) async throws {
        try await makeZone()
        let records = names.map { name in
            let record = CKRecord(
                recordType: "tool", recordID: CKRecord.ID(recordName: "tool-\(name)", zoneID: zoneID))
            record["name"] = name
            return record
        }
        let (saveResults, _) = try await database.modifyRecords(
            saving: records, deleting: [], savePolicy: .allKeys, atomically: true)
        for result in saveResults.values { _ = try result.get() }
    }

    /// Counts one use more, however many devices count at the same time.
    func count(_ name: String) async throws {
        let recordID = CKRecord.ID(recordName: name, zoneID: zoneID)
        var record = try await database.record(for: recordID)
        while true {
            record["uses"] = (record["uses"] as? Int ?? 0) + 1
            do {
                try await database.save(record)
                return
            } catch CKError.serverRecordChanged {
                record = try await database.record(for: recordID)
            }
        }
    }

    private func makeZone() async throws {
        guard !hasZone else { return }
        _ = try await database.save(CKRecordZone(zoneID: zoneID))
        hasZone = true
    }
}
