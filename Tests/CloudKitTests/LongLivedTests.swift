import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import Testing

/// Operations that outlive their process, in one process: the disk as it is at a moment is what a killed one leaves.
@Suite struct LongLivedTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// A device whose operations lie in a folder of the test's.
    private struct Device {
        let container: CKContainer
        let shelfPath: String
        var database: CKDatabase { container.privateCloudDatabase }
    }

    /// An app on a device of ada's; the copies of its disk have the same account and the same server.
    private func device(
        _ devices: TwoDevices, _ name: String, transport: ((any Transport) -> any Transport)? = nil,
        account: (any CloudAccount)? = nil
    ) throws -> Device {
        let made = devices.cloud.device(user: "ada")
        var place = try made.container.resolved()
        place.connection.operationStore = LongLivedOperationStore(
            folder: URL(fileURLWithPath: folder.path + "/" + name), clock: devices.cloud.clock)
        if let transport { place.connection.transport = transport(place.connection.transport) }
        place.connection.account =
            account
            ?? FixedAccount(
                CloudCredential(
                    webAuthToken: devices.cloud.token(of: "ada"), deviceID: "one", userRecordName: "_ada"))
        return Device(
            container: CKContainer(identifier: place.identifier, connection: place.connection),
            shelfPath: folder.path + "/" + name)
    }

    private func filled() async throws -> TwoDevices {
        let devices = try await TwoDevices()
        try await OperationTable.fill(devices)
        return devices
    }

    /// Takes up what the device has of an operation, and says what its blocks say.
    private func resume(_ id: String, on device: Device, _ style: BlockStyle = .new) async throws -> [String]
    {
        let operation = try #require(try await device.container.longLivedOperation(for: id))
        #expect(operation.operationID == id && operation.configuration.isLongLived)
        let recorder = BlockRecorder(style)
        recorder.set(operation)
        device.container.add(operation)
        #expect(operation.isFinished)
        return recorder.said.all
    }

    @Test func itIsOnTheDiskBeforeAnythingIsSentAndGoneAfterItsEnd() async throws {
        let devices = try await filled()
        let device = try device(devices, "a")
        let operation = CKModifyRecordsOperation(recordsToSave: [devices.record("4")])
        operation.configuration.isLongLived = true
        let before = devices.cloud.requestCount()
        let container = device.container, cloud = devices.cloud
        var recorder = BlockRecorder(.new)
        let toldAtItsEnd = Collected<[String]>()
        recorder.heard = { words in
            guard words == "result 0" || words == "completion" else { return }
            container.fetchAllLongLivedOperationIDs { ids, _ in toldAtItsEnd.append(ids ?? ["?"]) }
        }
        recorder.set(operation)
        let said = recorder
        operation.longLivedOperationWasPersistedBlock = { [unowned operation] in
            said.say("persisted \(cloud.requestCount() - before)")
            container.fetchAllLongLivedOperationIDs { ids, error in
                said.say("\(ids == [operation.operationID]) \(error == nil)")
            }
        }
        device.database.add(operation)
        #expect(
            said.said.all == [
                "persisted 0", "true true", "progress 4 1.0", "save 4 0", "result 0", "completion",
            ])
        #expect(toldAtItsEnd.all == [[], []])
        #expect(try await container.allLongLivedOperationIDs().isEmpty)
        #expect(try await container.longLivedOperation(for: operation.operationID) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: device.shelfPath).isEmpty)

        let plain = CKModifyRecordsOperation(recordsToSave: [devices.record("5")])
        plain.longLivedOperationWasPersistedBlock = { said.say("never") }
        device.database.add(plain)
        #expect(!said.said.all.contains("never"))
    }

    /// The heart of it: wherever the process is killed, the app hears all from the beginning, and the server does
    /// nothing twice.
    @Test(arguments: OperationTable.successes)
    func killedAnywhereAllIsReportedAndNothingIsExecutedTwice(operation: OperationCase) async throws {
        for isAnswered in [false, true] {
            let devices = try await filled()
            let snapshot = folder.path + "/copy \(isAnswered)"
            let device = try device(devices, "a \(isAnswered)") {
                SnapshotTransport(
                    $0, from: folder.path + "/a \(isAnswered)", to: snapshot, isAnswered: isAnswered)
            }
            let made = try #require(try operation.make(devices) as? CKDatabaseOperation)
            made.configuration.isLongLived = true
            let recorder = BlockRecorder(.new)
            recorder.set(made)
            device.database.add(made)
            #expect(recorder.said.all == operation.new)
            let kind = try #require(operation.kind)
            let token = try await devices.phone.databaseChanges(since: nil).changeToken
            let count = devices.cloud.requestCount(kind)

            let copy = try self.device(devices, "copy \(isAnswered)")
            #expect(try await copy.container.allLongLivedOperationIDs() == [made.operationID])
            #expect(try await resume(made.operationID, on: copy) == operation.new)
            // What was answered before isn't asked again; what was done and not answered is asked under its name.
            #expect(devices.cloud.requestCount(kind) == count + (isAnswered ? 0 : 1))
            let changes = try await devices.phone.databaseChanges(since: token)
            #expect(changes.modifications.isEmpty && changes.deletions.isEmpty)
            #expect(try await copy.container.allLongLivedOperationIDs().isEmpty)
        }
    }

    @Test func withTruncatedKeptAnswersAllIsReportedAndNothingIsExecutedTwice() async throws {
        let devices = try await filled()
        let device = try device(devices, "a") {
            SnapshotTransport($0, from: folder.path + "/a", to: folder.path + "/copy", isAnswered: true)
        }
        let made = try #require(try OperationTable.successes[0].make(devices) as? CKDatabaseOperation)
        made.configuration.isLongLived = true
        device.database.add(made)
        let files = FileManager.default
        let path = folder.path + "/copy/\(made.operationID)/replies"
        let bytes = try #require(files.contents(atPath: path))
        #expect(bytes.count > 100)
        let token = try await devices.phone.databaseChanges(since: nil).changeToken
        var isReadable = 0
        for count in Array(stride(from: 0, to: bytes.count, by: 9)) + [bytes.count - 1, bytes.count] {
            let name = "cut \(count)"
            try files.copyItem(atPath: folder.path + "/copy", toPath: folder.path + "/" + name)
            var cut = Data(bytes.prefix(count))
            // Behind the cut there may be anything.
            if count < bytes.count { cut.append(bytes[count] ^ 0x55) }
            let replies = folder.path + "/\(name)/\(made.operationID)/replies"
            try cut.write(to: URL(fileURLWithPath: replies))
            try files.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: replies)
            let before = devices.cloud.requestCount(.modifyRecords)
            let copy = try self.device(devices, name)
            #expect(try await resume(made.operationID, on: copy) == OperationTable.successes[0].new)
            if devices.cloud.requestCount(.modifyRecords) == before { isReadable += 1 }
        }
        #expect(isReadable == 1, "only the whole answer counts")
        let changes = try await devices.phone.databaseChanges(since: token)
        #expect(changes.modifications.isEmpty)
    }

    @Test func aDamagedOperationIsNotListedAndNoCrash() async throws {
        let devices = try await filled()
        let device = try device(devices, "a") {
            SnapshotTransport($0, from: folder.path + "/a", to: folder.path + "/copy", isAnswered: false)
        }
        let made = CKFetchRecordsOperation(recordIDs: [devices.id("1")])
        made.configuration.isLongLived = true
        device.database.add(made)
        let path = folder.path + "/copy/\(made.operationID)/operation"
        let copy = try self.device(devices, "copy")
        let bytes = try #require(FileManager.default.contents(atPath: path))
        for place in stride(from: 0, to: bytes.count, by: 5) {
            var damaged = bytes
            damaged[place] ^= 0x20
            try damaged.write(to: URL(fileURLWithPath: path))
            chmod(path, 0o600)
            #expect(try await copy.container.longLivedOperation(for: made.operationID) == nil, "\(place)")
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        #expect(try await copy.container.longLivedOperation(for: made.operationID) != nil)
        #expect(try await copy.container.longLivedOperation(for: "../a/" + made.operationID) == nil)
    }

    @Test func aResumedFetchOfTheUsersOwnRecordWorksToo() async throws {
        let devices = try await filled()
        let device = try device(devices, "a") {
            SnapshotTransport($0, from: folder.path + "/a", to: folder.path + "/copy", isAnswered: true)
        }
        let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
        operation.configuration.isLongLived = true
        let recorder = BlockRecorder(.new)
        recorder.set(operation)
        device.database.add(operation)
        let copy = try self.device(devices, "copy")
        let said = try await resume(operation.operationID, on: copy)
        #expect(said == recorder.said.all && said.contains("record _ada 0"))
    }

    @Test func aDayAfterItsLastResponseItIsRemoved() async throws {
        let devices = try await filled()
        let (copy, id) = try begun(devices)
        devices.cloud.clock.advance(bySeconds: 86_400)
        #expect(try await copy.container.allLongLivedOperationIDs() == [id])
        let fetched = try #require(try await copy.container.longLivedOperation(for: id))
        devices.cloud.clock.advance(bySeconds: 1)
        #expect(try await copy.container.longLivedOperation(for: id) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: copy.shelfPath).isEmpty)
        // One that was had before that ends, and does nothing.
        let before = devices.cloud.requestCount()
        let recorder = BlockRecorder(.new)
        recorder.set(fetched)
        copy.container.add(fetched)
        #expect(recorder.said.all == ["result 11", "completion"] && devices.cloud.requestCount() == before)
    }

    @Test func afterACancellationNothingIsReported() async throws {
        let devices = try await filled()
        let (copy, id) = try begun(devices)
        let fetched = try #require(try await copy.container.longLivedOperation(for: id))
        fetched.cancel()
        #expect(try await copy.container.allLongLivedOperationIDs().isEmpty)

        let transport = SilentTransport()
        let device = try device(devices, "silent", transport: { _ in transport })
        let running = CKFetchRecordsOperation(recordIDs: [devices.id("1")])
        running.configuration.isLongLived = true
        device.database.add(running)
        #expect(try await device.container.allLongLivedOperationIDs() == [running.operationID])
        running.cancel()
        #expect(try await device.container.allLongLivedOperationIDs().isEmpty && running.isFinished)
        #expect(try FileManager.default.contentsOfDirectory(atPath: device.shelfPath).isEmpty)
    }

    @Test func anotherUsersOperationsAreNotListedAndAreRemoved() async throws {
        let devices = try await filled()
        let (ada, id) = try begun(devices)
        func app(of user: String?, device name: String = "one") throws -> Device {
            let credential = CloudCredential(
                webAuthToken: user.map { _ in devices.cloud.token(of: "ada") }, deviceID: name,
                userRecordName: user)
            return try device(devices, "copy", account: FixedAccount(credential))
        }
        let place = folder.path + "/copy/" + id
        // No user is signed in, or it is another device: nothing is seen, and nothing is lost.
        #expect(try await app(of: nil).container.allLongLivedOperationIDs().isEmpty)
        #expect(try await app(of: "_ada", device: "two").container.allLongLivedOperationIDs().isEmpty)
        #expect(try await ada.container.allLongLivedOperationIDs() == [id])
        let fetched = try #require(try await ada.container.longLivedOperation(for: id))
        #expect(try await app(of: "_bob").container.allLongLivedOperationIDs().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: place))
        let recorder = BlockRecorder(.new)
        recorder.set(fetched)
        ada.container.add(fetched)
        #expect(recorder.said.all == ["result 11", "completion"])
    }

    @Test func aRunningOperationAlsoReportsToItsResumer() async throws {
        let devices = try await filled()
        let transport = SilentTransport()
        let device = try device(devices, "a", transport: { _ in transport })
        let first = BlockRecorder(.new), second = BlockRecorder(.new), third = BlockRecorder(.new)
        let running = CKFetchSubscriptionsOperation(subscriptionIDs: ["all"])
        running.configuration.isLongLived = true
        first.set(running)
        device.database.add(running)
        let again = try #require(try await device.container.longLivedOperation(for: running.operationID))
        second.set(again)
        device.container.add(again)
        let given = try #require(try await device.container.longLivedOperation(for: running.operationID))
        third.set(given)
        device.container.add(given)
        given.cancel()
        #expect(
            third.said.all == ["result 20", "completion"] && second.said.all.isEmpty && !again.isFinished)
        let answer =
            #"{"subscriptions": [{"subscriptionID": "all", "subscriptionType": "zone", "zoneID": {"zoneName": "z"}}]}"#
        transport.answer(.success(WireResponse(status: 200, body: Array(answer.utf8))))
        #expect(first.said.all == ["subscription all 0", "result 0", "completion"])
        #expect(second.said.all == first.said.all && transport.waitCount == 0)
        #expect(third.said.all.count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: device.shelfPath).isEmpty)
    }

    @Test func anOperationThatCannotBeStoredRunsAndIsNotReportedAsLongLived() async throws {
        let devices = try await filled()
        try folder.write("a", "no folder")
        let device = try device(devices, "a")
        let operation = CKFetchRecordsOperation(recordIDs: [devices.id("1")])
        operation.configuration.isLongLived = true
        let recorder = BlockRecorder(.new)
        recorder.set(operation)
        operation.longLivedOperationWasPersistedBlock = { recorder.say("persisted") }
        device.database.add(operation)
        #expect(recorder.said.all == ["progress 1 1.0", "record 1 0", "result 0", "completion"])
    }

    @Test func whatIsKeptHoldsNoTokenAndIsForItsOwnerOnly() async throws {
        let devices = try await filled()
        let (copy, id) = try begun(devices)
        let files = FileManager.default
        let path = copy.shelfPath + "/" + id
        let token = devices.cloud.token(of: "ada")
        for name in try files.contentsOfDirectory(atPath: path) {
            let bytes = try #require(files.contents(atPath: path + "/" + name))
            #expect(bytes.range(of: Data(token.utf8)) == nil)
            let mode = try files.attributesOfItem(atPath: folder.path + "/a")[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
    }

    /// What the disk holds when the process is killed after a save was done and before its answer came.
    private func begun(_ devices: TwoDevices) throws -> (copy: Device, id: String) {
        let device = try device(devices, "a") {
            SnapshotTransport($0, from: folder.path + "/a", to: folder.path + "/copy", isAnswered: false)
        }
        let operation = CKModifyRecordsOperation(recordsToSave: [devices.record("4", title: "x")])
        operation.configuration.isLongLived = true
        device.database.add(operation)
        return (try self.device(devices, "copy"), operation.operationID)
    }
}
