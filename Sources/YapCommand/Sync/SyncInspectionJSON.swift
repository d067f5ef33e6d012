import CloudKit
import YapCloudKit

/// The `--json` output of an inspection.
enum SyncInspectionJSON {
    static func members(
        _ path: String, _ inspection: SyncInspection, _ registrations: [SyncInspection.Registration]
    ) -> [(String, JSON)] {
        [
            ("file", .string(path)), ("snapshot", .integer(Int64(clamping: inspection.snapshot))),
            ("syncs", .array(registrations.map(registration))),
        ]
    }

    private static func registration(_ registration: SyncInspection.Registration) -> JSON {
        var members: [(String, JSON)] = [
            ("name", .string(registration.name)),
            ("tablesVersion", .integer(Int64(registration.classVersion))),
            ("handlerVersion", .string(registration.versionTag)),
        ]
        if let content = registration.content {
            members.append(("untoldMerges", .integer(Int64(content.untoldMerges))))
            if !content.merges.isEmpty { members.append(("merges", .array(content.merges.map(merge)))) }
            members.append(("accounts", .array(content.accounts.map(account))))
        }
        return .object(members)
    }

    private static func account(_ account: SyncInspection.Account) -> JSON {
        .object([
            ("account", .integer(account.number)), ("current", .bool(account.isCurrent)),
            ("databases", .array(account.databases.map(database))),
        ])
    }

    private static func database(_ database: SyncInspection.Database) -> JSON {
        let pending: JSON = .object([
            ("changeSets", .integer(Int64(database.changeSetsCount))),
            ("inFlight", .integer(Int64(database.inFlightCount))),
            ("changes", .integer(Int64(database.changesCount))),
            ("putAside", .integer(Int64(database.quarantinedCount))),
        ])
        return .object([
            ("identifier", .text(database.identifier)), ("userRecordName", .text(database.userRecordName)),
            ("subscription", .text(database.subscriptionID)), ("pending", pending),
            ("changeSets", .array(database.changeSets.map(changeSet))),
            ("putAside", .array(database.quarantined.map(change))),
            ("zonesCount", .integer(Int64(database.zonesCount))),
            ("unknownCount", .integer(Int64(database.stashedCount))),
            ("zones", .array(database.zones.map(zone))), ("errors", .array(database.errors.map(error))),
        ])
    }

    private static func changeSet(_ changeSet: SyncInspection.ChangeSet) -> JSON {
        .object([
            ("sequence", .integer(changeSet.sequence)), ("uuid", .string(changeSet.uuid)),
            ("inFlight", .bool(changeSet.isInFlight)),
            ("changesCount", .integer(Int64(changeSet.changesCount))),
            ("changes", .array(changeSet.changes.map(change))),
        ])
    }

    private static func change(_ change: SyncInspection.Change) -> JSON {
        var members: [(String, JSON)] = [
            ("kind", .string(change.isDeletion ? "delete" : "save")),
            ("recordName", .string(change.recordName)),
            ("recordType", .string(change.recordType)), ("zoneName", .string(change.zone.zoneName)),
            ("ownerName", .string(change.zone.ownerName)), ("changeTag", .text(change.changeTag)),
            ("keys", .array(change.keys.map { .string($0) })),
            ("keysToRestore", .array(change.restoredKeys.map { .string($0) })),
            ("problem", .text(change.problem.map(SyncInspectionText.reason))),
            ("remedy", .text(change.problem?.explanation.remedy)),
        ]
        if !change.values.isEmpty { members.append(("values", .array(change.values.map(value)))) }
        return .object(members)
    }

    /// Returns a value as a text or null. If it isn't in the file, another key says why.
    private static func value(_ change: SyncInspection.FieldChange) -> JSON {
        var members: [(String, JSON)] = [("key", .string(change.key))]
        for (name, value) in [("before", change.before), ("after", change.after)] {
            switch value {
            case .none: members.append((name, .null))
            case .words(let words): members.append((name, .string(words)))
            case .ofObject: members += [(name, .null), (name + "Is", .string("of the object"))]
            case .unknown: members += [(name, .null), (name + "Is", .string("unknown"))]
            case .leftOut: members += [(name, .null), (name + "Is", .string("left out"))]
            }
        }
        return .object(members)
    }

    private static func merge(_ entry: CloudMergeLogEntry) -> JSON {
        .object([
            ("number", .integer(entry.id)), ("recordName", .string(entry.recordID.recordName)),
            ("zoneName", .string(entry.recordID.zoneID.zoneName)), ("field", .text(entry.field)),
            ("rule", .string(entry.rule.rawValue)), ("kind", .text(entry.kind?.rawValue)),
            ("replaced", .text(entry.replaced)), ("kept", .text(entry.kept)),
        ])
    }

    private static func zone(_ zone: SyncInspection.Zone) -> JSON {
        .object([
            ("zoneName", .string(zone.zoneID.zoneName)), ("ownerName", .string(zone.zoneID.ownerName)),
            ("token", .text(zone.token)), ("fullFetch", .text(zone.fullFetch)),
            ("checksum", .text(zone.checksum)), ("differences", .integer(Int64(zone.differencesCount))),
            ("differs", .bool(zone.differs)),
            ("recordsCount", .integer(Int64(zone.recordsCount))),
            ("recordsWithTag", .integer(Int64(zone.taggedCount))),
            ("records", .array(zone.records.map(record))), ("unknown", .array(zone.stashed.map(record))),
        ])
    }

    private static func record(_ record: SyncInspection.Record) -> JSON {
        .object([
            ("recordName", .string(record.recordName)), ("recordType", .string(record.recordType)),
            ("changeTag", .text(record.changeTag)), ("owners", .integer(record.ownerCount)),
            ("generation", .integer(record.generation)),
        ])
    }

    private static func error(_ error: SyncInspection.KeptError) -> JSON {
        .object([
            ("atMilliseconds", .integer(error.atMilliseconds)), ("code", .integer(Int64(error.code))),
            ("name", .string(SyncInspectionText.name(ofCode: error.code))),
            ("message", .string(error.message)),
        ])
    }
}
