import SQLite

/// A person as others of a container may find them.
public struct ControlPerson: Hashable, Sendable {
    /// The name of the user's record in the container.
    public let userRecordName: String
    /// The given name, when one was told.
    public let givenName: String?
    /// The family name, when one was told.
    public let familyName: String?
    /// The address of the account, when one was told.
    public let email: String?
}

/// How far a user lets others of a container find their name.
public struct ControlDiscoverability: Hashable, Sendable {
    /// Who knows the user's address or record name finds the name.
    public var isDiscoverable: Bool
    /// Who asks for everybody finds the user too.
    public var isListed: Bool

    /// Makes a choice.
    public init(isDiscoverable: Bool = false, isListed: Bool = false) {
        self.isDiscoverable = isDiscoverable
        self.isListed = isListed
    }
}

/// What people tell of themselves, and whom. These calls ask the file each time.
extension ControlStore {
    /// Changes what is told of an account's person, and what it may use. What is nil stays as it is; an empty text is
    /// none.
    ///
    /// - Throws: `ControlError.noSuchAccount`, `ControlError.badName`, `ControlError.emailTaken`,
    ///   `ControlError.tooManyDevelopers`, `CloudStoreError`; then nothing was changed.
    @discardableResult
    public func changePerson(
        ofAccount name: String, givenName: String? = nil, familyName: String? = nil, email: String? = nil,
        isDeveloper: Bool? = nil
    ) throws -> ControlAccount {
        func value(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        try ControlNames.checkPerson(value(givenName))
        try ControlNames.checkPerson(value(familyName))
        try ControlNames.checkEmail(value(email))
        return try write { connection in
            guard let account = try Self.account(named: name, connection) else {
                throw ControlError.noSuchAccount(name: name)
            }
            try Self.checkIsFree(value(email), besides: account.id, connection)
            let sql = "UPDATE accounts SET givenName = ?, familyName = ?, email = ? WHERE id = ?"
            try connection.withStatement(sql) { statement in
                let values = [
                    givenName.map(value) ?? account.givenName, familyName.map(value) ?? account.familyName,
                    email.map(value) ?? account.email,
                ]
                for (index, value) in values.enumerated() {
                    if let value { try statement.bind(value, at: Int32(index + 1)) }
                }
                try statement.bind(account.id, at: 4)
                try statement.run()
            }
            if let isDeveloper { try setDeveloper(isDeveloper, ofAccount: name, connection) }
            guard let changed = try Self.account(named: name, connection) else {
                throw ControlError.noSuchAccount(name: name)
            }
            return changed
        }
    }

    static func checkIsFree(_ email: String?, besides account: Int64?, _ connection: Connection) throws {
        guard let email else { return }
        try connection.withStatement("SELECT id FROM accounts WHERE email = ?") { statement in
            try statement.bind(email, at: 1)
            guard try statement.step(), statement.int64(at: 0) != account else { return }
            throw ControlError.emailTaken(email)
        }
    }

    /// How far the user of `session` lets others find their name.
    public func discoverability(of session: ControlSession) throws -> ControlDiscoverability {
        let sql = "SELECT isListed FROM discoverable WHERE container = ? AND user = ?"
        return try read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(session.container, session.userRecordName, at: 1)
                guard try statement.step() else { return ControlDiscoverability() }
                return ControlDiscoverability(isDiscoverable: true, isListed: statement.int64(at: 0) != 0)
            }
        }
    }

    /// Lets others find the name of the user of `session`, or no longer.
    public func setDiscoverability(_ choice: ControlDiscoverability, of session: ControlSession) throws {
        let sql =
            choice.isDiscoverable
            ? "INSERT OR REPLACE INTO discoverable (container, user, account, isListed) VALUES (?, ?, ?, ?)"
            : "DELETE FROM discoverable WHERE container = ? AND user = ?"
        try write { connection in
            guard let account = try Self.account(named: session.account, connection) else {
                throw ControlError.noSuchAccount(name: session.account)
            }
            try Self.checkIsServed(session.container, session.environment, connection)
            try connection.withStatement(sql) { statement in
                try statement.bind(session.container, session.userRecordName, at: 1)
                if choice.isDiscoverable {
                    try statement.bind(account.id, choice.isListed ? 1 : 0, at: 3)
                }
                try statement.run()
            }
        }
    }

    /// The person with this address, in whichever case, if they let others of the container find them.
    public func person(email: String, container: String) throws -> ControlPerson? {
        try people("d.container = ? AND a.email = ?", [container, email], countMax: 1).first
    }

    /// The person whose user record has this name, if they let others of the container find them.
    public func person(userRecordName: String, container: String) throws -> ControlPerson? {
        try people("d.container = ? AND d.user = ?", [container, userRecordName], countMax: 1).first
    }

    /// Those who let everybody of the container find them, by the names of their records.
    public func listedPeople(container: String, countMax: Int) throws -> [ControlPerson] {
        try people("d.container = ? AND d.isListed = 1", [container], countMax: countMax)
    }

    private func people(_ condition: String, _ values: [String], countMax: Int) throws -> [ControlPerson] {
        let sql = """
            SELECT d.user, a.givenName, a.familyName, a.email
            FROM discoverable d JOIN accounts a ON a.id = d.account WHERE \(condition) ORDER BY d.user LIMIT ?
            """
        return try read { connection in
            try connection.withStatement(sql) { statement in
                for (index, value) in values.enumerated() {
                    try statement.bind(value, at: Int32(index + 1))
                }
                try statement.bind(Int64(countMax), at: Int32(values.count + 1))
                return try statement.rows {
                    ControlPerson(
                        userRecordName: $0.text(at: 0), givenName: $0.optionalText(at: 1),
                        familyName: $0.optionalText(at: 2), email: $0.optionalText(at: 3))
                }
            }
        }
    }
}
