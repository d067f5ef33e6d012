package import CloudKit
import Foundation

extension CloudSyncStatus: CustomStringConvertible {
    /// How far the sync is, why, and what to do, for people.
    public var description: String {
        switch self {
        case .idle: explanation.meaning
        case .syncing(let pending):
            pending == 0 ? "Something is under way." : "Something is under way; \(pending) changes wait."
        case .waiting(let until?, let pause): "Waits until \(until): \(pause)"
        case .waiting(nil, let pause): "Waits: \(pause)"
        case .needsAttention(let problems): problems.map(\.description).joined(separator: "\n")
        }
    }

    package var explanation: SyncExplanation {
        switch self {
        case .idle:
            SyncExplanation(
                "idle",
                "Everything that was committed here is on the server, and what the server had when it was last asked "
                    + "is here.", do: "Nothing.")
        case .syncing:
            SyncExplanation(
                "syncing", "Something is under way; so many changes wait.",
                do:
                    "Nothing. An answer that doesn't come within 10 minutes counts as lost, and is asked for again."
            )
        case .waiting:
            SyncExplanation(
                "waiting", "Work waits until the time, or for what the pause says.",
                do: "What the pause says."
            )
        case .needsAttention:
            SyncExplanation(
                "needsAttention", "Work can't be delivered before somebody does something.",
                do: "What the problems say.")
        }
    }
}

extension CloudSyncPause: CustomStringConvertible {
    /// Why work waits, and what to do, for people.
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
                "The server asked for a pause, or isn't available; never tried before the time that it named.",
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
    /// What the code means, in words.
    var meaning: String { CKError(self).localizedDescription }

    /// What to do about it; nil where CloudKit doesn't say.
    package var remedy: String? {
        // An error that is given nothing has no words for Foundation.
        let error = CKError(self, userInfo: [NSLocalizedDescriptionKey: meaning])
        return (error as NSError).localizedRecoverySuggestion
    }
}
