/// The permissions of an administrator.
public enum AdministratorRole: String, CaseIterable, Hashable, Sendable, Comparable {
    /// Can read all data, schemas, account names and the audit log.
    case look
    /// Can also create, change and delete records and zones.
    case change
    /// Can also add and remove administrators, and end their sessions.
    case administer

    /// Returns true if the left role has fewer permissions than the right one.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .look: 0
        case .change: 1
        case .administer: 2
        }
    }
}

/// A person with access to the dashboard and the operator API. An administrator isn't a user of an app.
public struct Administrator: Hashable, Sendable {
    /// Number of the row.
    public let id: Int64
    /// Name. Upper and lower case are equal.
    public let name: String
    /// Permissions.
    public let role: AdministratorRole
    /// Text of the password's hash (`PasswordHash`), or nil until the administrator has set a password.
    public let passwordHash: String?
    /// Creation time, in milliseconds since 1970.
    public let createdMilliseconds: Int64
}

/// An administrator in the list, with a summary of the open sessions.
public struct AdministratorEntry: Hashable, Sendable {
    /// The administrator.
    public let administrator: Administrator
    /// Number of open sessions.
    public let sessionsCount: Int
    /// Time of the last request in an open session, in milliseconds since 1970, or nil without one.
    public let lastMilliseconds: Int64?
}

/// An administrator's session in a browser.
public struct AdministratorSession: Hashable, Sendable {
    /// Public name of the session: a part of its token's digest, which doesn't allow a sign-in.
    public let id: String
    /// The administrator.
    public let administrator: Administrator
    /// True if it started with a link. Then the password can be set without the previous one.
    public let beganWithLink: Bool
    /// Time of the sign-in, in milliseconds since 1970.
    public let createdMilliseconds: Int64
    /// Time of the last request, to the minute, in milliseconds since 1970.
    public let lastMilliseconds: Int64
    /// IP address of the sign-in.
    public let address: String
    /// Name that the browser gives itself.
    public let client: String?
    let digest: [UInt8]
}
