import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import Testing

@Suite struct OperationTests {
    @Test(arguments: Cloud.allCases) func theInlineExecutorRunsEverythingOnTheCallersThreadBeforeAddReturns(
        way: Cloud
    ) async throws {
        let devices = try await TwoDevices(way)
        let caller = Lock(pthread_self())
        let here: @Sendable () -> Bool = { caller.withLock { pthread_equal($0, pthread_self()) != 0 } }
        let said = Collected<String>()
        let record = devices.record("1", title: "eggs")
        func add() {
            caller.withLock { $0 = pthread_self() }
            let operation = CKModifyRecordsOperation(recordsToSave: [record])
            operation.perRecordProgressBlock = { _, fraction in said.append("\(fraction) \(here())") }
            operation.perRecordSaveBlock = { _, _ in said.append("record \(here())") }
            operation.modifyRecordsResultBlock = { _ in said.append("result \(here())") }
            operation.completionBlock = { said.append("completion \(here())") }
            devices.phone.add(operation)
            said.append(operation.isFinished ? "finished" : "running")
        }
        add()
        #expect(said.all == ["1.0 true", "record true", "result true", "completion true", "finished"])
    }

    @available(*, deprecated) @Test(arguments: Cloud.allCases)
    func theOldBlocksGetPartialFailureAndTheResultBlocksDoNot(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        try await devices.phone.save(devices.record("1", title: "eggs"))
        func operation() -> CKModifyRecordsOperation {
            let operation = CKModifyRecordsOperation(
                recordsToSave: [devices.record("1"), devices.record("2")],
                recordIDsToDelete: [devices.id("3")])
            operation.isAtomic = false
            return operation
        }
        let said = Collected<String>()
        let old = operation()
        old.perRecordCompletionBlock = { record, error in
            said.append("\(record.recordID.recordName) \((error as? CKError)?.code.rawValue ?? 0)")
        }
        old.modifyRecordsCompletionBlock = { saved, deleted, error in
            let partial = (error as? CKError)?.partialErrorsByItemID
            let inner = partial?[devices.id("1")] as? CKError
            said.append(
                "\(saved?.count ?? -1) \(deleted?.count ?? -1) \((error as? CKError)?.code.rawValue ?? 0)")
            said.append("\(partial?.count ?? 0) \(inner?.code.rawValue ?? 0) \(inner?.serverRecord != nil)")
        }
        devices.phone.add(old)
        // Elsewhere the server's record has to be asked for, so that a conflict is told after the rest.
        let items = way.hasOurKeys ? ["1 14", "2 0"] : ["2 0", "1 14"]
        #expect(said.all == items + ["1 1 2", "1 14 true"])

        let new = operation(), results = Collected<String>()
        new.recordsToSave = [devices.record("1")]
        new.perRecordSaveBlock = { _, result in results.append("\(result.code?.rawValue ?? 0)") }
        new.perRecordDeleteBlock = { recordID, result in
            results.append("\(recordID.recordName) \(result.isSuccess)")
        }
        new.perRecordCompletionBlock = { _, _ in results.append("not called") }
        new.modifyRecordsResultBlock = { results.append("\($0.isSuccess)") }
        new.modifyRecordsCompletionBlock = { _, _, _ in results.append("not called") }
        devices.phone.add(new)
        #expect(results.all == (way.hasOurKeys ? ["14", "3 true", "true"] : ["3 true", "14", "true"]))
    }

    @available(*, deprecated) @Test(arguments: Cloud.allCases) func theOldBlocksOfTheFetchesAreServedToo(
        way: Cloud
    ) async throws {
        let devices = try await TwoDevices(way)
        try await devices.phone.save(devices.record("1", title: "eggs"))
        let said = Collected<String>()
        let nowhere = CKRecordZone.ID(zoneName: "nowhere")

        let records = CKFetchRecordsOperation(recordIDs: [devices.id("1"), devices.id("2")])
        records.perRecordCompletionBlock = { record, recordID, error in
            said.append(
                "\(recordID?.recordName ?? "") \(record != nil) \((error as? CKError)?.code.rawValue ?? 0)")
        }
        records.fetchRecordsCompletionBlock = { records, error in
            said.append("\(records?.count ?? 0) \((error as? CKError)?.code.rawValue ?? 0)")
        }
        devices.phone.add(records)
        let changes = CKFetchRecordZoneChangesOperation(recordZoneIDs: [devices.zoneID, nowhere])
        changes.recordChangedBlock = { said.append("changed \($0.recordID.recordName)") }
        changes.recordZoneFetchCompletionBlock = { zoneID, token, _, more, error in
            said.append(
                "\(zoneID.zoneName) \(token != nil) \(more) \((error as? CKError)?.code.rawValue ?? 0)")
        }
        changes.fetchRecordZoneChangesCompletionBlock = { error in
            let error = error as? CKError
            let inner = error?.partialErrorsByItemID?[nowhere] as? CKError
            said.append("\(error?.code.rawValue ?? 0) \(inner?.code.rawValue ?? 0)")
        }
        devices.phone.add(changes)
        let database = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        database.fetchDatabaseChangesCompletionBlock = { token, more, error in
            said.append("database \(token != nil) \(more) \(error == nil)")
        }
        devices.phone.add(database)
        let zones = CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneName: "new")])
        zones.modifyRecordZonesCompletionBlock = { saved, deleted, error in
            said.append("zones \(saved?.count ?? 0) \(deleted?.count ?? 0) \(error == nil)")
        }
        devices.phone.add(zones)
        let lookup = CKFetchRecordZonesOperation(recordZoneIDs: [nowhere])
        lookup.fetchRecordZonesCompletionBlock = { zones, error in
            said.append("lookup \(zones?.count ?? -1) \((error as? CKError)?.code.rawValue ?? 0)")
        }
        devices.phone.add(lookup)
        #expect(
            said.all == [
                "1 true 0", "2 false 11", "1 2", "changed 1", "todos true false 0", "nowhere false false 26",
                "2 26", "database true false true", "zones 1 0 true", "lookup 0 2",
            ])
    }

    @Test(arguments: Cloud.allCases) func anOperationCancelledBeforeItRunsSendsNothing(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        let said = Collected<CKError.Code?>()
        let operation = CKModifyRecordsOperation(recordsToSave: [devices.record("1")])
        operation.modifyRecordsResultBlock = { said.append($0.code) }
        operation.cancel()
        devices.phone.add(operation)
        #expect(said.all == [.operationCancelled] && operation.isFinished)
        #expect(devices.cloud.requestCount(.modifyRecords) == 0)
    }

    @Test(arguments: Cloud.allCases) func anOperationCancelledInABlockEndsAfterThatPage(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        for name in ["a", "b", "c"] { try await devices.phone.save(devices.record(name)) }
        let said = Collected<String>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [devices.zoneID],
            configurationsByRecordZoneID: [devices.zoneID: .init(resultsLimit: 1)])
        let running = Lock<CKOperation?>(operation)
        operation.recordWasChangedBlock = { recordID, _ in
            said.append(recordID.recordName)
            running.withLock { $0 }?.cancel()
        }
        operation.fetchRecordZoneChangesResultBlock = { said.append("\($0.code?.rawValue ?? 0)") }
        devices.laptop.add(operation)
        running.withLock { $0 = nil }
        #expect(said.all == ["a", "20"] && operation.isFinished)
    }

    @Test func anOperationCancelledWhileItWaitsEndsAtOnceAndOnce() {
        let transport = SilentTransport()
        let database = transport.database
        let said = Collected<CKError.Code?>()
        let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "1")])
        operation.fetchRecordsResultBlock = { said.append($0.code) }
        database.add(operation)
        #expect(said.all.isEmpty && operation.isExecuting)
        operation.cancel()
        #expect(said.all == [.operationCancelled] && operation.isFinished)
        operation.cancel()
        transport.answer(.failure(CKError(.networkFailure)))
        #expect(said.all == [.operationCancelled])
    }

    @Test(arguments: Cloud.allCases) func aCancelledTaskCancelsItsOperation(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1")
        let task = Task {
            // The stream ends when the task is cancelled.
            let (never, continuation) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            withExtendedLifetime(continuation) {}
            return await codeThrown { try await devices.phone.save(record) }
        }
        task.cancel()
        #expect(await task.value == .operationCancelled)
        #expect(devices.cloud.requestCount(.modifyRecords) == 0)
    }

    @Test func withoutACloudEveryOperationSaysWhatToDo() async throws {
        let container = CKContainer(identifier: "iCloud.com.example.todo")
        do {
            _ = try await container.privateCloudDatabase.record(for: CKRecord.ID(recordName: "1"))
            Issue.record("there is no cloud")
        } catch let error as CKError {
            #expect(error.code == .badContainer)
            #expect(error.localizedDescription.contains("iCloud.com.example.todo"))
            #expect(error.localizedDescription.contains("TestCloud"))
        }
        #expect(await codeThrown { try await container.accountStatus() } == .badContainer)
        #expect(await codeThrown { try await CKContainer.default().userRecordID() } == .badContainer)
    }

    @Test func aContainersDatabasesAreAlwaysTheSameAndOutliveIt() {
        let container = CKContainer(identifier: "iCloud.test")
        #expect(container.privateCloudDatabase === container.database(with: .private))
        #expect(container.publicCloudDatabase === container.database(with: .public))
        #expect(container.sharedCloudDatabase === container.database(with: .shared))
        #expect(CKContainer.default() === CKContainer.default())
        #expect(container.sharedCloudDatabase.databaseScope == .shared)
        let database = TestCloud().device(user: "ada").container.privateCloudDatabase
        let said = Collected<Bool>()
        database.save(CKRecordZone(zoneName: "z")) { zone, error in said.append(zone != nil && error == nil) }
        #expect(said.all == [true])
    }

    @Test(arguments: Cloud.allCases) func theAccountIsTheDevicesUser(way: Cloud) async throws {
        let cloud = try way.cloud()
        let ada = cloud.device(user: "ada").container
        #expect(try await ada.userRecordID().recordName == "_ada")
        #expect(try await ada.accountStatus() == .available)
        let nobody = cloud.signedOutDevice().container
        #expect(try await nobody.accountStatus() == .noAccount)
        #expect(await codeThrown { try await nobody.userRecordID() } == .notAuthenticated)
        let database = nobody.privateCloudDatabase
        #expect(
            await codeThrown { try await database.save(CKRecordZone(zoneName: "z")) } == .notAuthenticated)
        let said = Collected<String>()
        ada.fetchUserRecordID { recordID, error in
            said.append("\(recordID?.recordName ?? "") \(error == nil)")
        }
        nobody.accountStatus { status, error in said.append("\(status == .noAccount) \(error == nil)") }
        #expect(said.all == ["_ada true", "true true"])
    }

    @Test(arguments: Cloud.allCases) func anOperationAddedToAContainerRunsOnItsPrivateDatabase(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        let container = devices.cloud.device(user: "ada").container
        let said = Collected<Bool>()
        let operation = CKFetchRecordZonesOperation(recordZoneIDs: [devices.zoneID])
        operation.perRecordZoneResultBlock = { _, result in said.append(result.isSuccess) }
        container.add(operation)
        #expect(said.all == [true])
    }

    @Test(arguments: Cloud.allCases) func theCompletionFormsSayTheSameAsTheAsyncOnes(way: Cloud) async throws
    {
        let devices = try await TwoDevices(way)
        let phone = devices.phone, said = Collected<String>()
        let zone = CKRecordZone(zoneName: "z"), record = devices.record("1", title: "eggs")
        phone.save(record) { record, error in said.append("save \(record != nil) \(error == nil)") }
        phone.fetch(withRecordID: record.recordID) { record, error in
            said.append("fetch \(record?["title"] as? String ?? "") \(error == nil)")
        }
        phone.fetch(withRecordID: devices.id("9")) { record, error in
            said.append("fetch \(record == nil) \((error as? CKError)?.code == .unknownItem)")
        }
        phone.fetch(withRecordIDs: [record.recordID]) { said.append("records \($0.isSuccess)") }
        phone.modifyRecords(saving: [], deleting: [devices.id("9")]) { result in
            said.append("modify \((try? result.get())?.deleteResults.count ?? 0)")
        }
        phone.fetchRecordZoneChanges(inZoneWith: devices.zoneID, since: nil) { result in
            said.append("zone \((try? result.get())?.modificationResultsByID.count ?? 0)")
        }
        phone.fetchDatabaseChanges(since: nil) { result in
            said.append("database \((try? result.get())?.modifications.count ?? 0)")
        }
        phone.delete(withRecordID: record.recordID) { id, error in
            said.append("delete \(id != nil) \(error == nil)")
        }
        phone.save(zone) { zone, error in said.append("zone \(zone != nil) \(error == nil)") }
        phone.fetch(withRecordZoneID: zone.zoneID) { zone, error in said.append("zone \(zone != nil)") }
        phone.fetch(withRecordZoneIDs: [zone.zoneID]) { said.append("zones \($0.isSuccess)") }
        phone.fetchAllRecordZones { zones, _ in said.append("all \(zones?.contains(zone) ?? false)") }
        phone.modifyRecordZones(saving: [zone], deleting: []) { said.append("modify \($0.isSuccess)") }
        phone.delete(withRecordZoneID: zone.zoneID) { id, error in said.append("delete \(id == zone.zoneID)")
        }
        #expect(
            said.all == [
                "save true true", "fetch eggs true", "fetch true true", "records true", "modify 1", "zone 1",
                "database 1", "delete true true", "zone true true", "zone true", "zones true", "all true",
                "modify true", "delete true",
            ])
    }

    @Test func onThreadsTheSameCodeWorksAndDependenciesHold() async throws {
        let devices = try await TwoDevices(TestCloud(execution: .threads))
        let names = (0..<20).map { "\($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names {
                group.addTask { try await devices.phone.save(devices.record(name, title: name)) }
            }
            try await group.waitForAll()
        }
        let page = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
        #expect(page.modificationResultsByID.count == 20)

        let said = Collected<String>()
        let first = CKModifyRecordsOperation(recordsToSave: [devices.record("first")])
        first.modifyRecordsResultBlock = { _ in said.append("first") }
        await withCheckedContinuation { continuation in
            let second = CKFetchRecordsOperation(recordIDs: [devices.id("first")])
            second.addDependency(first)
            second.perRecordResultBlock = { _, result in said.append("second \(result.isSuccess)") }
            second.completionBlock = { continuation.resume() }
            devices.phone.add(second)
            devices.phone.add(first)
        }
        #expect(said.all == ["first", "second true"])
    }
}
