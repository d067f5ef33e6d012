import SQLite

/// The place of a client that signs in.
package struct ControlSignInPlace: Hashable, Sendable {
    /// Network that counts as one place: the address, or the network of a household.
    package let network: String
    /// IP address.
    package let address: String
    /// Name that the client gives itself, or nil if it gives none.
    package let client: String?

    /// Maximum number of stored characters of a client's name.
    static let clientCharactersMax = 120

    /// Makes a place. Only printable ASCII of the client's name is stored, because the client chooses it.
    package init(network: String, address: String, client: String?) {
        self.network = network
        self.address = String(address.prefix(64))
        let plain = client.map { name in
            String(
                decoding: name.utf8.filter { (0x20..<0x7F).contains($0) }.prefix(Self.clientCharactersMax),
                as: UTF8.self)
        }
        self.client = plain.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// What was known about an account before a sign-in.
package struct ControlSignInHistory: Hashable, Sendable {
    /// An earlier sign-in.
    package struct Entry: Hashable, Sendable {
        /// IP address.
        package let address: String
        /// Name of the client, or nil if it gave none.
        package let client: String?
        /// Time, in milliseconds since 1970.
        package let atMilliseconds: Int64
    }

    /// True if the account was signed in to from this place before.
    package var isKnownPlace = true
    /// The previous sign-in, or nil if there was none.
    package var last: Entry?
}

/// Owns the table `signIns`: the places from which accounts were signed in to.
package struct SignInPlaceTable: Sendable {
    /// Maximum number of places of an account. The least recently used one is removed first.
    package static let placesMaxOfAccount = 50

    let file: ControlFile

    /// Returns true if the account with this name, in upper or lower case, was signed in to from this network. Not
    /// cached.
    ///
    /// - Throws: `CloudStoreError`.
    package func hasSignedIn(account name: String, from network: String) throws -> Bool {
        let sql = """
            SELECT 1 FROM signIns s \(AccountTables.join(on: "s.account")) WHERE a.name = ? AND s.network = ?
            """
        return try file.read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(name, network, at: 1)
                return try statement.step()
            }
        }
    }

    /// Stores the place of a sign-in, in the transaction of `connection`.
    ///
    /// - Returns: What was known before.
    static func note(
        _ place: ControlSignInPlace, ofAccount account: Int64, at now: Int64, _ connection: Connection
    ) throws -> ControlSignInHistory {
        let history = try history(ofAccount: account, place, connection)
        let save = """
            INSERT OR REPLACE INTO signIns (account, network, address, client, lastMilliseconds)
            VALUES (?, ?, ?, ?, ?)
            """
        try connection.run(save) { statement in
            try statement.bind(account, place.network, place.address, place.client, at: 1)
            try statement.bind(now, at: 5)
        }
        let beyond = """
            DELETE FROM signIns WHERE account = ?1 AND network IN (SELECT network FROM signIns
            WHERE account = ?1 ORDER BY lastMilliseconds DESC, network LIMIT -1 OFFSET ?2)
            """
        try connection.run(beyond) { try $0.bind(account, placesMaxOfAccount, at: 1) }
        return history
    }

    /// Removes all places of an account, in the transaction of `connection`.
    static func removeAll(ofAccount account: Int64, _ connection: Connection) throws {
        try connection.run("DELETE FROM signIns WHERE account = ?") { try $0.bind(account, at: 1) }
    }

    private static func history(
        ofAccount account: Int64, _ place: ControlSignInPlace, _ connection: Connection
    ) throws -> ControlSignInHistory {
        var history = ControlSignInHistory(isKnownPlace: false)
        let sql = """
            SELECT network, address, client, lastMilliseconds FROM signIns WHERE account = ?
            ORDER BY lastMilliseconds DESC
            """
        try connection.withStatement(sql) { statement in
            try statement.bind(account, at: 1)
            while try statement.step() {
                if statement.text(at: 0) == place.network { history.isKnownPlace = true }
                history.last =
                    history.last
                    ?? ControlSignInHistory.Entry(
                        address: statement.text(at: 1), client: statement.optionalText(at: 2),
                        atMilliseconds: statement.int64(at: 3))
            }
        }
        return history
    }
}
