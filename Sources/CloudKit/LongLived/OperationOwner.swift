internal import Crypto

/// Whose a kept operation is: another user's and another device's are none of ours.
struct OperationOwner: Hashable, Sendable, Codable {
    /// `user:` and a record name, or `token:` and what tells one token from another where no name is known; empty when
    /// nobody is signed in.
    var user: String
    /// What names the device to the server; empty when nothing does.
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

    /// Whether what `other` left is to go: an account was switched. Of tokens nobody knows whose they are.
    func takesThePlace(of other: OperationOwner) -> Bool {
        device == other.device && user != other.user && user.hasPrefix("user:")
            && other.user.hasPrefix("user:")
    }
}
