internal import Crypto

/// The user and device of a stored operation. Only they can restore it.
struct OperationOwner: Hashable, Sendable, Codable {
    /// `user:` and a record name, or `token:` and a hash of the token if the name is unknown; empty if no user is
    /// signed in.
    var user: String
    /// The device's ID on the server; empty if it has none.
    var device: String

    init(_ credential: CloudCredential) {
        device = credential.deviceID ?? ""
        if let name = credential.userRecordName {
            user = "user:" + name
        } else if let token = credential.webAuthToken {
            user =
                "token:"
                + ((try? SHA256.hash(token)) ?? []).prefix(8).map { String($0, radix: 16) }
                .joined(separator: ".")
        } else {
            user = ""
        }
    }

    /// Returns true if the user was replaced on the same device, so that `other`'s operations are removed. With tokens
    /// only, the users are unknown.
    func takesThePlace(of other: OperationOwner) -> Bool {
        device == other.device && user != other.user && user.hasPrefix("user:")
            && other.user.hasPrefix("user:")
    }
}
