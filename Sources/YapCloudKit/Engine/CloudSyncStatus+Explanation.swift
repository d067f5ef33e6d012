package import CloudKit
import Foundation

extension CloudSyncStatus: CustomStringConvertible {
    /// The status, its reason and the remedy, for a developer's log. `summary` is the text for users of the app.
    public var description: String {
        var lines: [String] = []
        if isSyncing {
            lines.append(
                "Work is in progress" + (pendingCount > 0 ? "; \(waitingChanges)." : "."))
        }
        if let pause {
            // While work is running, the count was already reported above.
            let what = isSyncing || pendingCount == 0 ? "Waits" : waitingChanges
            lines.append("\(what)\(pauseEndDate.map { " until \($0)" } ?? ""): \(pause)")
        } else if pendingCount > 0, !isSyncing {
            lines.append(waitingChanges + ".")
        }
        if state == .idle { lines.append(state.explanation.meaning) }
        lines += problems.map(\.description)
        if let lastResponseDate { lines.append("The server last responded at \(lastResponseDate).") }
        return lines.joined(separator: "\n")
    }

    private var waitingChanges: String {
        pendingCount == 1 ? "1 change waits" : "\(pendingCount) changes wait"
    }
}

extension CloudSyncStatus.State {
    package var explanation: SyncExplanation {
        switch self {
        case .idle:
            SyncExplanation(
                "idle",
                "Everything that was committed here is on the server, and everything that the server had at the last "
                    + "fetch is here.", do: "Nothing.")
        case .syncing:
            SyncExplanation(
                "syncing", "Work is in progress; `pendingCount` changes are pending.",
                do: "Nothing. If no response arrives within 10 minutes, the request is sent again.")
        case .waiting:
            SyncExplanation(
                "waiting", "Work is paused until `pauseEndDate`, or until the cause in `pause` has ended.",
                do: "Depends on the pause."
            )
        case .needsAttention:
            SyncExplanation(
                "needsAttention",
                "Each of `problems` stops a part of the work until the app or the user solves it. Other work "
                    + "continues, or is paused as `pause` describes.",
                do: "Depends on the problems.")
        }
    }
}

extension CloudSyncPause: CustomStringConvertible {
    /// Why work waits, and the remedy, for a developer's log.
    public var description: String {
        switch self {
        case .server(let code): explanation.text("\(explanation.meaning) It said: \(code.meaning)")
        default: explanation.text()
        }
    }

    package var explanation: SyncExplanation {
        switch self {
        case .suspended:
            SyncExplanation(
                "suspended",
                "`suspend()` was called more often than `resume()`, or `didEnterBackground()` without "
                    + "`willEnterForeground()`.",
                do:
                    "Call `resume()` once for each `suspend()`. `suspendCount` is the number of missing calls."
            )
        case .network:
            SyncExplanation(
                "network",
                "There is no network, or a request failed in the network. The sync retries after 1 second, and then "
                    + "after increasing pauses of up to 5 minutes.",
                do:
                    "Nothing. `networkMayBeBack()` and `syncNow()` end the pause. `errors` and "
                    + "`yap sync inspect FILE` show the error and the address.")
        case .server:
            SyncExplanation(
                "server",
                "The server requested a pause, or isn't available. Nothing is sent before the end of that pause.",
                do: "Nothing.")
        case .otherProcess:
            SyncExplanation(
                "otherProcess",
                "Another process has the database open and syncs it. When it ends, this one takes over.",
                do: "Nothing.")
        case .anotherAccount:
            SyncExplanation(
                "anotherAccount",
                "All changes of the current account are delivered. Changes of an account that was used here before "
                    + "are pending until its user signs in.",
                do:
                    "Nothing. When that user is signed in again, call `useSignedInAccount(objectsOfOtherAccount:)`."
            )
        case .localDatabase:
            SyncExplanation(
                "localDatabase",
                "The device's database can't be written, usually because the disk is full. The step was rolled back "
                    + "and is repeated.", do: "Free some space.")
        }
    }
}

extension CKError.Code {
    /// Human-readable meaning of the code.
    var meaning: String { CKError(self).localizedDescription }

    /// The remedy, or nil if CloudKit has none.
    package var remedy: String? {
        // Without a description in `userInfo`, Foundation returns no text.
        let error = CKError(self, userInfo: [NSLocalizedDescriptionKey: meaning])
        return (error as NSError).localizedRecoverySuggestion
    }
}
