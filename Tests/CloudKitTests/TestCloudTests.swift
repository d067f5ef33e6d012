import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import TestSeed
import Testing

@Suite struct TestCloudTests {
    @Test func anOrderedFailureComesAsOftenAsOrdered() async throws {
        let devices = try await TwoDevices()
        devices.cloud.fail(.modifyRecords, with: .requestRateLimited, retryAfterSeconds: 3, times: 2)
        for _ in 0..<2 {
            do {
                try await devices.phone.save(devices.record("1"))
                Issue.record("the ordered failure didn't come")
            } catch let error as CKError {
                #expect(error.code == .requestRateLimited && error.retryAfterSeconds == 3)
            }
            // Before that the framework sends no such request.
            devices.cloud.clock.advance(bySeconds: 3)
        }
        try await devices.phone.save(devices.record("1"))
    }

    @Test(arguments: CKError.Code.allCases.filter { $0 != .partialFailure })
    func everyCodeCanBeOrdered(code: CKError.Code) async throws {
        let devices = try await TwoDevices()
        devices.cloud.fail(.fetchRecords, with: code)
        #expect(await codeThrown { try await devices.phone.record(for: devices.id("1")) } == code)
        #expect(await codeThrown { try await devices.phone.record(for: devices.id("1")) } == .unknownItem)
    }

    @Test(arguments: Cloud.allCases) func aLostRequestIsNotDoneALostReplyIs(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        devices.cloud.networkFault = { _ in .loseRequest }
        #expect(await codeThrown { try await devices.phone.save(devices.record("1")) } == .networkFailure)
        devices.cloud.networkFault = { _ in .loseReply }
        #expect(await codeThrown { try await devices.phone.save(devices.record("2")) } == .networkFailure)
        devices.cloud.networkFault = { _ in .duplicate }
        try await devices.phone.save(devices.record("3"))
        devices.cloud.networkFault = nil
        let page = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
        #expect(page.modificationResultsByID.keys.map(\.recordName).sorted() == ["2", "3"])
        #expect(devices.cloud.requests.suffix(2).map(\.fault) == [.duplicate, .none])
    }

    @Test func aRestartedServiceKnowsWhatItKept() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("cloud.sqlite").path
        for cloud in [TestCloud(), try TestCloud(sqlitePath: file)] {
            let devices = try await TwoDevices(cloud)
            try await devices.phone.save(devices.record("1", title: "eggs"))
            let token = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
                .changeToken
            let service = cloud.service
            try cloud.restartService()
            #expect(cloud.service !== service)
            #expect(try await devices.laptop.record(for: devices.id("1"))["title"] as? String == "eggs")
            try await devices.phone.save(devices.record("2"))
            let page = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: token)
            #expect(page.modificationResultsByID.keys.map(\.recordName) == ["2"])
        }
    }

    @Test func aRestartWhileDevicesAreBusyLosesNoAcknowledgedWrite() async throws {
        let devices = try await TwoDevices(TestCloud(execution: .threads))
        let acknowledged = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let record = devices.record("\(number)")
                    return (try? await devices.phone.save(record)) == nil ? nil : "\(number)"
                }
                if number % 10 == 5 { try devices.cloud.restartService() }
            }
            return try await group.reduce(into: Set<String>()) { if let name = $1 { $0.insert(name) } }
        }
        let page = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
        #expect(!acknowledged.isEmpty)
        #expect(acknowledged.isSubset(of: page.modificationResultsByID.keys.map(\.recordName)))
    }

    @Test(arguments: Cloud.allCases) func usersAreApart(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        try await devices.phone.save(devices.record("1"))
        let other = devices.cloud.device(user: "bob").container.privateCloudDatabase
        #expect(await codeThrown { try await other.record(for: devices.id("1")) } == .zoneNotFound)
        #expect(try await other.databaseChanges(since: nil).modifications.isEmpty)
    }

    @Test func everyRequestIsCounted() async throws {
        let devices = try await TwoDevices()
        #expect(devices.cloud.requestCount() == 1 && devices.cloud.requestCount(.modifyRecordZones) == 1)
        try await devices.laptop.save(devices.record("1"))
        #expect(devices.cloud.requestCount() == 2 && devices.cloud.requestCount(.modifyRecords) == 1)
        #expect(devices.cloud.requests.map(\.deviceNumber) == [1, 2])
    }

    @Test(arguments: Cloud.allCases) func theClockOfTheServiceIsTheTests(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1")
        try await devices.phone.save(record)
        let created = try #require(record.creationDate)
        devices.cloud.clock.advance(bySeconds: 60)
        record["title"] = "x"
        try await devices.phone.save(record)
        #expect(record.modificationDate == created.addingTimeInterval(60) && record.creationDate == created)
    }

    @Test func theSameSeedGivesTheSameBytes() async throws {
        func run(seed: UInt64) async throws -> [String] {
            let devices = try await TwoDevices(TestCloud(seed: seed))
            let record = devices.record("1", title: "eggs")
            try await devices.phone.save(record)
            record["title"] = nil
            record["count"] = 1
            try await devices.phone.save(record)
            return devices.cloud.requests.map { String(decoding: $0.request.body, as: UTF8.self) }
        }
        let seed = TestSeed.value
        print("seed \(seed)")
        #expect(try await run(seed: seed) == run(seed: seed))
    }
}
