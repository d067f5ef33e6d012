/// The permissions of an administrator.
package enum AdministratorRole: String, CaseIterable, Hashable, Sendable, Comparable {
    /// Can read all data, schemas, account names and the audit log.
    case look
    /// Can also create, change and delete records and zones.
    case change
    /// Can also add and remove administrators, and end their sessions.
    case administer

    /// Returns true if the left role has fewer permissions than the right one.
    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .look: 0
        case .change: 1
        case .administer: 2
        }
    }
}

/// A person with access to the dashboard and the operator API. An administrator isn't a user of an app.
package struct Administrator: Hashable, Sendable {
    /// Number of the row.
    package let id: Int64
    /// Name. Upper and lower case are equal.
    package let name: String
    /// Permissions.
    package let role: AdministratorRole
    /// Text of the password's hash (`PasswordHash`), or nil until the administrator has set a password.
    package let passwordHash: String?
    /// Creation time, in milliseconds since 1970.
    package let createdMilliseconds: Int64
}

/// An administrator in the list, with a summary of the open sessions.
package struct AdministratorEntry: Hashable, Sendable {
    /// The administrator.
    package let administrator: Administrator
    /// Number of open sessions.
    package let sessionsCount: Int
    /// Time of the last request in an open session, in milliseconds since 1970, or nil without one.
    package let lastMilliseconds: Int64?
}

/// An administrator's session in a browser.
package struct AdministratorSession: Hashable, Sendable {
    /// Public name of the session: a part of its token's digest, which doesn't allow a sign-in.
    package let id: String
    /// The administrator.
    package let administrator: Administrator
    /// True if it started with a link. Then the password can be set without the previous one.
    package let beganWithLink: Bool
    /// Time of the sign-in, in milliseconds since 1970.
    package let createdMilliseconds: Int64
    /// Time of the last request, to the minute, in milliseconds since 1970.
    package let lastMilliseconds: Int64
    /// IP address of the sign-in.
    package let address: String
    /// Name that the browser gives itself.
    package let client: String?
    let digest: [UInt8]
}
