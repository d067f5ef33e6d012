import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap
import YapCloudKit

/// The code samples of the documents, one test each, in the order in which they stand there.
@Suite struct SeedsTests {
    let cloud = TestCloud()
    let app: SeedsApp

    init() throws {
        app = try SeedsApp(cloud)
        app.makeZone()
    }

    @discardableResult
    private func register(
        handler: YapDatabaseCloudKitRecordHandler = SeedsBlocks.recordHandler, suspended: Bool = false,
        databaseIdentifierBlock: YapDatabaseCloudKit.DatabaseIdentifierBlock? = nil
    ) throws -> YapDatabaseCloudKit {
        let cloudKit = YapDatabaseCloudKit(
            app, recordHandler: handler, mergeBlock: SeedsBlocks.mergeBlock,
            databaseIdentifierBlock: databaseIdentifierBlock, options: .init(allowedCollections: ["todos"]))
        if suspended { cloudKit.suspend() }
        try app.database.blocking.register(cloudKit, withName: "cloudKit")
        return cloudKit
    }

    private func insert(_ name: String = "1", title: String = "Pick up eggs") throws {
        try app.readWrite { transaction in
            try transaction.setObject(MyTodo(uuid: name, title: title), forKey: name, inCollection: "todos")
        }
        app.run()
    }

    // MARK: RecordHandlerBlock

    @Test func recordHandlerBlock() throws {
        let cloudKit = try register()
        try app.readWrite { transaction in
            try transaction.setObject(MyTodo(uuid: "1", title: "eggs"), forKey: "1", inCollection: "todos")
            // A collection that isn't allowed.
            try transaction.setObject(MyUser(), forKey: "me", inCollection: "users")
        }
        cloudKit.suspend()
        // Every single property, also those that were never changed.
        app.run()
        #expect(
            try app.queue() == [
                "1 color=nil completed=0 created=2017-07-14 02:40:00 +0000 note=nil priority=0 title=eggs"
            ])
        cloudKit.resume()
        app.run()
        #expect(app.server("1")?["title"] == "eggs")
        #expect(app.server("me") == nil)

        cloudKit.suspend()
        try app.readWrite { transaction in
            guard let todo = try transaction.object(MyTodo.self, forKey: "1", inCollection: "todos")?.copy()
            else { return }
            todo.isCompleted = true
            try transaction.setObject(todo, forKey: "1", inCollection: "todos")
        }
        // Set again without a change: nothing to push.
        try app.readWrite { transaction in
            guard let todo = try transaction.object(MyTodo.self, forKey: "1", inCollection: "todos") else {
                return
            }
            try transaction.setObject(todo, forKey: "1", inCollection: "todos")
        }
        #expect(try app.queue() == ["1 completed=1"])
        let originals = try app.connection.blocking.read { transaction in
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).pendingChangeSets()[0]
                .originalValues(for: app.recordID("1"))
        }
        #expect(originals.keys.sorted() == ["completed"])
        #expect(originals["completed"] as? Bool == false)
    }

    @Test("27. recordHandlerBlock: after a relaunch it is called for exactly the pending keys")
    func recordHandlerBlockRestores() throws {
        try register()
        try insert()
        try app.relaunch()
        try register(suspended: true)
        try app.readWrite { transaction in
            guard let todo = try transaction.object(MyTodo.self, forKey: "1", inCollection: "todos")?.copy()
            else { return }
            todo.title = "Pick up bread"
            todo.color = MyColor(red: 1, green: 2, blue: 3)
            try transaction.setObject(todo, forKey: "1", inCollection: "todos")
        }
        try app.relaunch()
        let asked = Lock<[Set<String>]>([])
        try register(
            handler: .withObject { transaction, record, info, collection, key, object in
                if let keys = info.keysToRestore { asked.withLock { $0.append(keys) } }
                try SeedsBlocks.recordHandler.call(transaction, &record, info, collection, key, object)
            })
        app.run()
        #expect(asked.withLock { $0 } == [["title", "color"]])
        #expect(app.server("1")?["title"] == "Pick up bread")
        #expect(app.server("1")?["color"] == "1,2,3,255")
    }

    // MARK: The PreSanitizer & PostSanitizer

    @Test func preSanitizerAndPostSanitizer() throws {
        let seen = Lock<[Set<String>]>([])
        let app = try SeedsApp(cloud) {
            $0.register(MyTodo.self, serializer: .cbor(), inCollection: "todos")
            $0.preSanitize(MyTodo.self, inCollection: "todos") { _, _, object in
                object.makeImmutable()
                return object
            }
            $0.postSanitize(MyTodo.self, inCollection: "todos") { _, _, object in
                object.clearChangedProperties()
            }
        }
        let cloudKit = YapDatabaseCloudKit(
            app,
            recordHandler: .withObject { _, _, _, _, _, object in
                guard let todo = object as? MyTodo else { return }
                #expect(todo.isImmutable)
                seen.withLock { $0.append(todo.changedProperties) }
            })
        try app.database.blocking.register(cloudKit, withName: "cloudKit")
        try app.readWrite {
            try $0.setObject(MyTodo(uuid: "1", title: "eggs"), forKey: "1", inCollection: "todos")
        }
        try app.readWrite { transaction in
            var todo = try #require(try transaction.object(MyTodo.self, forKey: "1", inCollection: "todos"))
            todo = todo.copy()  // make mutable copy
            todo.isCompleted = true

            try transaction.setObject(todo, forKey: "1", inCollection: "todos")
            #expect(todo.changedProperties.isEmpty)
        }
        #expect(seen.withLock { $0 } == [["uuid", "title"], ["isCompleted"]])
    }

    // MARK: Alternative to recordHandlerBlock

    @Test("39. the migration with a misspelt key, through saveRecord")
    func migrationWithAMisspeltKey() throws {
        let cloudKit = try register()
        try insert()
        // An earlier version of the app wrote it so.
        app.changeOnServer("1") { $0["isCompeted"] = true }
        try app.readWrite { transaction in
            let remote = try #require(app.server("1"))
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).mergeRecord(
                remote, databaseIdentifier: nil)
        }
        cloudKit.suspend()

        try app.readWrite { transaction in
            let cloudKit = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            for row in try transaction.objects(MyTodo.self, inCollection: "todos") {
                guard let record = try cloudKit.record(forKey: row.key, inCollection: "todos") else {
                    continue
                }

                record["isCompeted"] = nil  // Typo, forgot the 'l'
                record["isCompleted"] = row.object.isCompleted

                try cloudKit.saveRecord(record, databaseIdentifier: nil)
            }
        }

        #expect(try app.queue() == ["1 isCompeted=nil isCompleted=0"])
        // No object holds these: they are kept as values, and survive a relaunch.
        try app.relaunch()
        try register()
        app.run()
        #expect(app.server("1")?["isCompeted"] == nil as Bool?)
        #expect(app.server("1")?["isCompleted"] == false)
        #expect(try app.queue().isEmpty)
    }

    // MARK: The databaseIdentifier

    @Test("11. databaseIdentifierBlock: a record is sent to the database of its identifier")
    func databaseIdentifierBlock() throws {
        let container = app.container
        let handler = YapDatabaseCloudKitRecordHandler.withObject { _, record, recordInfo, _, key, object in
            guard let todo = object as? MyTodo else { return }
            if record == nil {
                record = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: key))
                recordInfo.databaseIdentifier = "public"
            }
            #expect(recordInfo.databaseIdentifier == "public")
            record?["title"] = todo.title
        }
        try register(handler: handler) { databaseIdentifier in
            if databaseIdentifier == "public" {
                container.publicCloudDatabase
            } else {
                nil
            }
        }
        try insert(title: "for all")
        #expect(app.server("1", in: container.publicCloudDatabase)?["title"] == "for all")
        #expect(app.server("1") == nil)
        // Set once, it is kept beside the record.
        try app.readWrite { transaction in
            guard let todo = try transaction.object(MyTodo.self, forKey: "1", inCollection: "todos")?.copy()
            else { return }
            todo.title = "for everyone"
            try transaction.setObject(todo, forKey: "1", inCollection: "todos")
        }
        app.run()
        #expect(app.server("1", in: container.publicCloudDatabase)?["title"] == "for everyone")
    }

    // MARK: MergeBlock

    private func merge() throws {
        let remoteRecord = try #require(app.server("1"))
        try app.readWrite { transaction in
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
                .mergeRecord(remoteRecord, databaseIdentifier: nil)
        }
    }

    @Test("62. mergeBlock, scenario 1: conflict free")
    func mergeBlockConflictFree() throws {
        try register()
        try insert()
        app.changeOnServer("1") { $0["title"] = "Robbie" }
        try merge()
        #expect(try app.todo("1")?.title == "Robbie")
        #expect(try app.queue().isEmpty)
    }

    @Test("64, 65. mergeBlock, scenario 2: the remote value wins, changes by this device only are kept")
    func mergeBlockPossibleConflict() throws {
        let cloudKit = try register()
        try insert()
        cloudKit.suspend()
        for (property, value) in [("title", "Robby"), ("note", "Hanson")] {
            try app.readWrite { transaction in
                guard
                    let todo = try transaction.object(MyTodo.self, forKey: "1", inCollection: "todos")?.copy()
                else { return }
                todo.setLocalValue(fromCloudValue: value, forCloudKey: property)
                try transaction.setObject(todo, forKey: "1", inCollection: "todos")
            }
        }
        app.changeOnServer("1") { $0["title"] = "Robbie" }
        try merge()
        #expect(try app.todo("1")?.title == "Robbie")
        #expect(try app.queue() == ["1 note=Hanson"])
        cloudKit.resume()
        app.run()
        #expect(app.server("1")?["title"] == "Robbie")
        #expect(app.server("1")?["note"] == "Hanson")
    }

    // MARK: MyDatabaseObject Tricks

    private func stored(_ change: (MyTodo) -> Void) throws -> CKRecord {
        try app.readWrite { transaction in
            let todo = MyTodo(uuid: "1", title: "eggs")
            change(todo)
            try transaction.setObject(todo, forKey: "1", inCollection: "todos")
        }
        app.run()
        return try #require(app.server("1"))
    }

    @Test func propertiesWeDoNotWantToSync() throws {
        try register()
        let record = try stored { _ in }
        // The name that a todo has is the record's, and no field.
        #expect(!record.allKeys().contains("uuid"))
        #expect(MyUser().allCloudProperties == ["name"])
    }

    @Test func propertyNameMismatches() throws {
        try register()
        let record = try stored { $0.isCompleted = true }
        #expect(
            record["completed"] == true && record["created"] == Date(timeIntervalSince1970: 1_500_000_000))
        #expect(record["isCompleted"] == nil as Bool? && record["creationDate"] == nil as Date?)
        app.changeOnServer("1") { $0["completed"] = false }
        try merge()
        #expect(try app.todo("1")?.isCompleted == false)
    }

    @Test func unsupportedPropertyTypes() throws {
        try register()
        let record = try stored { $0.color = MyColor(red: 1, green: 2, blue: 3) }
        #expect(record["color"] == "1,2,3,255")
        app.changeOnServer("1") { $0["color"] = "9,8,7,255" }
        try merge()
        #expect(try app.todo("1")?.color == MyColor(red: 9, green: 8, blue: 7))
    }

    // MARK: Suspend & Resume

    @Test("97. suspend and resume count")
    func suspendAndResume() throws {
        let cloudKit = try register()
        #expect(cloudKit.suspend() == 1)
        #expect(cloudKit.suspend() == 2)
        #expect(cloudKit.resume() == 1)
        #expect(cloudKit.resume() == 0)

        #expect(cloudKit.suspend(count: 2) == 2)
        #expect(cloudKit.resume() == 1)
        #expect(cloudKit.resume() == 0)
    }
}
