import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// The four kinds of record handlers: which changes each hears of, and that each can be asked again.
@Suite struct HandlerTests {
    enum Kind: CaseIterable { case key, object, metadata, row }

    /// A handler whose record has one value, of what it looks at.
    private final class Device {
        let path = NSTemporaryDirectory() + "yap-handlers-" + UUID().uuidString + ".db"
        let cloud = TestCloud()
        let kind: Kind
        let form: QueueStorage
        let calls = Lock<[String]>([])
        private let device: TestDevice
        private(set) var database: YapDatabase
        private(set) var cloudKit: YapDatabaseCloudKit

        init(_ kind: Kind, _ form: QueueStorage) throws {
            (self.kind, self.form) = (kind, form)
            device = cloud.device(user: "ada")
            database = try Self.open(path)
            cloudKit = Self.make(kind, form, device, cloud, calls)
            try register()
        }

        deinit {
            try? database.blocking.close()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }

        private static func open(_ path: String) throws -> YapDatabase {
            try YapDatabase(path: path) {
                $0.register(Todo.self, inCollection: "todos")
                $0.registerMetadata(String.self, serializer: .cbor(), inCollection: "todos")
            }
        }

        private func register() throws {
            cloudKit.suspend()
            try database.blocking.register(cloudKit, withName: "ck")
        }

        func relaunch() throws {
            try database.blocking.close()
            database = try Self.open(path)
            cloudKit = Self.make(kind, form, device, cloud, calls)
            try register()
        }

        func write(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws {
            try database.newConnection().blocking.readWrite { try body($0) }
        }

        func queue() throws -> [String] {
            try database.newConnection().blocking.read { transaction in
                let ext = try transaction.ext("ck", as: YapDatabaseCloudKit.self)
                return try ext.pendingChangeSets().flatMap(\.recordsToSave).map { "\($0["value"] ?? "nil")" }
            }
        }

        /// What the handler was called for since the last time.
        func called() -> [String] {
            calls.withLock { calls in
                defer { calls = [] }
                return calls
            }
        }

        static func make(
            _ kind: Kind, _ form: QueueStorage, _ device: TestDevice, _ cloud: TestCloud,
            _ calls: Lock<[String]>
        ) -> YapDatabaseCloudKit {
            let container = device.container
            @Sendable func handle(_ record: inout CKRecord?, _ info: YDBCKRecordInfo, _ value: String) {
                calls.withLock { $0.append(info.keysToRestore.map { "\($0.sorted())" } ?? value) }
                let known = record ?? CKRecord(recordType: "r", recordID: CKRecord.ID(recordName: "1"))
                known["value"] = value
                record = known
            }
            let handler: YapDatabaseCloudKitRecordHandler =
                switch kind {
                case .key: .withKey { handle(&$1, $2, $4) }
                case .object: .withObject { handle(&$1, $2, ($5 as? Todo)?.title ?? "?") }
                case .metadata: .withMetadata { handle(&$1, $2, $5 as? String ?? "none") }
                case .row:
                    .withRow { handle(&$1, $2, "\(($5 as? Todo)?.title ?? "?") \($6 as? String ?? "none")") }
                }
            return YapDatabaseCloudKit(
                recordHandler: handler, mergeBlock: { _, _, _, _, _ in }, versionTag: "1",
                options: .init(storage: form),
                environment: SyncEnvironment(
                    scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
                    random: SeededRandomSource(seed: 1),
                    databaseBlock: { _ in container.privateCloudDatabase },
                    errorBlock: { _, _ in }))
        }
    }

    @Test("12, 13. each kind of handler is called for its changes", arguments: Kind.allCases, forms)
    func eachKindIsNotifiedOfItsChanges(_ kind: Kind, _ form: QueueStorage) throws {
        let device = try Device(kind, form)
        try device.write {
            try $0.setObject(Todo(title: "a"), metadata: "m", forKey: "1", inCollection: "todos")
        }
        let first = ["1", "a", "m", "a m"][Kind.allCases.firstIndex(of: kind) ?? 0]
        #expect(device.called() == [first])
        let steps: [(String, (YapDatabaseReadWriteTransaction) throws -> Void, [Kind])] = [
            (
                "object", { try $0.replaceObject(Todo(title: "b"), forKey: "1", inCollection: "todos") },
                [.object, .row]
            ),
            (
                "metadata", { try $0.replaceMetadata("n", forKey: "1", inCollection: "todos") },
                [.metadata, .row]
            ),
            ("touch", { try $0.touchObject(forKey: "1", inCollection: "todos") }, [.object, .row]),
            (
                "touched metadata", { try $0.touchMetadata(forKey: "1", inCollection: "todos") },
                [.metadata, .row]
            ),
            (
                "touched row", { try $0.touchRow(forKey: "1", inCollection: "todos") },
                [.object, .metadata, .row]
            ),
        ]
        for (name, step, kinds) in steps {
            try device.write(step)
            let called = device.called().count
            #expect(called == (kinds.contains(kind) ? 1 : 0), "\(name)")
        }
    }

    @Test("27. each kind of handler is called again for its key", arguments: Kind.allCases, forms)
    func eachKindIsAskedAgain(_ kind: Kind, _ form: QueueStorage) throws {
        let device = try Device(kind, form)
        try device.write {
            try $0.setObject(Todo(title: "a"), metadata: "m", forKey: "1", inCollection: "todos")
        }
        let before = try device.queue()
        _ = device.called()
        try device.relaunch()
        #expect(try device.queue() == before)
        #expect(device.called() == (form == .values ? [] : ["[\"value\"]"]))
    }

    @Test(
        "a change without a handler call leaves the queued value unchanged",
        arguments: [Kind.object, .metadata], forms)
    func aChangeWithoutAHandlerCall(_ kind: Kind, _ form: QueueStorage) throws {
        let device = try Device(kind, form)
        try device.write {
            try $0.setObject(Todo(title: "a"), metadata: "m", forKey: "1", inCollection: "todos")
        }
        try device.relaunch()
        _ = device.called()
        try device.write { transaction in
            switch kind {
            case .object: try transaction.replaceMetadata("n", forKey: "1", inCollection: "todos")
            default: try transaction.replaceObject(Todo(title: "b"), forKey: "1", inCollection: "todos")
            }
        }
        #expect(device.called() == (form == .values ? [] : ["[\"value\"]"]), "asked before it changed")
        try device.relaunch()
        #expect(try device.queue() == [kind == .object ? "a" : "m"])
        #expect(device.called().isEmpty, "the value is stored")
    }
}
