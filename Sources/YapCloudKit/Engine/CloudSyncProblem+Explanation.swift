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
                "Another user is signed in than the owner of these objects. Nothing is sent as another user.",
                do: "Sign the first user in again; or `useSignedInAccount(objectsOfOtherAccount:)` "
                    + "(`useAccount(of:)` of the extension), and the other user gets a queue of their own.")
        case .quotaExceeded:
            SyncExplanation(
                "quotaExceeded", "The user's storage is full. Deletions and fetches continue.",
                do: "Delete something, or get more storage; then `retry()`.")
        case .configuration:
            SyncExplanation(
                "configuration",
                "The container, the database or the app is not set up for this; the message says what is missing.",
                do: "Mend it, then `retry()`.")
        case .untrustedServer:
            SyncExplanation(
                "untrustedServer",
                "The server's certificate can't be trusted: it isn't signed by a trusted authority, is for another "
                    + "name, or has expired. Nothing is sent; it is tried again as without a network.",
                do: "Name a file with the certificate, or its authority's: CLOUDKIT_AUTHORITIES_FILE, or "
                    + "`authoritiesFile` in cloudkit.json. If it is for another name or has expired, give the "
                    + "server a valid one."
            )
        case .wrongAddress:
            SyncExplanation(
                "wrongAddress",
                "The server's address begins with https:// for a port of plain HTTP, or with http:// for one of TLS. "
                    + "It is tried again as without a network.",
                do: "Mend the address: CLOUDKIT_SERVER, or `server` in cloudkit.json.")
        case .unknownDatabase:
            SyncExplanation(
                "unknownDatabase",
                "The databaseIdentifierBlock knows no database for the identifier. The queue is kept.",
                do: "Return one, then `resume()` or `retry()`.")
        default:
            SyncExplanation(
                "account", "No user is signed in, or the account can't be used.",
                do: "Sign in (on Linux by `yap login`), then `accountMayHaveChanged()`.")
        }
    }

    /// Problems that stop a zone or a record.
    private var ofAPart: SyncExplanation {
        switch self {
        case .zoneDeletedByUser:
            SyncExplanation(
                "zoneDeletedByUser", "The user deleted the zone on purpose. Nothing is sent or fetched.",
                do:
                    "Ask the user, then `answerDeletedZone(zoneName:_:)`: upload again, or remove here too. "
                    + "`retry()` uploads again.")
        case .refused:
            SyncExplanation(
                "refused",
                "The server rejects this record's change. It is quarantined; other records continue.",
                do:
                    "Set the object again, or under another key; `retry()`; or "
                    + "`discardQuarantinedChanges(forRecordID:)`, which keeps the server's values. The code has the "
                    + "reason.")
        case .stuck:
            SyncExplanation(
                "stuck",
                "The same conflict came back three times: the merge doesn't resolve it. The change is quarantined.",
                do:
                    "Look at the merge rule; then set the object again, `retry()`, or "
                    + "`discardQuarantinedChanges(forRecordID:)`.")
        case .unrestorable:
            SyncExplanation(
                "unrestorable",
                "The queue kept only the names of these values, and the record handler doesn't return them, or the row "
                    + "was removed. The change is quarantined, and never sent without them.",
                do: "Answer `keysToRestore` in the handler; or set the values again.")
        case .damaged:
            SyncExplanation(
                "damaged",
                "The record's change in the queue can't be read. It is quarantined; everything else continues.",
                do: "Keep the file for inspection; change the record to send it again.")
        default:
            SyncExplanation(
                "zoneDiffers",
                "The records of the zone on this device differ from the server's, also after the zone was fetched "
                    + "anew. Everything else goes on; it is fetched anew after a minute, then after pauses that double "
                    + "up to a day.",
                do:
                    "Nothing at first. If it stays, `yap doctor` on the server, and keep the device's file for "
                    + "inspection.")
        }
    }
}

extension SyncExplanation {
    /// The explanation with a more specific remedy; nil keeps this one.
    fileprivate func with(_ remedy: String?) -> SyncExplanation {
        var row = self
        row.remedy = remedy ?? row.remedy
        return row
    }
}
