public import CloudService
import CloudStore
import CloudWire

/// A successful sign-in and the account's history, for a warning to its owner.
public struct SignInNews: Hashable, Sendable {
    /// The account's name.
    public let account: String
    /// The environment of the session.
    public let container: CloudService.Container
    /// The record name of the user.
    public let userRecordName: String
    /// The client's address.
    public let address: String?
    /// The client's `User-Agent`.
    public let client: String?
    /// Time in milliseconds since 1970.
    public let atMilliseconds: Int64
    /// The account's sign-ins before.
    package let history: ControlSignInHistory

    /// Makes the report of a new session.
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

    /// Human-readable time and address of the account's last sign-in, or nil if there was none.
    var lastText: String? {
        history.last.map { last in
            let time = logTime(milliseconds: last.atMilliseconds).prefix(16).replacing("T", with: " ")
            return "The last sign-in was on \(time) UTC from \(last.address)"
                + (last.client.map { " with \($0)" } ?? "") + "."
        }
    }

    /// True if the owner should be warned, because the account is in use and this is its first sign-in from here.
    var isUnusual: Bool { !history.isKnownPlace && history.last != nil }

    /// The event for webhooks.
    var event: SignInEvent {
        SignInEvent(
            userRecordName: userRecordName, address: address, client: client, atMilliseconds: atMilliseconds,
            lastAtMilliseconds: history.last?.atMilliseconds)
    }

    /// The members of its log line.
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
