import CloudStore
import Crypto
import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing

/// What the control file promises: who may do what, and that no secret can be read from it.
@Suite struct ControlStoreTests {
    private static let todo = "iCloud.com.example.todo"
    private static let notes = "iCloud.com.example.notes"
    private let folder: TemporaryFolder
    private let path: String
    private let clock = ManualTimeSource()
    private let monotonic = ManualMonotonicSource()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("control.sqlite")
        try ControlStore.make(path: path)
    }

    private func open() throws -> ControlStore {
        try ControlStore(path: path, clock: clock, monotonic: monotonic)
    }

    @Test func makingItTwiceKeepsWhatIsThere() throws {
        let store = try open()
        try store.accounts.add(name: "ann", passwordHash: "hash")
        #expect(try !ControlStore.make(path: path))
        #expect(try open().accounts.list() == store.accounts.list())
        let mode = try #require(
            FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        #expect(mode == 0o600)
    }

    @Test func anAccountIsFoundInAnyCaseAndMadeOnce() throws {
        let store = try open()
        let made = try store.accounts.add(
            name: "Ann", givenName: "Ann", familyName: "Müller", passwordHash: "hash")
        #expect(try store.accounts.find(named: "ann") == made)
        #expect(made.familyName == "Müller")
        #expect(made.createdMilliseconds == clock.nowMilliseconds())
        #expect(throws: ControlError.accountExists(name: "ANN")) {
            try store.accounts.add(name: "ANN", passwordHash: "other")
        }
        #expect(try store.accounts.find(named: "bob") == nil)
        try store.accounts.add(name: "bob@example.com", passwordHash: "hash")
        #expect(try store.accounts.list().map(\.name) == ["Ann", "bob@example.com"])
    }

    @Test(arguments: ["", "a b", "a/b", "ann\n", "änn", "'--", String(repeating: "a", count: 101)])
    func aNameThatCannotBeOneIsRefused(_ name: String) throws {
        let store = try open()
        #expect(throws: ControlError.self) { try store.accounts.add(name: name, passwordHash: "hash") }
        #expect(try store.accounts.list().isEmpty)
    }

    @Test(arguments: ["", ".", "..", "a..b", "a/b", "../x", "-x", ".x", "a b", "a\0", "ü"])
    func aContainerThatWouldLeadElsewhereIsRefused(_ name: String) throws {
        #expect(throws: ControlError.self) { try open().containers.add(name) }
        #expect(throws: ControlError.self) { try open().tokens.make(container: name, name: "app") }
        #expect(throws: ControlError.self) {
            try DataFolder(path: folder.path).storePath(container: name, environment: "development")
        }
    }

    @Test func aContainerMayHaveTheTokensOfSeveralApps() throws {
        let store = try open()
        #expect(try !store.containers.exists(Self.todo))
        let first = try store.tokens.make(container: Self.todo, name: "todo app")
        let second = try store.tokens.make(container: Self.todo, name: "widget")
        let other = try store.tokens.make(container: Self.notes, name: "todo app")
        #expect(try store.containers.exists(Self.todo))
        #expect(try store.containers.list().map(\.identifier) == [Self.notes, Self.todo])
        #expect(try store.tokens.app(apiToken: first)?.container == Self.todo)
        #expect(try store.tokens.app(apiToken: second)?.container == Self.todo)
        #expect(try store.tokens.app(apiToken: other)?.container != Self.todo)
        #expect(try store.tokens.app(apiToken: "")?.container != Self.todo)
        #expect(throws: ControlError.tokenExists(name: "widget", container: Self.todo)) {
            try store.tokens.make(container: Self.todo, name: "widget")
        }
        #expect(try store.tokens.list(container: Self.todo).map(\.name) == ["todo app", "widget"])
        #expect(try store.tokens.list().count == 3)
        #expect(try store.tokens.revoke(container: Self.todo, name: "widget"))
        #expect(try !store.tokens.revoke(container: Self.todo, name: "widget"))
        #expect(try store.tokens.app(apiToken: second)?.container != Self.todo, "at once in this process")
        #expect(try store.tokens.app(apiToken: first)?.container == Self.todo)
    }

    @Test func aSessionNamesItsUserUntilItRunsOut() throws {
        let store = try open()
        let account = try store.accounts.add(name: "ann", givenName: "Ann", passwordHash: "hash")
        try store.containers.add(Self.todo)
        let made = try store.sessions.make(of: account, container: Self.todo, environment: "development")
        #expect(try store.sessions.find(token: made.token) == made.session)
        #expect(made.session.givenName == "Ann")
        #expect(try store.sessions.find(token: String(made.token.dropLast())) == nil)
        #expect(try open().sessions.find(token: made.token) == made.session)
        clock.advance(bySeconds: Double(SignInLengths().unusedMilliseconds) / 1000 - 1)
        #expect(try store.sessions.list().count == 1)
        clock.advance(bySeconds: 1)
        #expect(try store.sessions.find(token: made.token) == nil)
        _ = try store.sessions.make(of: account, container: Self.todo, environment: "development")
        #expect(try rows(in: "sessions") == 1, "what has run out is dropped")
    }

    @Test func theOldestSessionOfAnAccountEndsWhenItHasTooMany() throws {
        let store = try open()
        let account = try store.accounts.add(name: "ann", passwordHash: "hash")
        let bob = try store.accounts.add(name: "bob", passwordHash: "hash")
        try store.containers.add(Self.todo)
        let first = try store.sessions.make(of: account, container: Self.todo, environment: "development")
        let ofBob = try store.sessions.make(of: bob, container: Self.todo, environment: "development")
        for _ in 0..<SessionTable.sessionsMaxOfAccount {
            clock.advance(bySeconds: 1)
            _ = try store.sessions.make(of: account, container: Self.todo, environment: "development")
        }
        #expect(try store.sessions.find(token: first.token) == nil)
        #expect(try store.sessions.find(token: ofBob.token) != nil)
        #expect(try rows(in: "sessions") == SessionTable.sessionsMaxOfAccount + 1)
    }

    @Test func anotherPasswordEndsTheSessions() throws {
        let store = try open()
        let account = try store.accounts.add(name: "ann", passwordHash: "hash")
        try store.containers.add(Self.todo)
        let made = try store.sessions.make(of: account, container: Self.todo, environment: "development")
        try store.accounts.setPasswordHash("other", ofAccount: "ann")
        #expect(try store.sessions.find(token: made.token) == nil)
        #expect(try store.accounts.find(named: "ann")?.passwordHash == "other")
        #expect(throws: ControlError.noSuchAccount(name: "bob")) {
            try store.accounts.setPasswordHash("other", ofAccount: "bob")
        }
    }

    @Test func aUserHasOneNameInAContainerAndAnotherInEachOther() throws {
        let store = try open()
        let ann = try store.accounts.add(name: "ann", passwordHash: "hash")
        let bob = try store.accounts.add(name: "bob", passwordHash: "hash")
        let name = try store.accounts.userRecordName(of: ann, container: Self.todo)
        #expect(name.wholeMatch(of: /_[0-9a-f]{32}/) != nil)
        #expect(try open().accounts.userRecordName(of: ann, container: Self.todo) == name)
        let others = [
            try store.accounts.userRecordName(of: ann, container: Self.notes),
            try store.accounts.userRecordName(of: bob, container: Self.todo),
        ]
        #expect(Set(others + [name]).count == 3)
        // Another server has another secret.
        let elsewhere = folder.file("other.sqlite")
        try ControlStore.make(path: elsewhere)
        #expect(
            try ControlStore(path: elsewhere).accounts.userRecordName(of: ann, container: Self.todo) != name)
    }

    @Test func whatAnotherProcessWroteIsHeededWithinASecond() throws {
        #expect(ControlStore.freshMilliseconds < 1000)
        let serving = try open()
        // A store of its own stands for the other process: it shares nothing but the file.
        let command = try open()
        let account = try command.accounts.add(name: "ann", passwordHash: "hash")
        let token = try command.tokens.make(container: Self.todo, name: "app")
        try command.containers.add(Self.todo)
        let made = try command.sessions.make(of: account, container: Self.todo, environment: "development")
        #expect(try serving.accounts.find(named: "ann") == account)
        #expect(try serving.tokens.app(apiToken: token)?.container == Self.todo, "a miss asks the file")
        #expect(try serving.sessions.find(token: made.token) != nil)
        #expect(try command.tokens.revoke(container: Self.todo, name: "app"))
        try command.accounts.setPasswordHash("other", ofAccount: "ann")
        #expect(try serving.sessions.find(token: made.token) != nil, "from memory, which may be a moment old")
        monotonic.advance(byMilliseconds: ControlStore.freshMilliseconds + 1)
        #expect(try serving.tokens.app(apiToken: token)?.container != Self.todo)
        #expect(try serving.sessions.find(token: made.token) == nil)
    }

    @Test func aLookUpOfWhatIsKnownDoesNotTouchTheFile() throws {
        let store = try open()
        let account = try store.accounts.add(name: "ann", passwordHash: "hash")
        let token = try store.tokens.make(container: Self.todo, name: "app")
        try store.containers.add(Self.todo)
        let made = try store.sessions.make(of: account, container: Self.todo, environment: "development")
        func lookUp() throws -> Bool {
            let session = try store.sessions.find(token: made.token)
            let admits = try store.tokens.app(apiToken: token)?.container == Self.todo
            return try session == made.session && admits && store.containers.exists(Self.todo)
        }
        #expect(try lookUp())
        // Without its tables every question to the file is an error.
        try Connection(path: path).execute("DROP TABLE sessions; DROP TABLE apiTokens; DROP TABLE containers")
        #expect(try lookUp())
        monotonic.advance(byMilliseconds: ControlStore.freshMilliseconds + 1)
        #expect(throws: CloudStoreError.self) { try lookUp() }
    }

    @Test func noSecretIsInTheFile() throws {
        let store = try open()
        let hash = try PasswordHash(
            hashing: "the password of ann", cost: .init(costLog2: 4, blockSize: 8, parallelism: 1))
        let account = try store.accounts.add(name: "ann", passwordHash: hash.text)
        let token = try store.tokens.make(container: Self.todo, name: "app")
        try store.containers.add(Self.todo)
        let made = try store.sessions.make(of: account, container: Self.todo, environment: "development")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let content = try Data(contentsOf: URL(filePath: folder.file(name)))
            for secret in ["the password of ann", token, made.token] {
                #expect(content.range(of: Data(secret.utf8)) == nil, "\(name)")
                if let bytes = Hex.bytes(secret) { #expect(content.range(of: Data(bytes)) == nil, "\(name)") }
            }
        }
    }

    @Test func aFileThatIsNoControlFileIsRefusedAndLeftAsItIs() throws {
        let absent = folder.file("absent.sqlite")
        #expect(throws: ControlError.noFile(path: absent)) { try ControlStore(path: absent) }
        #expect(!FileManager.default.fileExists(atPath: absent))
        let empty = folder.file("empty.sqlite")
        try Data().write(to: URL(filePath: empty))
        #expect(throws: ControlError.noFile(path: empty)) { try ControlStore(path: empty) }
        let text = folder.file("text.sqlite")
        try Data(repeating: 0x41, count: 5000).write(to: URL(filePath: text))
        #expect(throws: CloudStoreError.notADatabase(path: text)) { try ControlStore(path: text) }
        #expect(throws: CloudStoreError.notADatabase(path: text)) { try ControlStore.make(path: text) }
        let foreign = folder.file("foreign.sqlite")
        try Connection(path: foreign).execute("CREATE TABLE songs (title TEXT)")
        #expect(throws: CloudStoreError.foreignFile(path: foreign)) { try ControlStore(path: foreign) }
        #expect(throws: CloudStoreError.foreignFile(path: foreign)) { try ControlStore.make(path: foreign) }
        #expect(throws: CloudStoreError.foreignFile(path: path)) { try SQLiteCloudStore(path: path) }
        try Connection(path: path).execute("PRAGMA user_version = 9")
        #expect(throws: CloudStoreError.newerFormat(path: path, version: 9)) { try open() }
        #expect(throws: CloudStoreError.newerFormat(path: path, version: 9)) {
            try ControlStore.make(path: path)
        }
    }

    @Test func aFolderIsHeldByOneServer() throws {
        let data = DataFolder(path: folder.file("a/data"))
        #expect(!data.isMade)
        #expect(try data.make())
        #expect(data.isMade)
        #expect(try !data.make())
        for path in [data.path, folder.file("a")] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
        do {
            let lock = try data.lock()
            let held = DataFolderError.held(
                path: "\(data.path)/serve.lock", processID: Int(ProcessInfo.processInfo.processIdentifier))
            #expect(throws: held) { try data.lock() }
            withExtendedLifetime(lock) {}
        }
        #expect(throws: Never.self) { try data.lock() }
        let store = try data.storePath(container: Self.todo, environment: "production", makesFolders: true)
        #expect(store == "\(data.path)/containers/\(Self.todo)/production.sqlite")
        #expect(throws: Never.self) { try SQLiteCloudStore(path: store) }
        #expect(throws: ControlError.self) { try data.storePath(container: Self.todo, environment: "test") }
    }

    @Test func aStoresFileIsReadBesideItsWriterAndNeverMadeOrChanged() throws {
        let path = folder.file("store.sqlite")
        #expect(try StoreFile(path: path) == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
        try Data().write(to: URL(filePath: path))
        #expect(try StoreFile(path: path) == nil)
        #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
        let store = try SQLiteCloudStore(path: path)
        let file = try #require(try StoreFile(path: path))
        func count() throws -> Int {
            try file.read {
                try $0.records(in: Rows.zone, after: nil, recordsMax: 10, bytesMax: 1000).rows.count
            }
        }
        #expect(try count() == 0)
        try store.apply { $0.records = [Rows.record("a", counter: 1)] }
        #expect(try count() == 1)
        #expect(throws: CloudStoreError.foreignFile(path: self.path)) { try StoreFile(path: self.path) }
    }

    private func rows(in table: String) throws -> Int {
        try Connection(path: path).withStatement("SELECT count(*) FROM \(table)") {
            try $0.step() ? Int($0.int64(at: 0)) : 0
        }
    }
}
