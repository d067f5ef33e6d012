internal import CloudKit

extension CloudSyncProblem {
    /// Where our framework says that a server is there and no connection to it comes about, in the error's `userInfo`.
    package static let refusedConnectionKey = "YapConnectionRefusal"

    /// The problem that the network's error tells of; nil for one that goes by waiting.
    init?(refusedConnection error: CKError) {
        switch error.userInfo[Self.refusedConnectionKey] as? String {
        case "certificate": self = .untrustedServer(message: error.localizedDescription)
        case "scheme": self = .wrongAddress(message: error.localizedDescription)
        default: return nil
        }
    }
}
