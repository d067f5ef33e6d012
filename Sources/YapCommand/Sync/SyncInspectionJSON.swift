import CloudKit
import YapCloudKit

/// What was read, as `--json` prints it.
enum SyncInspectionJSON {
    static func registration(_ registration: SyncInspection.Registration) -> JSON {
        var members: [(String, JSON)] = [
            ("name", .string(registration.name)),
            ("tablesVersion", .integer(Int64(registration.classVersion))),
            ("handlerVersion", .string(registration.versionTag)),
        ]
        if let content = registration.content {
            members.append(("untoldMerges", .integer(Int64(content.untoldMerges))))
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
            ("putAside", .integer(Int64(database.putAsideCount))),
        ])
        return .object([
            ("identifier", .text(database.identifier)), ("userRecordName", .text(database.userRecordName)),
            ("subscription", .text(database.subscriptionID)), ("pending", pending),
            ("changeSets", .array(database.changeSets.map(changeSet))),
            ("putAside", .array(database.putAside.map(change))),
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
        .object([
            ("kind", .string(change.isDeletion ? "delete" : "save")),
            ("recordName", .string(change.recordName)),
            ("recordType", .string(change.recordType)), ("zoneName", .string(change.zone.zoneName)),
            ("ownerName", .string(change.zone.ownerName)), ("changeTag", .text(change.changeTag)),
            ("keys", .array(change.keys.map { .string($0) })),
            ("keysToRestore", .array(change.restoredKeys.map { .string($0) })),
            ("problem", .text(change.problem.map(SyncInspectionText.reason))),
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
