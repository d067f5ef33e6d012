import CloudKit
import CloudKitAdditions
import Foundation
import SQLite
import System
import Yap
import YapCloudKit

extension Note: CloudModel {
    static let recordType = "Note"
    static let fields = CloudFields<Note> {
        $0.field(\.identifier)
        $0.field(\.title)
        $0.field(\.body)
        $0.field(\.isDone)
        $0.field(\.priority)
        $0.field(\.estimateHours)
        $0.field(\.created)
        $0.field(\.modified)
        $0.field(\.project)
        $0.field(\.tags)
    }

    init() {
        self.init(
            identifier: UUID(), title: "", body: "", isDone: false, priority: 0, estimateHours: 0,
            created: .distantPast, modified: .distantPast, tags: [])
    }
}

/// Devices of the lines: a database's file with the sync extension registered.
enum SyncDevice {
    static let zoneName = "notes"
    static let zoneID = CKRecordZone.ID(zoneName: zoneName)
    static let extensionName = "cloudKit"

    /// Registers the extension as the original's users write it: a handler that compares, and nothing uploaded, for
    /// it is suspended.
    ///
    /// - Parameter runs: Whether its engine runs, on threads of its own. It needs to count what waits, and no more.
    @discardableResult
    static func registerHandler(
        on database: YapDatabase, storage: YapDatabaseCloudKit.QueueStorage, runs: Bool = true
    ) throws -> YapDatabaseCloudKit {
        let clock = SystemTimeSource()
        let scheduler: any SyncScheduler = runs ? ThreadScheduler() : ManualScheduler(clock: clock)
        let cloudKit = YapDatabaseCloudKit(
            recordHandler: handler, mergeBlock: { _, _, _, _, _ in }, versionTag: "1",
            options: .init(allowedCollections: [Workload.collection], storage: storage),
            environment: SyncEnvironment(
                scheduler: scheduler, clock: clock, random: SystemRandomSource(), databaseBlock: { _ in nil },
                errorBlock: { _, _ in }))
        cloudKit.suspend()
        try database.blocking.register(cloudKit, withName: extensionName)
        return cloudKit
    }

    /// Copies what changed, as the seeds' record handler does.
    private static let handler: YapDatabaseCloudKitRecordHandler = .withObject {
        _, record, info, _, key, object in
        guard let note = object as? Note else { return }
        guard let known = record else {
            let made = CKRecord(
                recordType: Note.recordType, recordID: CKRecord.ID(recordName: key, zoneID: zoneID))
            for field in Field.allCases { made[field.rawValue] = field.value(note) }
            record = made
            return
        }
        let previous = info.previousObject as? Note
        for field in Field.allCases where previous.map({ !field.isSame($0, note) }) ?? true {
            known[field.rawValue] = field.value(note)
            if let previous { info.originalValues[field.rawValue] = field.value(previous) }
        }
    }

    /// The fields of a note, by hand.
    enum Field: String, CaseIterable {
        case identifier, title, body, isDone, priority, estimateHours, created, modified, project, tags

        func value(_ note: Note) -> (any CKRecordValueProtocol)? {
            switch self {
            case .identifier: note.identifier.uuidString
            case .title: note.title
            case .body: note.body
            case .isDone: note.isDone
            case .priority: note.priority
            case .estimateHours: note.estimateHours
            case .created: note.created
            case .modified: note.modified
            case .project: note.project
            case .tags: note.tags
            }
        }

        func isSame(_ left: Note, _ right: Note) -> Bool {
            switch self {
            case .identifier: left.identifier == right.identifier
            case .title: left.title == right.title
            case .body: left.body == right.body
            case .isDone: left.isDone == right.isDone
            case .priority: left.priority == right.priority
            case .estimateHours: left.estimateHours == right.estimateHours
            case .created: left.created == right.created
            case .modified: left.modified == right.modified
            case .project: left.project == right.project
            case .tags: left.tags == right.tags
            }
        }
    }

    /// The container of a device that talks to the bench's service.
    static func container(port: Int, device: String) -> CKContainer {
        var place = CloudKitConfiguration.Container(server: "http://127.0.0.1:\(port)")
        place.webAuthToken = ServiceRequests.token
        place.deviceID = device
        return CKContainer(identifier: ServiceRequests.container, configuration: place)
    }

    /// A sync that does nothing by itself: nobody runs its scheduler.
    static func idleSync(on database: YapDatabase, verifiesZones: Bool = true) throws -> CloudSync {
        let clock = SystemTimeSource()
        return try CloudSync(
            database, container: container(port: 1, device: "idle"),
            models: [.model(Note.self, collection: Workload.collection)], zone: zoneName,
            scheduler: ManualScheduler(clock: clock), clock: clock, random: SeededRandomSource(seed: 1),
            verifiesZones: verifiesZones)
    }

    /// Forgets what waits, as if it had been sent.
    static func emptyQueue(_ connection: YapDatabaseConnection) throws {
        try connection.blocking.readWrite {
            try $0.sqlite.execute(
                "DELETE FROM cloudKit_change_\(extensionName); DELETE FROM cloudKit_changeset_\(extensionName)"
            )
        }
    }

    /// Writes the notes with two fields of each changed.
    static func edit(_ transaction: YapDatabaseReadWriteTransaction, _ workload: Workload) throws {
        for (key, note) in zip(workload.keys, workload.notes) {
            var note = note
            note.isDone.toggle()
            note.priority += 10
            try transaction.setObject(note, forKey: key, inCollection: Workload.collection)
        }
    }
}
