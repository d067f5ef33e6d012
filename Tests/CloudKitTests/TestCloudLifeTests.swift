import CloudKit
import CloudKitAdditions
import CloudKitTesting
import Foundation
import Testing

/// What a test's cloud leaves behind: nothing.
@Suite struct TestCloudLifeTests {
    private struct Left {
        weak var cloud: TestCloud?
        var file: URL
    }

    /// Saves a record with a file on one device and fetches it on the other.
    private func use(_ execution: TestCloud.Execution, _ also: (TestDevice) async throws -> Void = { _ in })
        async throws -> Left
    {
        let cloud = TestCloud(execution: execution)
        let devices = try await TwoDevices(cloud)
        let source = FileManager.default.temporaryDirectory
            .appendingPathComponent("TestCloudLife-\(CKRecord.ID().recordName)")
        try Data([1, 2, 3]).write(to: source)
        defer { try? FileManager.default.removeItem(at: source) }
        let record = devices.record("1")
        record["photo"] = CKAsset(fileURL: source)
        try await devices.phone.save(record)
        let fetched = try await devices.laptop.record(for: record.recordID)
        let file = try #require((fetched["photo"] as? CKAsset)?.fileURL)
        #expect(FileManager.default.fileExists(atPath: file.path))
        try await also(cloud.device(user: "ada"))
        return Left(cloud: cloud, file: file)
    }

    @Test func aReleasedCloudIsDeletedWithItsFiles() async throws {
        let left = try await use(.inline)
        #expect(left.cloud == nil)
        #expect(!FileManager.default.fileExists(atPath: left.file.path))
        let folder = left.file.deletingLastPathComponent().deletingLastPathComponent()
        #expect(folder.lastPathComponent.hasPrefix("TestCloud-"))
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func aListenerThatWasDroppedKeepsNoCloud() async throws {
        let left = try await use(.inline) { device in
            var events = device.container.notifications().makeAsyncIterator()
            _ = await events.next()
            try await device.container.privateCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "s"))
        }
        #expect(left.cloud == nil)
        #expect(!FileManager.default.fileExists(atPath: left.file.path))
    }

    @Test func anErrorThatWasHeldKeepsNoCloud() async throws {
        var kept: [any Error] = []
        let left = try await use(.inline) { device in
            let record = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "none"))
            let operation = CKFetchRecordsOperation(recordIDs: [record.recordID])
            operation.database = device.container.privateCloudDatabase
            operation.start()
            do {
                _ = try await device.container.privateCloudDatabase.record(for: record.recordID)
            } catch {
                kept.append(error)
            }
        }
        #expect(kept.count == 1 && left.cloud == nil)
    }

    @Test func cloudsOfTestsThatRunAtOnceKnowNothingOfEachOther() async throws {
        let names = try await withThrowingTaskGroup(of: [String].self) { group in
            for number in 0..<8 {
                group.addTask {
                    let devices = try await TwoDevices()
                    for index in 0...number {
                        try await devices.phone.save(devices.record("\(number)-\(index)"))
                    }
                    let query = CKQuery(recordType: "todo", predicate: NSPredicate(value: true))
                    return try await devices.laptop.records(matching: query).matchResults.map(\.0.recordName)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(names.map(\.count).sorted() == Array(1...8))
        for list in names { #expect(Set(list.map { $0.prefix(2) }).count == 1) }
    }
}
