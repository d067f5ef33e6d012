import SQLite
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The server's control file: containers, accounts, API tokens, sessions, administrators, and the secret from which
/// the record names of users are made.
///
///     let control = try ControlStore(path: folder.controlPath)
///     let account = try control.accounts.find(named: "ada")
///
/// Each table of the file has one owner, which alone reads and writes it. Secrets are stored as digests only. Several
/// processes may have the file open: `sessions.find(token:)` and `tokens.app(apiToken:)` see another process's writes
/// after up to `freshMilliseconds`. All calls may block on the file.
///
/// Public because a program that embeds `CloudServer` opens it.
public final class ControlStore: Sendable {
    /// Maximum age of cached sessions, tokens, keys and containers, in milliseconds.
    package static let freshMilliseconds: Int64 = 250

    let file: ControlFile
    /// Accounts, and which of them are disabled or developers.
    package let accounts: AccountTables
    /// Users that other users of a container can find.
    package let people: PersonTable
    /// Containers, and removals in progress.
    package let containers: ContainerTables
    /// API tokens of apps.
    package let tokens: TokenTable
    /// Server-to-server keys.
    package let serverKeys: ServerKeyTable
    /// Sessions of signed-in users.
    package let sessions: SessionTable
    /// Addresses of sign-in pages.
    package let signInTickets: SignInTickets
    /// Places from which accounts were signed in to.
    package let signInPlaces: SignInPlaceTable
    /// Recent failed sign-ins.
    package let signInTries: SignInTryTable
    /// The identity and the age of the data folder.
    package let folderMarks: FolderMarkTable
    /// Administrators of the server, and the links that sign them in.
    package let administrators: Administrators
    /// Sessions of administrators.
    package let administratorSessions: AdministratorSessions
    /// Actions of administrators.
    package let auditLog: AuditLog

    /// The file's path.
    package var path: String { file.path }
    /// True if the key of an account is the record name of its user. For tests.
    package var namesUsersByKeys: Bool { file.secret.namesUsersByKeys }

    /// Opens the control file at `path`.
    ///
    /// - Parameter signInLengths: How long a device stays signed in.
    /// - Throws: `ControlError.noFile`; `CloudStoreError` if the file can't be opened or isn't a control file.
    public convenience init(
        path: String, clock: any TimeSource = SystemTimeSource(),
        monotonic: any MonotonicSource = SystemMonotonicSource(),
        signInLengths: SignInLengths = SignInLengths()
    ) throws {
        self.init(try ControlFile(path: path, clock: clock, monotonic: monotonic), signInLengths)
    }

    /// Opens the control file of a test's cloud, in which the key of an account is the record name of its user.
    ///
    /// - Throws: As `init(path:)`.
    package convenience init(namingUsersByKeys path: String) throws {
        self.init(
            try ControlFile(
                path: path, clock: SystemTimeSource(), monotonic: SystemMonotonicSource(),
                namesUsersByKeys: true))
    }

    /// Opens the control file through another file system, for tests.
    convenience init(path: String, vfsName: String) throws {
        self.init(
            try ControlFile(
                path: path, clock: SystemTimeSource(), monotonic: SystemMonotonicSource(), vfsName: vfsName))
    }

    private init(_ file: ControlFile, _ signInLengths: SignInLengths = SignInLengths()) {
        self.file = file
        accounts = AccountTables(file: file)
        people = PersonTable(file: file)
        containers = ContainerTables(file: file)
        tokens = TokenTable(file: file)
        serverKeys = ServerKeyTable(file: file)
        sessions = SessionTable(file: file, lengths: signInLengths)
        signInTickets = SignInTickets(file: file, tokens: tokens)
        signInPlaces = SignInPlaceTable(file: file)
        signInTries = SignInTryTable(file: file)
        folderMarks = FolderMarkTable(file: file)
        administrators = Administrators(file: file)
        administratorSessions = AdministratorSessions(file: file)
        auditLog = AuditLog(file: file)
    }

    /// Makes the control file at `path` with a new secret, readable by its owner only. An existing file isn't changed.
    ///
    /// - Returns: True if the file was made.
    /// - Throws: `CloudStoreError` if the file can't be made, or another program's file has this path.
    @discardableResult
    package static func make(path: String) throws -> Bool {
        do throws(FileError) {
            _ = try DurableFile.createEmpty(path)
        } catch {
            throw CloudStoreError.cannotOpen(path: path, reason: error.reason)
        }
        return try CloudStoreError.translating(path: path) {
            let connection = try Connection(path: path, options: OpenOptions()) {
                _ = try ControlFormat.isPrepared($0, path: path)
            }
            let isNew = try connection.transaction(.immediate) {
                guard try !ControlFormat.isPrepared(connection, path: path) else { return false }
                try connection.execute(ControlFormat.schema)
                try ControlFormat.upgrade(connection)
                try ControlSecret.make(connection)
                try FolderMarkTable.begin(connection)
                return true
            }
            try connection.close()
            return isNew
        }
    }

    /// Returns the problems that SQLite finds in the file, or an empty array if it is sound.
    ///
    /// - Throws: `CloudStoreError`.
    package func integrityCheck() throws -> [String] {
        try file.read { try $0.integrityCheck() }
    }

    /// Returns true if no file exists at `path`. A path that can't be examined is not absent: opening it reports the
    /// reason.
    static func isAbsent(_ path: String) -> Bool {
        access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }
}
