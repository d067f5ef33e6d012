import CloudStore
import SQLiteTestSupport
import System
import Testing

/// What the control file says of environments: which a token is good in, and who may use development.
@Suite struct EnvironmentAccessTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder
    private let path: String
    private let monotonic = ManualMonotonicSource()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("control.sqlite")
        try ControlStore.make(path: path)
    }

    private func open() throws -> ControlStore { try ControlStore(path: path, monotonic: monotonic) }

    @Test func aTokenIsGoodInTheEnvironmentsThatItNamesUntilThatIsChanged() throws {
        let store = try open()
        for (environments, names) in [
            (TokenEnvironments.development, ["development"]), (.production, ["production"]),
            (.both, ["development", "production"]),
        ] {
            let token = try store.tokens.make(
                container: Self.todo, name: environments.rawValue, environments: environments)
            let app = try #require(try open().tokens.app(apiToken: token))
            #expect(["development", "production"].filter(app.environments.contains) == names)
        }
        #expect(try store.tokens.list().map(\.environments) == [.both, .development, .production])
        let token = try store.tokens.make(container: Self.todo, name: "app")
        #expect(try store.tokens.app(apiToken: token)?.environments == .both, "where none is named")
        #expect(try open().tokens.setEnvironments(.production, ofToken: "app", container: Self.todo))
        monotonic.advance(byMilliseconds: ControlStore.freshMilliseconds + 1)
        #expect(try store.tokens.app(apiToken: token)?.environments == .production)
        #expect(try !store.tokens.setEnvironments(.both, ofToken: "other", container: Self.todo))
    }

    @Test func noSignInPageOpensForATokenOfAnotherEnvironment() throws {
        let store = try open()
        let token = try store.tokens.make(container: Self.todo, name: "app")
        func ticket(_ environment: String) throws -> String? {
            try store.signInTickets.make(
                apiToken: token, container: Self.todo, environment: environment, origin: nil)
        }
        let before = try #require(try ticket("development"))
        #expect(try store.signInTickets.page(ticket: before) != nil)
        _ = try store.tokens.setEnvironments(.production, ofToken: "app", container: Self.todo)
        #expect(try ticket("development") == nil)
        #expect(try ticket("production") != nil)
        #expect(try store.signInTickets.page(ticket: before) == nil, "an address of before")
    }

    @Test func aDeveloperIsKnownByTheirRecordInEachContainerAndIsOneNoLongerWhenThatIsTaken() throws {
        let store = try open()
        let ann = try store.accounts.add(name: "ann", passwordHash: "hash", isDeveloper: true)
        let bob = try store.accounts.add(name: "bob", passwordHash: "hash")
        #expect(ann.isDeveloper && !bob.isDeveloper)
        func isDeveloper(_ account: ControlAccount, _ container: String) throws -> Bool {
            try store.accounts.isDeveloper(
                userRecordName: store.accounts.userRecordName(of: account, container: container),
                container: container)
        }
        for container in [Self.todo, "iCloud.com.example.notes"] {
            #expect(try isDeveloper(ann, container))
            #expect(try !isDeveloper(bob, container))
        }
        let beside = try open()
        try beside.accounts.setDeveloper(true, ofAccount: "BOB")
        try beside.accounts.setDeveloper(false, ofAccount: "ann")
        monotonic.advance(byMilliseconds: ControlStore.freshMilliseconds + 1)
        #expect(try isDeveloper(bob, Self.todo))
        #expect(try !isDeveloper(ann, Self.todo))
        #expect(throws: ControlError.noSuchAccount(name: "carol")) {
            try store.accounts.setDeveloper(true, ofAccount: "carol")
        }
    }

    @Test func onlySoManyAccountsAreDevelopers() throws {
        let store = try open()
        for number in 1...AccountTables.developersMax {
            try store.accounts.add(name: "a\(number)", passwordHash: "hash", isDeveloper: true)
        }
        let full = ControlError.tooManyDevelopers(developersMax: AccountTables.developersMax)
        #expect(throws: full) {
            try store.accounts.add(name: "another", passwordHash: "hash", isDeveloper: true)
        }
        try store.accounts.add(name: "more", passwordHash: "hash")
        #expect(throws: full) { try store.accounts.setDeveloper(true, ofAccount: "more") }
        #expect(try store.accounts.find(named: "more")?.isDeveloper == false, "what was refused left nothing")
        try store.accounts.setDeveloper(true, ofAccount: "a1")
        try store.accounts.setDeveloper(false, ofAccount: "a1")
        try store.accounts.setDeveloper(true, ofAccount: "more")
    }
}
