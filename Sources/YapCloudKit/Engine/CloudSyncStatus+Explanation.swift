package import CloudKit
import Foundation

extension CloudSyncStatus: CustomStringConvertible {
    /// The status, its reason and the remedy, for a developer's log. `summary` is the text for users of the app.
    public var description: String {
        var lines: [String] = []
        if isSyncing {
            lines.append(
                "Something is under way" + (pendingCount > 0 ? "; \(waitingChanges)." : "."))
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
                "syncing", "Something is under way; `pendingCount` changes wait.",
                do:
                    "Nothing. A response that doesn't come within 10 minutes counts as lost, and is requested again."
            )
        case .waiting:
            SyncExplanation(
                "waiting", "Work waits until `pauseEndDate`, or for what `pause` says.",
                do: "What the pause says."
            )
        case .needsAttention:
            SyncExplanation(
                "needsAttention",
                "`problems` prevent a part of the work from being delivered until the app or the user solves them. The "
                    + "rest goes on, or waits as `pause` says.",
                do: "What the problems say.")
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
                "`suspend()` was called more often than `resume()`; or `didEnterBackground()` without "
                    + "`willEnterForeground()`.",
                do: "Call `resume()` as often. `suspendCount` says how often.")
        case .network:
            SyncExplanation(
                "network",
                "There is no network, or it failed on the way. It is tried again after 1 second, then after up to 5 "
                    + "minutes.",
                do:
                    "Nothing; `networkMayBeBack()` and `syncNow()` end the wait. What failed, with the address that "
                    + "was tried, is in `errors` and in `yap sync inspect FILE`.")
        case .server:
            SyncExplanation(
                "server",
                "The server requested a pause, or isn't available; never tried before the time that it named.",
                do: "Nothing.")
        case .otherProcess:
            SyncExplanation(
                "otherProcess",
                "Another process has the database open and syncs it. When it ends, this one takes over.",
                do: "Nothing.")
        case .anotherAccount:
            SyncExplanation(
                "anotherAccount",
                "All of the account in use is delivered; changes of another one, which was used here before, wait for "
                    + "its user.",
                do:
                    "Nothing; when that user is signed in again, `useSignedInAccount(objectsOfOtherAccount:)`."
            )
        case .localDatabase:
            SyncExplanation(
                "localDatabase",
                "The device's own database can't be written: a full disk, mostly. Nothing of the step was kept, and "
                    + "it is done again.", do: "Free some space.")
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
