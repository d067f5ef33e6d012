import SQLite
import System

/// From where somebody signs in.
public struct ControlSignInPlace: Hashable, Sendable {
    /// What counts as one place: the address, or the network that a household has.
    public let network: String
    /// The address.
    public let address: String
    /// What the program that signs in calls itself; nil when it doesn't say.
    public let client: String?

    /// So many characters of a client's name are kept.
    static let clientCharactersMax = 120

    /// Names a place. Of the client's name only printable ASCII is kept: it comes from outside.
    public init(network: String, address: String, client: String?) {
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

/// What was known of an account when somebody signed in to it.
public struct ControlSignInHistory: Hashable, Sendable {
    /// An earlier sign-in.
    public struct Entry: Hashable, Sendable {
        /// The address.
        public let address: String
        /// What the program called itself.
        public let client: String?
        /// When it was, in milliseconds since 1970.
        public let atMilliseconds: Int64
    }

    /// Whether the account was signed in to from there before.
    public var isKnownPlace = true
    /// The sign-in before this one; nil when there was none.
    public var last: Entry?
}

extension ControlStore {
    /// So many places of an account are kept in mind; of more, the one that was used longest ago is forgotten.
    public static let signInPlacesMax = 50

    /// Whether the account with this name, in whichever case, was signed in to from there. Asks the file.
    public func hasSignedIn(account name: String, from network: String) throws -> Bool {
        let sql = """
            SELECT 1 FROM signIns s JOIN accounts a ON a.id = s.account WHERE a.name = ? AND s.network = ?
            """
        return try read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(name, network, at: 1)
                return try statement.step()
            }
        }
    }

    /// Keeps from where an account is signed in to. Call it in a write transaction.
    ///
    /// - Returns: what was known before.
    func noteSignIn(
        of account: Int64, from place: ControlSignInPlace, at now: Int64, _ connection: Connection
    ) throws -> ControlSignInHistory {
        var history = ControlSignInHistory(isKnownPlace: false)
        let before = """
            SELECT network, address, client, lastMilliseconds FROM signIns WHERE account = ?
            ORDER BY lastMilliseconds DESC
            """
        try connection.withStatement(before) { statement in
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
        let save = """
            INSERT OR REPLACE INTO signIns (account, network, address, client, lastMilliseconds)
            VALUES (?, ?, ?, ?, ?)
            """
        try connection.withStatement(save) { statement in
            try statement.bind(account, place.network, place.address, at: 1)
            if let client = place.client { try statement.bind(client, at: 4) }
            try statement.bind(now, at: 5)
            try statement.run()
        }
        let beyond = """
            DELETE FROM signIns WHERE account = ?1 AND network IN (SELECT network FROM signIns
            WHERE account = ?1 ORDER BY lastMilliseconds DESC, network LIMIT -1 OFFSET ?2)
            """
        try connection.withStatement(beyond) { statement in
            try statement.bind(account, Self.signInPlacesMax, at: 1)
            try statement.run()
        }
        return history
    }

    /// Is told of a session that ended because a token of it was used which had been replaced: somebody has it who
    /// shouldn't. Called on the thread that asked, and must not wait.
    public func setReplayListener(_ listener: (@Sendable (ControlSession) -> Void)?) {
        // The one before is released after the lock: it holds what listened.
        _ = replayListener.withLock { current in
            defer { current = listener }
            return current
        }
    }
}
