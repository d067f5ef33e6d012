internal import CloudKit

extension CloudSyncProblem: CustomStringConvertible {
    /// What happened, why, and the remedy, for a developer's log.
    public var description: String {
        let row = explanation
        switch self {
        case .account(let code): return row.text(code.meaning)
        case .anotherUser, .quotaExceeded, .unknownDatabase(nil): return row.text()
        case .zoneDeletedByUser(let zone), .zoneDiffers(let zone):
            return row.text("Zone \(zone): \(row.meaning)")
        case .configuration(let code, let message): return row.with(code.remedy).text(message)
        case .untrustedServer(let message), .wrongAddress(let message): return row.text(message)
        case .unknownDatabase(let identifier?): return row.text("Database \(identifier): \(row.meaning)")
        case .refused(let record, let code, let reason):
            let said = reason ?? code.meaning
            return row.with(code.remedy).text("Record \(record): \(row.meaning) It said: \(said)")
        case .stuck(let record), .damaged(let record): return row.text("Record \(record): \(row.meaning)")
        case .unrestorable(let record, let keys):
            return row.text("Record \(record), \(keys.joined(separator: ", ")): \(row.meaning)")
        }
    }

    package var explanation: SyncExplanation {
        switch self {
        case .account, .anotherUser, .quotaExceeded, .configuration, .unknownDatabase, .untrustedServer,
            .wrongAddress:
            ofTheWhole
        case .zoneDeletedByUser, .zoneDiffers, .refused, .stuck, .unrestorable, .damaged: ofAPart
        }
    }

    /// Problems that stop a whole database.
    private var ofTheWhole: SyncExplanation {
        switch self {
        case .anotherUser:
            SyncExplanation(
                "anotherUser",
                "The signed-in user isn't the owner of these objects. Nothing is sent as another user.",
                do: "Sign in as the owner again. Or call `useSignedInAccount(objectsOfOtherAccount:)` "
                    + "(`useAccount(of:)` of the extension): the new user then gets a separate queue.")
        case .quotaExceeded:
            SyncExplanation(
                "quotaExceeded", "The user's storage is full. Deletions and fetches continue.",
                do: "Delete something, or get more storage. Then call `retry()`.")
        case .configuration:
            SyncExplanation(
                "configuration",
                "The container, the database or the app isn't configured for the sync. The message has the reason.",
                do: "Correct the configuration, then call `retry()`.")
        case .untrustedServer:
            SyncExplanation(
                "untrustedServer",
                "The server's certificate can't be trusted: it isn't signed by a trusted authority, is for another "
                    + "name, or has expired. Nothing is sent. The sync retries as without a network.",
                do:
                    "Set CLOUDKIT_AUTHORITIES_FILE, or `authoritiesFile` in cloudkit.json, to a file with the "
                    + "certificate or its authority's. If the certificate is for another name or has expired, "
                    + "give the server a valid one."
            )
        case .wrongAddress:
            SyncExplanation(
                "wrongAddress",
                "The server's address begins with https:// for a port of plain HTTP, or with http:// for one of TLS. "
                    + "The sync retries as without a network.",
                do: "Correct the address: CLOUDKIT_SERVER, or `server` in cloudkit.json.")
        case .unknownDatabase:
            SyncExplanation(
                "unknownDatabase",
                "The databaseIdentifierBlock returns no database for the identifier. The queue is kept.",
                do: "Return a database, then call `resume()` or `retry()`.")
        default:
            SyncExplanation(
                "account", "No user is signed in, or the account can't be used.",
                do: "Sign in (on Linux by `yap login`), then call `accountMayHaveChanged()`.")
        }
    }

    /// Problems that stop a zone or a record.
    private var ofAPart: SyncExplanation {
        switch self {
        case .zoneDeletedByUser:
            SyncExplanation(
                "zoneDeletedByUser", "The user deleted the zone on purpose. Nothing is sent or fetched.",
                do:
                    "Ask the user, then call `answerDeletedZone(zoneName:_:)`: upload the objects again, or remove "
                    + "them here too. `retry()` uploads them again.")
        case .refused:
            SyncExplanation(
                "refused",
                "The server rejects this record's change. It is quarantined; other records continue.",
                do:
                    "Set the object again, or set it under another key; or call `retry()`; or call "
                    + "`discardQuarantinedChanges(forRecordID:)`, which keeps the server's values. The code has the "
                    + "reason.")
        case .stuck:
            SyncExplanation(
                "stuck",
                "The same conflict came back three times: the merge doesn't resolve it. The change is quarantined.",
                do:
                    "Correct the merge rule. Then set the object again, or call `retry()` or "
                    + "`discardQuarantinedChanges(forRecordID:)`.")
        case .unrestorable:
            SyncExplanation(
                "unrestorable",
                "The queue has only the names of these values. The record handler doesn't return them, or the row was "
                    + "removed. The change is quarantined, and never sent without the values.",
                do: "Return the values of `keysToRestore` in the handler, or set the values again.")
        case .damaged:
            SyncExplanation(
                "damaged",
                "The record's change in the queue can't be read. It is quarantined. All other work continues.",
                do: "Keep the file for inspection. Change the record to send it again.")
        default:
            SyncExplanation(
                "zoneDiffers",
                "The zone's records on this device differ from the server's, even after a full fetch. The zone is "
                    + "fetched again after a minute, and then after pauses that double up to a day. All other work "
                    + "continues.",
                do:
                    "Nothing at first. If it persists, run `yap doctor` on the server, and keep the device's file for "
                    + "inspection.")
        }
    }
}

extension SyncExplanation {
    /// Returns the explanation with a more specific remedy; nil keeps this one.
    fileprivate func with(_ remedy: String?) -> SyncExplanation {
        var row = self
        row.remedy = remedy ?? row.remedy
        return row
    }
}
