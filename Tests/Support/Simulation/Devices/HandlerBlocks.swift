import CloudKit
import Yap
import YapCloudKit

/// The record handler and the merge block of an app that uses the extension in its own terms.
package struct HandlerBlocks: Sendable {
    /// A value of a field: text, a number, or whether something is so.
    package typealias Value = any CKRecordValueProtocol

    package static let zoneID = CKRecordZone.ID(zoneName: "todos")
    package static let otherZoneID = CKRecordZone.ID(zoneName: "others")
    /// The identifier of the second database.
    package static let other = "second"

    package let version: Int
    /// Whether a todo is two rows, which are one record.
    package let splits: Bool
    /// What is wrong with them, on purpose.
    package var mutant: Mutant?

    package init(version: Int, splits: Bool, mutant: Mutant? = nil) {
        (self.version, self.splits, self.mutant) = (version, splits, mutant)
    }

    /// The zones that are followed, with their databases' identifiers.
    package static func zones(hasOthers: Bool) -> [(zoneID: CKRecordZone.ID, identifier: String?)] {
        [(zoneID, nil)] + (hasOthers ? [(otherZoneID, other)] : [])
    }

    /// The collections that the app may use.
    package static func register(_ configuration: inout YapDatabaseConfiguration) {
        for collection in ["todos", "others"] { configuration.register(Todo.self, inCollection: collection) }
        configuration.register(Days.self, inCollection: "days")
        configuration.register(Note.self, inCollection: "notes")
        configuration.register(FullFetch.self, inCollection: FullFetch.collection)
        configuration.register(Int.self, inCollection: "app")
    }

    /// The collections that are synced.
    package func syncedCollections(hasOthers: Bool) -> Set<String> {
        var collections: Set = ["todos"]
        if splits { collections.insert("days") }
        if hasOthers { collections.insert("others") }
        if version > 1 { collections.insert("notes") }
        return collections
    }

    /// Which fields a row of a collection holds.
    package func names(_ collection: String) -> [String] {
        let days = ["priority", "creationDay"] + (version > 1 ? ["completionDay"] : [])
        let own = ["text", "isDone", "order"] + (version > 1 ? ["label"] : [])
        return switch collection {
        case "notes": ["text"]
        case "days": days
        case "todos" where splits: own
        default: own + days
        }
    }

    func value(_ name: String, of object: any Sendable) -> Value? {
        switch object {
        case let note as Note: note.text
        case let days as Days:
            switch name {
            case "priority": days.priority
            case "creationDay": days.creationDay
            default: days.completionDay
            }
        case let todo as Todo:
            switch name {
            case "text": todo.text
            case "isDone": todo.isDone
            case "order": todo.order
            case "priority": todo.priority
            case "creationDay": todo.creationDay
            case "label": todo.label
            default: todo.completionDay
            }
        default: nil
        }
    }

    package static func set(_ name: String, of todo: inout Todo, to value: Value?) {
        switch name {
        case "text": todo.text = value as? String ?? ""
        case "isDone": todo.isDone = value as? Bool ?? false
        case "order": todo.order = value as? Double ?? 0
        case "priority": todo.priority = value as? String
        case "creationDay": todo.creationDay = value as? String
        case "label": todo.label = value as? String
        default: todo.completionDay = value as? String
        }
    }

    static func isSame(_ left: Value?, _ right: Value?) -> Bool {
        left.map { RecordFieldValue($0) } == right.map { RecordFieldValue($0) }
    }

    // MARK: The record handler

    package var recordHandler: YapDatabaseCloudKitRecordHandler {
        .withObject { [self] _, record, info, collection, key, object in
            if let keys = info.keysToRestore {
                for name in names(collection) where keys.contains(name) {
                    record?[name] = value(
                        mutant == .wrongValueGivenBack ? Self.wrong(name) : name, of: object)
                }
                return
            }
            guard let known = record else {
                record = made(collection, key, object)
                if collection == "others" { info.databaseIdentifier = Self.other }
                return
            }
            if info.versionInfo != nil {
                // New in this version. What the server has of it is not known.
                for name in names(collection) where Todo.laterFields.contains(name) {
                    guard let new = value(name, of: object) else { continue }
                    known[name] = new
                    info.originalValues.updateValue(nil, forKey: name)
                }
            }
            guard let previous = info.previousObject else { return }
            for name in names(collection) {
                let (old, new) = (value(name, of: previous), value(name, of: object))
                guard !Self.isSame(old, new) else { continue }
                known[name] = new
                info.originalValues.updateValue(old, forKey: name)
            }
        }
    }

    /// A field of the same type.
    private static func wrong(_ name: String) -> String {
        switch name {
        case "text": "creationDay"
        case "creationDay", "completionDay": "text"
        default: name
        }
    }

    private func made(_ collection: String, _ key: String, _ object: any Sendable) -> CKRecord {
        let made = CKRecord(
            recordType: collection == "notes" ? Note.recordType : Todo.recordType,
            recordID: CKRecord.ID(
                recordName: key, zoneID: collection == "others" ? Self.otherZoneID : Self.zoneID))
        for name in names(collection) {
            if let value = value(name, of: object) { made[name] = value }
        }
        return made
    }

    // MARK: The merge block

    /// Field by field: what was changed on the server since stands, what was only changed here goes up.
    package var mergeBlock: YapDatabaseCloudKit.MergeBlock {
        { [self] transaction, collection, key, remote, info in
            guard let collection, let key,
                let object = try transaction.object(forKey: key, inCollection: collection)
            else { return keepPending(remote, info) }
            var (todo, isChanged) = (Self.todo(object), false)
            for name in names(collection) {
                let (here, there) = (value(name, of: object), remote.object(forKey: name))
                if mutant != .mergeKeepsNothing, Self.isKept(name, here: here, there: there, info) {
                    info.updatedPendingLocalRecord.setObject(
                        info.pendingLocalRecord?.object(forKey: name), forKey: name)
                } else if !Self.isSame(here, there) {
                    Self.set(name, of: &todo, to: there)
                    isChanged = true
                }
            }
            if isChanged, mutant != .mergeWritesNothing { try Self.store(todo, key, collection, transaction) }
            keepUnknown(remote, info)
        }
    }

    /// What a later version of the app queued of a field that this one doesn't know waits for that version.
    private func keepUnknown(_ remote: CKRecord, _ info: YDBCKMergeInfo) {
        guard let pending = info.pendingLocalRecord else { return }
        for name in pending.changedKeys() where Todo.laterFields.contains(name) && version == 1 {
            let (here, there) = (pending.object(forKey: name), remote.object(forKey: name))
            guard Self.isKept(name, here: here, there: there, info) else { continue }
            info.updatedPendingLocalRecord.setObject(here, forKey: name)
        }
    }

    private static func isKept(_ name: String, here: Value?, there: Value?, _ info: YDBCKMergeInfo) -> Bool {
        guard info.pendingLocalRecord?.changedKeys().contains(name) == true, !isSame(here, there) else {
            return false
        }
        return isSame(there, info.originalValues[name] ?? nil)
    }

    /// No row stands for the record any more: what waits goes up before its deletion does.
    private func keepPending(_ remote: CKRecord, _ info: YDBCKMergeInfo) {
        guard let pending = info.pendingLocalRecord else { return }
        for name in pending.changedKeys() {
            let (here, there) = (pending.object(forKey: name), remote.object(forKey: name))
            if Self.isKept(name, here: here, there: there, info) {
                info.updatedPendingLocalRecord.setObject(here, forKey: name)
            }
        }
    }

    // MARK: Rows

    /// What a row holds of a todo.
    package static func todo(_ object: any Sendable) -> Todo {
        switch object {
        case let todo as Todo: todo
        case let note as Note: Todo(text: note.text)
        case let days as Days:
            Todo(priority: days.priority, creationDay: days.creationDay, completionDay: days.completionDay)
        default: Todo()
        }
    }

    /// Writes what a row of a collection holds of a todo.
    package static func store(
        _ todo: Todo, _ key: String, _ collection: String, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        switch collection {
        case "notes":
            try transaction.setObject(Note(text: todo.text), forKey: key, inCollection: collection)
        case "days":
            let days = Days(
                priority: todo.priority, creationDay: todo.creationDay, completionDay: todo.completionDay)
            try transaction.setObject(days, forKey: key, inCollection: collection)
        default:
            try transaction.setObject(todo, forKey: key, inCollection: collection)
        }
    }

    /// The collections in which an item has a row.
    package func collections(_ key: String) -> [String] {
        if key.hasPrefix(Keys.note) { return ["notes"] }
        if key.hasPrefix(Keys.other) { return ["others"] }
        return splits ? ["todos", "days"] : ["todos"]
    }

    /// The item of a key, of all its rows.
    package func read(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Todo? {
        var found: Todo?
        for collection in collections(key) {
            guard let object = try transaction.object(forKey: key, inCollection: collection) else { continue }
            let part = Self.todo(object)
            guard splits, collection == "days" else {
                found = part
                continue
            }
            var whole = found ?? Todo()
            (whole.priority, whole.creationDay) = (part.priority, part.creationDay)
            whole.completionDay = part.completionDay
            found = whole
        }
        return found
    }

    package func write(
        _ todo: Todo, _ key: String, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        for collection in collections(key) {
            var part = todo
            if splits, collection == "todos" {
                (part.priority, part.creationDay, part.completionDay) = (nil, nil, nil)
            }
            try Self.store(part, key, collection, transaction)
        }
    }

    package func remove(_ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
        for collection in collections(key) {
            try transaction.removeObject(forKey: key, inCollection: collection)
        }
    }
}
