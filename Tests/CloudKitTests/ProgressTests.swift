import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import Testing

/// How much of a record's files is there.
@Suite struct ProgressTests {
    private let folder: Folder
    private let photo = Data((0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    init() throws { folder = try Folder() }

    private func asset(_ name: String, _ bytes: Data) throws -> CKAsset {
        let url = URL(fileURLWithPath: folder.path + "/" + name)
        try bytes.write(to: url)
        return CKAsset(fileURL: url)
    }

    private func record(_ devices: TwoDevices, _ name: String) throws -> CKRecord {
        let record = devices.record(name, title: name)
        record["one"] = try asset(name + "1", photo)
        record["two"] = try asset(name + "2", Data(photo.reversed()))
        record["empty"] = try asset(name + "3", Data())
        return record
    }

    /// Grows to 1, with the steps between, and then comes the record's result.
    private func expectProgress(_ said: [String], of name: String, result: String) throws {
        let ofRecord = said.filter { $0.hasPrefix("progress \(name) ") || $0.hasPrefix("\(result) \(name) ") }
        #expect(ofRecord.last == "\(result) \(name) 0")
        let fractions = try ofRecord.dropLast().map { try #require(Double($0.split(separator: " ")[2])) }
        #expect(fractions.count > 5 && fractions.count < 250, "\(fractions.count)")
        #expect(fractions.last == 1 && fractions.filter { $0 == 1 }.count == 1)
        #expect(zip(fractions, fractions.dropFirst()).allSatisfy { $0 < $1 } && fractions[0] > 0)
    }

    @Test(arguments: [TestCloud.Execution.inline, .threads])
    func aFilesProgressGrowsToOneBeforeItsRecordsResult(execution: TestCloud.Execution) async throws {
        let devices = try await TwoDevices(TestCloud(execution: execution))
        let records = [try record(devices, "a"), try record(devices, "b"), devices.record("c", title: "c")]
        let save = CKModifyRecordsOperation(recordsToSave: records)
        let saved = await run(save, on: devices.phone)
        try expectProgress(saved, of: "a", result: "save")
        try expectProgress(saved, of: "b", result: "save")
        #expect(saved.filter { $0.hasPrefix("progress c") } == ["progress c 1.0"])
        #expect(saved.suffix(2) == ["result 0", "completion"])

        let fetch = CKFetchRecordsOperation(recordIDs: ["a", "b", "c"].map { devices.id($0) })
        let fetched = await run(fetch, on: devices.laptop)
        try expectProgress(fetched, of: "a", result: "record")
        #expect(fetched.filter { $0.hasPrefix("progress c") } == ["progress c 1.0"])
        // The second record's files are the same bytes, which lie there already.
        #expect(fetched.filter { $0.hasPrefix("progress b") } == ["progress b 1.0"])
    }

    private func run(_ operation: CKDatabaseOperation, on database: CKDatabase) async -> [String] {
        let recorder = BlockRecorder(.new)
        recorder.set(operation)
        await withCheckedContinuation { continuation in
            operation.completionBlock = {
                recorder.say("completion")
                continuation.resume()
            }
            database.add(operation)
        }
        return recorder.said.all
    }

    @Test func aFailedRecordIsReportedWithOneToo() async throws {
        let devices = try await TwoDevices()
        let bad = devices.record("bad")
        bad["photo"] = CKAsset(fileURL: URL(fileURLWithPath: folder.path + "/none"))
        let said = await run(CKModifyRecordsOperation(recordsToSave: [bad]), on: devices.phone)
        #expect(said == ["progress bad 1.0", "save bad 16", "result 0", "completion"])
    }

    @Test func aTransferThatBeginsAnewDoesNotFallBack() async throws {
        let transport = CuttingTransport(bytes: photo, cutAt: 300_000)
        transport.damages.withLock { $0 = 0 }
        let clock = ManualTimeSource()
        let timers = ManualTimerSource(clock: clock)
        var connection = CloudConnection(
            transport: transport, execution: .inline, webAuthToken: "t", timers: timers)
        connection.assetCache = AssetCache(folder: URL(fileURLWithPath: folder.path + "/cache"))
        let database = CKContainer(identifier: "iCloud.test", connection: connection).privateCloudDatabase
        let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "1")])
        operation.configuration.qualityOfService = .utility
        let recorder = BlockRecorder(.new)
        recorder.set(operation)
        database.add(operation)
        #expect(recorder.said.all == ["progress 1 0.6"] && !operation.isFinished)
        clock.advance(bySeconds: 2)
        timers.runDue()
        // The transport hands a part over whole: what was there is counted with the rest.
        #expect(
            recorder.said.all == ["progress 1 0.6", "progress 1 1.0", "record 1 0", "result 0", "completion"])
        #expect(transport.ranges.all == ["", "bytes=300000-"])
    }

    @Test func aRestartedUploadReportsProgressOnceItIsFarther() async throws {
        let devices = try await TwoDevices()
        let isFirst = Lock(true)
        devices.cloud.networkFault = { request in
            guard request.path.hasSuffix("/asset/upload") else { return .none }
            return isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? .loseReply : .none
            }
        }
        let record = devices.record("a")
        record["photo"] = try asset("photo", photo)
        let operation = CKModifyRecordsOperation(recordsToSave: [record])
        operation.configuration.qualityOfService = .utility
        let recorder = BlockRecorder(.new)
        recorder.set(operation)
        devices.phone.add(operation)
        #expect(!operation.isFinished && recorder.said.all.count > 5)
        devices.cloud.clock.advance(bySeconds: 2)
        devices.cloud.timers.runDue()
        #expect(operation.isFinished && devices.cloud.requestCount(.uploadAsset) == 2)
        try expectProgress(recorder.said.all, of: "a", result: "save")
    }

    @Test func aCancelledTransferReportsNothingMore() async throws {
        let devices = try await TwoDevices()
        let operation = CKModifyRecordsOperation(recordsToSave: [try record(devices, "a")])
        let recorder = BlockRecorder(.new)
        recorder.set(operation)
        operation.perRecordProgressBlock = { [unowned operation] _, fraction in
            recorder.say("progress \(fraction < 1)")
            operation.cancel()
        }
        devices.phone.add(operation)
        #expect(recorder.said.all.filter { $0.hasPrefix("result") } == ["result 20"])
        #expect(recorder.said.all.last == "completion" && !recorder.said.all.contains("progress false"))
    }
}
