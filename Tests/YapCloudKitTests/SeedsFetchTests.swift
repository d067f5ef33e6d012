import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap
import YapCloudKit

/// The documents' samples that talk to the cloud by themselves: start-up, errors, attach and detach, and the fetch.
@Suite struct SeedsFetchTests {
    let cloud = TestCloud()
    let app: SeedsApp

    init() throws {
        app = try SeedsApp(cloud)
    }

    private func insert(_ name: String, title: String) throws {
        try app.readWrite { transaction in
            try transaction.setObject(MyTodo(uuid: name, title: title), forKey: name, inCollection: "todos")
        }
        app.run()
    }

    private func makeCloudKit(
        operationErrorBlock: @escaping YapDatabaseCloudKit.OperationErrorBlock = { _, _ in }
    ) -> YapDatabaseCloudKit {
        YapDatabaseCloudKit(
            app, recordHandler: SeedsBlocks.recordHandler, mergeBlock: SeedsBlocks.mergeBlock,
            operationErrorBlock: operationErrorBlock, options: .init(allowedCollections: ["todos"]))
    }

    @discardableResult
    private func register() throws -> YapDatabaseCloudKit {
        app.makeZone()
        let cloudKit = makeCloudKit()
        try app.database.blocking.register(cloudKit, withName: "cloudKit")
        return cloudKit
    }

    // MARK: Start-up

    @Test("97. start-up: three suspends, and a resume for each task that is done")
    func startUp() throws {
        let database = app.container.privateCloudDatabase
        let cloudKit = makeCloudKit()

        cloudKit.suspend()  // Create zone(s)
        cloudKit.suspend()  // Create zone subscription(s)
        cloudKit.suspend()  // Fetch changes from other devices while app wasn't running

        try app.database.blocking.register(cloudKit, withName: "cloudKit")
        try insert("1", title: "eggs")
        #expect(cloud.requestCount(.modifyRecords) == 0)

        let modifyRecordZones = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneID: SeedsApp.zoneID)])
        modifyRecordZones.modifyRecordZonesResultBlock = { result in
            if case .success = result { cloudKit.resume() }
        }
        database.add(modifyRecordZones)
        #expect(cloudKit.suspendCount == 2)

        let subscription = CKRecordZoneSubscription(zoneID: SeedsApp.zoneID, subscriptionID: "zone1")
        subscription.notificationInfo = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
        let modifySubscriptions = CKModifySubscriptionsOperation(subscriptionsToSave: [subscription])
        modifySubscriptions.modifySubscriptionsResultBlock = { result in
            if case .success = result { cloudKit.resume() }
        }
        database.add(modifySubscriptions)
        #expect(cloudKit.suspendCount == 1)
        app.run()
        #expect(cloud.requestCount(.modifyRecords) == 0)

        app.fetchRecordChanges { result, moreComing in
            #expect(result == .noData)
            if !moreComing { cloudKit.resume() }
        }
        #expect(cloudKit.suspendCount == 0)
        app.run()
        #expect(app.server("1")?["title"] == "eggs")
        #expect(try app.queue().isEmpty)
    }

    // MARK: Attach & Detach

    private func put(_ name: String, title: String) throws -> CKRecord {
        let record = CKRecord(recordType: "todo", recordID: app.recordID(name))
        record["title"] = title
        let other = cloud.device(user: "ada").container.privateCloudDatabase
        other.add(CKModifyRecordsOperation(recordsToSave: [record]))
        return try #require(app.server(name))
    }

    @Test(
        "43, 44. attach: the records that the app cared for by itself are handed over, clean ones and dirty ones"
    )
    func attachRecord() throws {
        try app.readWrite { transaction in
            for name in ["clean", "dirty"] {
                try transaction.setObject(
                    MyTodo(uuid: name, title: name), forKey: name, inCollection: "todos")
            }
        }
        app.makeZone()
        let clean = try put("clean", title: "clean")
        let dirty = CKRecord(recordType: "todo", recordID: app.recordID("dirty"))
        dirty["title"] = "dirty"
        // The rows were there before the extension: it leaves to the app which records they are.
        let cloudKit = YapDatabaseCloudKit(
            app,
            recordHandler: .withObject { transaction, record, info, collection, key, object in
                if record == nil { return }
                try SeedsBlocks.recordHandler.call(transaction, &record, info, collection, key, object)
            })
        try app.database.blocking.register(cloudKit, withName: "cloudKit")

        try app.readWrite { transaction in
            let cloudKit = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            let isCleanAttached = try cloudKit.attachRecord(
                clean, databaseIdentifier: nil, forKey: "clean", inCollection: "todos",
                shouldUploadRecord: false)
            let isDirtyAttached = try cloudKit.attachRecord(
                dirty, databaseIdentifier: nil, forKey: "dirty", inCollection: "todos",
                shouldUploadRecord: true)
            #expect(isCleanAttached && isDirtyAttached)
        }

        #expect(try app.queue() == ["dirty title=dirty"])
        app.run()
        #expect(app.server("dirty")?["title"] == "dirty")
        try app.readWrite { transaction in
            guard
                let todo = try transaction.object(MyTodo.self, forKey: "clean", inCollection: "todos")?.copy()
            else { return }
            todo.title = "changed"
            try transaction.setObject(todo, forKey: "clean", inCollection: "todos")
        }
        app.run()
        #expect(app.server("clean")?["title"] == "changed")
    }

    @Test("50. detach: an object that becomes local only is deleted in the cloud, and stays here")
    func detachRecordToMakeItLocal() throws {
        try register()
        try insert("1", title: "pickup diamond earrings for wife's b-day")

        try app.readWrite { transaction in
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).detachRecord(
                forKey: "1", inCollection: "todos", wasRemoteDeletion: false, shouldUploadDeletion: true)
        }
        app.run()
        #expect(app.server("1") == nil)
        #expect(try app.todo("1") != nil)
    }

    @Test(
        "51. detach and attach: a record moves into another zone, and the old one stays for earlier versions")
    func detachRecordToMoveItToAnotherZone() throws {
        try register()
        try insert("1", title: "eggs")
        let zone2 = CKRecordZone.ID(zoneName: "zone2")
        app.container.privateCloudDatabase.add(
            CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: zone2)]))

        try app.readWrite { transaction in
            let cloudKit = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            for row in try transaction.objects(MyTodo.self, inCollection: "todos") {
                try cloudKit.detachRecord(
                    forKey: row.key, inCollection: "todos", wasRemoteDeletion: false,
                    shouldUploadDeletion: false)
                let record = CKRecord(
                    recordType: "todo", recordID: CKRecord.ID(recordName: row.key, zoneID: zone2))
                for cloudKey in row.object.allCloudProperties {
                    record[cloudKey] = row.object.cloudValue(forCloudKey: cloudKey)
                }
                try cloudKit.attachRecord(
                    record, databaseIdentifier: nil, forKey: row.key, inCollection: "todos",
                    shouldUploadRecord: true)
            }
        }
        app.run()
        #expect(app.server("1")?["title"] == "eggs")
        let moved = try app.connection.blocking.read { transaction in
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
                .recordID(forKey: "1", inCollection: "todos")?.recordID.zoneID
        }
        #expect(moved == zone2)
        #expect(try app.queue().isEmpty)
    }

    // MARK: Multiple Objects per CKRecord

    @Test("53, 54. a contact and its address are one record")
    func multipleObjectsPerRecord() throws {
        final class MyContact: MyDatabaseObject, @unchecked Sendable {
            @Monitored var name = ""
        }
        final class MyAddress: MyDatabaseObject, @unchecked Sendable {
            @Monitored var address = ""
        }
        let app = try SeedsApp(cloud) {
            $0.register(MyContact.self, inCollection: "contacts")
            $0.register(MyAddress.self, inCollection: "addresses")
        }
        app.makeZone()
        let cloudKit = YapDatabaseCloudKit(
            app,
            recordHandler: .withObject { _, record, recordInfo, _, key, object in
                guard let object = object as? MyDatabaseObject else { return }
                let isNewRecord = record == nil
                // Both have one key, so both make the same record.
                let contact =
                    record
                    ?? CKRecord(
                        recordType: "contact", recordID: CKRecord.ID(recordName: key, zoneID: SeedsApp.zoneID)
                    )
                record = contact
                let cloudKeys =
                    recordInfo.keysToRestore
                    ?? (isNewRecord ? object.allCloudProperties : object.changedCloudProperties)
                for cloudKey in cloudKeys where object.allCloudProperties.contains(cloudKey) {
                    contact[cloudKey] = object.cloudValue(forCloudKey: cloudKey)
                }
            })
        try app.database.blocking.register(cloudKit, withName: "cloudKit")
        try app.readWrite { transaction in
            let contact = MyContact()
            contact.name = "Robbie"
            let address = MyAddress()
            address.address = "1 Infinite Loop"
            try transaction.setObject(contact, forKey: "1", inCollection: "contacts")
            try transaction.setObject(address, forKey: "1", inCollection: "addresses")
        }
        #expect(try app.queue() == ["1 address=1 Infinite Loop name=Robbie"])
        app.run()

        try app.readWrite { transaction in
            guard
                let address = try transaction.object(MyAddress.self, forKey: "1", inCollection: "addresses")?
                    .copy()
            else { return }
            address.address = "2 Infinite Loop"
            try transaction.setObject(address, forKey: "1", inCollection: "addresses")
        }
        app.run()
        #expect(app.server("1")?["address"] == "2 Infinite Loop")
        #expect(app.server("1")?["name"] == "Robbie")

        try app.readWrite { try $0.removeObject(forKey: "1", inCollection: "addresses") }
        app.run()
        #expect(app.server("1") != nil)
        try app.readWrite { try $0.removeObject(forKey: "1", inCollection: "contacts") }
        app.run()
        #expect(app.server("1") == nil)
    }

    // MARK: Fetching Record Changes

    private func fetch() -> [SeedsApp.FetchResult] {
        let results = Lock<[SeedsApp.FetchResult]>([])
        app.fetchRecordChanges { result, _ in results.withLock { $0.append(result) } }
        return results.withLock { $0 }
    }

    @Test(
        "61, 62, 79, 87. the fetch: new records, changes of other devices, own changes, deletions, and the token"
    )
    func fetchRecordChangesWithCompletionHandler() throws {
        let cloudKit = try register()
        _ = try put("theirs", title: "from the laptop")
        #expect(fetch() == [.newData])
        #expect(try app.todo("theirs")?.title == "from the laptop")
        #expect(try app.queue().isEmpty)
        #expect(fetch() == [.noData])

        // An own change comes back.
        try insert("mine", title: "eggs")
        let before = app.database.snapshot
        #expect(fetch() == [.newData])
        #expect(app.database.snapshot == before + 1)
        #expect(try app.queue().isEmpty)

        // Another device changes both; one of them is changed here too.
        cloudKit.suspend()
        try app.readWrite { transaction in
            guard
                let todo = try transaction.object(MyTodo.self, forKey: "mine", inCollection: "todos")?.copy()
            else { return }
            todo.priority = 3
            try transaction.setObject(todo, forKey: "mine", inCollection: "todos")
        }
        app.changeOnServer("mine") { $0["title"] = "bread" }
        app.changeOnServer("theirs") { $0["completed"] = true }
        #expect(fetch() == [.newData])
        #expect(try app.todo("mine")?.title == "bread")
        #expect(try app.todo("theirs")?.isCompleted == true)
        #expect(try app.queue() == ["mine priority=3"])
        cloudKit.resume()
        app.run()
        #expect(app.server("mine")?["priority"] == 3)

        // Another device deletes both.
        let operation = CKModifyRecordsOperation(recordIDsToDelete: [
            app.recordID("mine"), app.recordID("theirs"),
        ])
        cloud.device(user: "ada").container.privateCloudDatabase.add(operation)
        #expect(fetch() == [.newData])
        #expect(try app.todo("mine") == nil && app.todo("theirs") == nil)
        app.run()
        #expect(try app.queue().isEmpty)
    }

    @Test("85. the fetch: a record whose deletion waits isn't made again")
    func fetchWithAPendingDeletion() throws {
        let cloudKit = try register()
        try insert("1", title: "eggs")
        cloudKit.suspend()
        try app.readWrite { try $0.removeObject(forKey: "1", inCollection: "todos") }
        app.changeOnServer("1") { $0["title"] = "bread" }
        #expect(fetch() == [.newData])
        #expect(try app.todo("1") == nil)
        #expect(try app.queue() == ["-1"])
    }
}
