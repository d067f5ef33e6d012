import CloudKit
import YapCloudKit

/// The human-readable output of an inspection.
struct SyncInspectionText {
    let limits: SyncInspection.Limits

    func text(of registration: SyncInspection.Registration) -> String {
        var lines = [
            "\(Shown.word(registration.name)): tables of version \(registration.classVersion), "
                + "handler version \(Shown.word(registration.versionTag))"
        ]
        guard let content = registration.content else {
            return (lines + ["  " + SyncFile.unreadable(registration)]).joined(separator: "\n")
        }
        for account in content.accounts {
            lines.append("  account \(account.number)" + (account.isCurrent ? ", the current one" : ""))
            if account.databases.isEmpty { lines.append("    nothing was synced yet") }
            for database in account.databases { lines += text(of: database).map { "    " + $0 } }
        }
        if content.untoldMerges > 0 {
            lines.append(
                "  \(Self.counted(content.untoldMerges, "decision")) of merges that the app hasn't read"
            )
            lines += content.merges.map { "    " + Shown.word($0.description) }
        }
        return lines.joined(separator: "\n")
    }

    private func text(of database: SyncInspection.Database) -> [String] {
        let name = database.identifier.map { "database \(Shown.word($0))" } ?? "the private database"
        let user =
            database.userRecordName.map { ", of user \(Shown.word($0))" } ?? ", of an unknown user"
        var lines = [name + user]
        var queue =
            "queue: \(Self.counted(database.changesCount, "change")) in "
            + Self.counted(database.changeSetsCount, "change-set")
        queue += ", \(database.inFlightCount) in flight"
        if database.quarantinedCount > 0 {
            queue += "; \(Self.counted(database.quarantinedCount, "change")) quarantined"
        }
        var rest = [database.changeSetsCount == 0 ? "queue: empty" : queue]
        for set in database.changeSets { rest += text(of: set).map { "  " + $0 } }
        let unlisted = database.changeSetsCount - database.changeSets.count
        if unlisted > 0 { rest.append("  and \(Self.counted(unlisted, "change-set")) more") }
        if !database.quarantined.isEmpty {
            rest.append(
                "quarantined, until the app sets the object again, or calls retry() or discardQuarantinedChanges:"
            )
            rest += database.quarantined.flatMap(lines(of:))
        }
        rest.append("subscription: " + (database.subscriptionID.map(Shown.word) ?? "none"))
        for zone in database.zones { rest += text(of: zone) }
        if !database.errors.isEmpty {
            rest.append("last errors:")
            rest += database.errors.prefix(limits.changesMax).map { error in
                "  \(TimeText.utc(error.atMilliseconds))  \(Self.name(ofCode: error.code))  "
                    + Shown.word(error.message)
            }
        }
        lines += rest.map { "  " + $0 }
        return lines
    }

    private func text(of set: SyncInspection.ChangeSet) -> [String] {
        var lines = [
            "change-set \(set.sequence) \(Shown.word(set.uuid))" + (set.isInFlight ? ", in flight" : "")
        ]
        lines += set.changes.flatMap(lines(of:))
        let unlisted = set.changesCount - set.changes.count
        if unlisted > 0 { lines.append("  and \(Self.counted(unlisted, "change")) more") }
        return lines
    }

    /// Returns a change, and below it its values if they were read.
    private func lines(of change: SyncInspection.Change) -> [String] {
        ["  " + text(of: change)]
            + change.values.map { value in
                "    \(Shown.word(value.key)): \(Self.text(of: value.before)) -> \(Self.text(of: value.after))"
            }
    }

    private static func text(of value: SyncInspection.FieldChange.Value) -> String {
        switch value {
        case .none: "(none)"
        case .words(let words): Shown.word(words)
        case .ofObject: "(requested from the object)"
        case .unknown: "(not kept)"
        case .leftOut: "(left out)"
        }
    }

    private func text(of change: SyncInspection.Change) -> String {
        var text = (change.isDeletion ? "delete " : "save ") + Shown.word(change.recordType) + " "
        text += Shown.word(change.recordName) + " in " + Shown.word(change.zone.zoneName)
        text += ", tag " + (change.changeTag.map(Shown.word) ?? "none")
        let restored = Set(change.restoredKeys)
        let keys = change.keys.map {
            Shown.word($0) + (restored.contains($0) ? " (requested from the object)" : "")
        }
        if !keys.isEmpty { text += ": " + keys.joined(separator: ", ") }
        if let problem = change.problem { text += "; " + Self.reason(problem) }
        return text
    }

    private func text(of zone: SyncInspection.Zone) -> [String] {
        var name = Shown.word(zone.zoneID.zoneName)
        if zone.zoneID.ownerName != CKCurrentUserDefaultName {
            name += " of \(Shown.word(zone.zoneID.ownerName))"
        }
        var lines = [
            "zone \(name): \(Self.counted(zone.recordsCount, "record")), \(zone.taggedCount) with a change tag; "
                + (zone.token.map { "token \(Shown.word($0))" } ?? "no token")
        ]
        if let reason = zone.fullFetch {
            lines.append("  everything is being fetched again: \(Shown.word(reason))")
        }
        if zone.differs {
            lines.append("  differs from the server, also after it was fetched anew")
        }
        if zone.differencesCount > 0 {
            lines.append("  found to differ from the server \(Self.counted(zone.differencesCount, "time"))")
        }
        lines += zone.records.map { record in
            "  \(Shown.word(record.recordType)) \(Shown.word(record.recordName)), tag "
                + (record.changeTag.map(Shown.word) ?? "none")
                + ", \(Self.counted(Int(record.ownerCount), "row"))"
        }
        if !zone.stashed.isEmpty {
            lines.append("  of types that the app doesn't know yet:")
            lines += zone.stashed.prefix(limits.changesMax).map { record in
                "    \(Shown.word(record.recordType)) \(Shown.word(record.recordName)), tag "
                    + (record.changeTag.map(Shown.word) ?? "none")
            }
            let unlisted = zone.stashed.count - limits.changesMax
            if unlisted > 0 { lines.append("    and \(Self.counted(unlisted, "record")) more") }
        }
        return lines
    }

    // MARK: Words

    private static func counted(_ count: Int, _ thing: String) -> String {
        count == 1 ? "1 \(thing)" : "\(count) \(thing)s"
    }

    /// Returns why a change was quarantined.
    static func reason(_ problem: CloudSyncProblem) -> String {
        switch problem {
        case .refused(_, let code, let reason):
            "rejected by the server: \(code)" + (reason.map { ": \(Shown.word($0))" } ?? "")
        case .damaged: "what the queue holds of it can't be read"
        case .stuck: "the same conflict came back again and again"
        case .unrestorable(_, let keys):
            "the object doesn't return \(keys.map(Shown.word).joined(separator: ", "))"
        case .account, .anotherUser, .quotaExceeded, .zoneDeletedByUser, .configuration, .untrustedServer,
            .wrongAddress, .unknownDatabase, .zoneDiffers:
            "\(problem)"
        }
    }

    /// Returns the name of an error's code.
    static func name(ofCode code: Int) -> String {
        CKError.Code(rawValue: code).map { "\($0)" } ?? "code \(code)"
    }
}
