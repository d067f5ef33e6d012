import Crypto
import SQLite
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The server's control file: containers, accounts, API tokens, sessions, and the secret from which users get
/// their record names.
///
/// Secrets lie in it as digests only. Several processes may have it open: what one writes, another's
/// `session(token:)` and `app(apiToken:)` heed after `freshMilliseconds` at the latest. All calls
/// may block on the file.
public final class ControlStore: Sendable {
    /// How old the answers of `session(token:)` and `app(apiToken:)` may be.
    public static let freshMilliseconds: Int64 = 250
    /// How long a sign-in on the server's page lasts at most.
    public static let sessionMilliseconds: Int64 = 365 * 86_400_000
    /// How many sessions an account keeps; a further sign-in ends the oldest.
    public static let sessionsMaxOfAccount = 1000

    static let secretName = "userRecordName"

    /// Where the file is.
    public let path: String
    let clock: any TimeSource
    let monotonic: any MonotonicSource
    let signInLengths: SignInLengths
    let writer: Lock<Connection>
    let reader: Lock<Connection>
    let cache = Lock(ControlCache())
    let rotations = Lock(SessionRotations())
    let replayListener = Lock<(@Sendable (ControlSession) -> Void)?>(nil)
    private let secret: [UInt8]
    /// Whether an account's key is the name of its user record. For tests.
    package let namesUsersByKeys: Bool

    /// Opens the control file at `path`.
    ///
    /// - Throws: `ControlError.noFile`; `CloudStoreError` when it can't be opened or isn't a control file.
    public convenience init(
        path: String, clock: any TimeSource = SystemTimeSource(),
        monotonic: any MonotonicSource = SystemMonotonicSource(),
        signInLengths: SignInLengths = SignInLengths()
    ) throws {
        try self.init(opening: path, clock, monotonic, signInLengths)
    }

    /// Opens the control file of a test's cloud, in which the key of an account is the record name of its user.
    ///
    /// - Throws: as `init(path:)`.
    package convenience init(namingUsersByKeys path: String) throws {
        try self.init(
            opening: path, SystemTimeSource(), SystemMonotonicSource(), SignInLengths(),
            namesUsersByKeys: true)
    }

    /// Opens the control file through another file system, for tests.
    convenience init(path: String, vfsName: String) throws {
        try self.init(
            opening: path, SystemTimeSource(), SystemMonotonicSource(), SignInLengths(), vfsName: vfsName)
    }

    /// Makes the control file at `path`, with a secret of its own, readable by its owner only. When there is one
    /// already it is left as it is.
    ///
    /// - Returns: whether it was made.
    /// - Throws: `CloudStoreError` when it can't be made, or something else lies there.
    @discardableResult
    public static func make(path: String) throws -> Bool {
        let descriptor = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CloudStoreError.cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        close(descriptor)
        return try CloudStoreError.translating(path: path) {
            let connection = try Connection(path: path, options: OpenOptions()) {
                _ = try ControlFormat.isPrepared($0, path: path)
            }
            let isNew = try connection.transaction(.immediate) {
                guard try !ControlFormat.isPrepared(connection, path: path) else { return false }
                try connection.execute(ControlFormat.schema)
                try ControlFormat.upgrade(connection)
                try connection.run("INSERT INTO secrets VALUES (?, ?)") {
                    try $0.bind(secretName, RandomBytes.make(count: 32), at: 1)
                }
                try beginMarks(connection)
                return true
            }
            try connection.close()
            return isNew
        }
    }

    private init(
        opening path: String, _ clock: any TimeSource, _ monotonic: any MonotonicSource,
        _ signInLengths: SignInLengths, vfsName: String? = nil, namesUsersByKeys: Bool = false
    ) throws {
        guard !Self.isAbsent(path) else { throw ControlError.noFile(path: path) }
        self.path = path
        self.clock = clock
        self.monotonic = monotonic
        self.signInLengths = signInLengths
        self.namesUsersByKeys = namesUsersByKeys
        var options = OpenOptions()
        options.create = false
        options.vfsName = vfsName
        let connections = try CloudStoreError.translating(path: path) {
            let writer = try Connection(path: path, options: options) {
                guard try ControlFormat.isPrepared($0, path: path) else {
                    throw ControlError.noFile(path: path)
                }
            }
            try writer.transaction(.immediate) { try ControlFormat.upgrade(writer) }
            return (writer: writer, reader: try Connection(path: path, options: options))
        }
        secret = try CloudStoreError.translating(path: path) {
            try connections.reader.withStatement("SELECT value FROM secrets WHERE name = ?") { statement in
                try statement.bind(Self.secretName, at: 1)
                return try statement.step() ? statement.bytes(at: 0) : []
            }
        }
        guard secret.count == 32 else {
            throw CloudStoreError.damaged(path: path, reason: "its secret is missing")
        }
        writer = Lock(connections.writer)
        reader = Lock(connections.reader)
    }

    /// The name of the account's user record in `container`: always the same there, another in each container,
    /// and nobody without the server's secret can tell that two belong to one account.
    public func userRecordName(of account: ControlAccount, container: String) throws -> String {
        try userRecordName(key: account.key, container: container)
    }

    func userRecordName(key: [UInt8], container: String) throws -> String {
        guard !namesUsersByKeys else { return String(decoding: key, as: UTF8.self) }
        let code = try HMACSHA256.code(of: key + Array(container.utf8), key: secret)
        return "_" + Hex.text(Array(code.prefix(16)))
    }

    /// A code that only this server can make, of what a client brings back.
    func code(of text: String, purpose: CodePurpose) throws -> [UInt8] {
        // Shorter than what users' names are made of, so none of those is a key.
        let key = try HMACSHA256.code(of: purpose.rawValue, key: secret)
        return try HMACSHA256.code(of: text, key: key)
    }

    /// Whether nothing lies at `path`. What may not be looked at is not absent: opening it says why.
    static func isAbsent(_ path: String) -> Bool {
        access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let result = try writer.withLock { connection in
            try CloudStoreError.translating(path: path) {
                try connection.transaction(.immediate) { try body(connection) }
            }
        }
        // The next look-up asks the file, so that this process sees at once what it wrote.
        cache.withLock { $0.isStale = true }
        return result
    }

    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try reader.withLock { connection in
            try CloudStoreError.translating(path: path) {
                try connection.transaction(.deferred) { try body(connection) }
            }
        }
    }
}

/// What a code is for; one for something else doesn't fit. 16 bytes at most.
enum CodePurpose: String {
    case sessionStep = "session step"
    case signInTicket = "sign-in ticket"
    case signInForm = "sign-in form"
    case signInTry = "sign-in try"
}

extension CloudStoreError {
    /// Runs `body`; what SQLite throws in it is thrown as an error of the store at `path`.
    static func translating<Result>(path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            throw CloudStoreError(error, path: path)
        }
    }
}
