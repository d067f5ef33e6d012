/// What an administrator may do.
public enum AdministratorRole: String, CaseIterable, Hashable, Sendable, Comparable {
    /// Read all data, schemas, names of accounts, and the audit log.
    case look
    /// Also create, change and delete records and zones.
    case change
    /// Also add and remove administrators, and end sessions of others.
    case administer

    /// Whether a role may do less than another.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .look: 0
        case .change: 1
        case .administer: 2
        }
    }
}

/// A person who may use the dashboard and the operator API. No user of any app.
public struct Administrator: Hashable, Sendable {
    /// The number of the row.
    public let id: Int64
    /// The name, of which upper and lower case count as one.
    public let name: String
    /// What the administrator may do.
    public let role: AdministratorRole
    /// The password's hash as text (`PasswordHash`); nil until the administrator has chosen one.
    public let passwordHash: String?
    /// The time of creation, in milliseconds since 1970.
    public let createdMilliseconds: Int64
}

/// An administrator in the list, with what is known of sessions.
public struct AdministratorEntry: Hashable, Sendable {
    /// The administrator.
    public let administrator: Administrator
    /// How many sessions are open.
    public let sessionsCount: Int
    /// The last request of an open session, in milliseconds since 1970; nil without one.
    public let lastMilliseconds: Int64?
}

/// An administrator's session in a browser.
public struct AdministratorSession: Hashable, Sendable {
    /// The name of the session for people: a part of its token's digest, by which no one can sign in.
    public let id: String
    /// The administrator.
    public let administrator: Administrator
    /// Whether it began with a link, so that the password can be set without the one before.
    public let beganWithLink: Bool
    /// The time of the sign-in, in milliseconds since 1970.
    public let createdMilliseconds: Int64
    /// The time of the last request, exact to a minute, in milliseconds since 1970.
    public let lastMilliseconds: Int64
    /// The address from which the administrator signed in.
    public let address: String
    /// What the browser called itself.
    public let client: String?
    let digest: [UInt8]
}
