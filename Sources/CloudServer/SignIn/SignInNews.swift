public import CloudService
public import CloudStore
import CloudWire

/// A sign-in that went well, and what was known of the account before: what its owner may want to hear of.
public struct SignInNews: Hashable, Sendable {
    /// The account's name.
    public let account: String
    /// The environment that it is for.
    public let container: CloudService.Container
    /// The name of the user's record there.
    public let userRecordName: String
    /// The address from where the account was signed in to.
    public let address: String?
    /// What the program calls itself.
    public let client: String?
    /// When it was, in milliseconds since 1970.
    public let atMilliseconds: Int64
    /// What was known before.
    public let history: ControlSignInHistory

    /// Tells of a session that was made.
    init(_ session: ControlSession, _ history: ControlSignInHistory) {
        account = session.account
        container = CloudService.Container(
            identifier: session.container, environment: session.environment)
        userRecordName = session.userRecordName
        address = session.address
        client = session.client
        atMilliseconds = session.createdMilliseconds
        self.history = history
    }

    /// When and from where the account was last signed in to, for its owner to read; nil when it never was.
    var lastText: String? {
        history.last.map { last in
            let time = logTime(milliseconds: last.atMilliseconds).prefix(16).replacing("T", with: " ")
            return "The last sign-in was on \(time) UTC from \(last.address)"
                + (last.client.map { " with \($0)" } ?? "") + "."
        }
    }

    /// True if the owner should be warned: the account is in use, and was never signed in to from here.
    var isUnusual: Bool { !history.isKnownPlace && history.last != nil }

    /// The event for webhooks.
    var event: SignInEvent {
        SignInEvent(
            userRecordName: userRecordName, address: address, client: client, atMilliseconds: atMilliseconds,
            lastAtMilliseconds: history.last?.atMilliseconds)
    }

    /// What the log says of it.
    var logMembers: [(key: StaticString, text: String)] {
        var members: [(key: StaticString, text: String)] = [
            ("account", account), ("container", container.identifier), ("environment", container.environment),
            ("user", userRecordName), ("address", address ?? ""),
        ]
        if let client { members.append(("client", client)) }
        if let last = history.last {
            members.append(("last", logTime(milliseconds: last.atMilliseconds)))
            members.append(("lastAddress", last.address))
        }
        return members
    }
}
