internal import CloudKit

extension CloudSyncProblem {
    /// The key in an error's `userInfo` with the reason why a connection to a running server fails. Only our framework
    /// sets it.
    package static let refusedConnectionKey = "YapConnectionRefusal"

    /// The problem behind a network error, or nil if waiting may solve it.
    init?(refusedConnection error: CKError) {
        switch error.userInfo[Self.refusedConnectionKey] as? String {
        case "certificate": self = .untrustedServer(message: error.localizedDescription)
        case "scheme": self = .wrongAddress(message: error.localizedDescription)
        default: return nil
        }
    }
}
