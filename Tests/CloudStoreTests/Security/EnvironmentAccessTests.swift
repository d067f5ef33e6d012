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
            let token = try store.makeToken(
                container: Self.todo, name: environments.rawValue, environments: environments)
            let app = try #require(try open().app(apiToken: token))
            #expect(["development", "production"].filter(app.environments.contains) == names)
        }
        #expect(try store.tokens().map(\.environments) == [.both, .development, .production])
        let token = try store.makeToken(container: Self.todo, name: "app")
        #expect(try store.app(apiToken: token)?.environments == .both, "where none is named")
        #expect(try open().setEnvironments(.production, ofToken: "app", container: Self.todo))
        monotonic.advance(byMilliseconds: ControlStore.freshMilliseconds + 1)
        #expect(try store.app(apiToken: token)?.environments == .production)
        #expect(try !store.setEnvironments(.both, ofToken: "other", container: Self.todo))
    }

    @Test func noSignInPageOpensForATokenOfAnotherEnvironment() throws {
        let store = try open()
        let token = try store.makeToken(container: Self.todo, name: "app")
        func ticket(_ environment: String) throws -> String? {
            try store.makeSignInTicket(
                apiToken: token, container: Self.todo, environment: environment, origin: nil)
        }
        let before = try #require(try ticket("development"))
        #expect(try store.signInPage(ticket: before) != nil)
        _ = try store.setEnvironments(.production, ofToken: "app", container: Self.todo)
        #expect(try ticket("development") == nil)
        #expect(try ticket("production") != nil)
        #expect(try store.signInPage(ticket: before) == nil, "an address of before")
    }

    @Test func aDeveloperIsKnownByTheirRecordInEachContainerAndIsOneNoLongerWhenThatIsTaken() throws {
        let store = try open()
        let ann = try store.addAccount(name: "ann", passwordHash: "hash", isDeveloper: true)
        let bob = try store.addAccount(name: "bob", passwordHash: "hash")
        #expect(ann.isDeveloper && !bob.isDeveloper)
        func isDeveloper(_ account: ControlAccount, _ container: String) throws -> Bool {
            try store.isDeveloper(
                userRecordName: store.userRecordName(of: account, container: container), container: container)
        }
        for container in [Self.todo, "iCloud.com.example.notes"] {
            #expect(try isDeveloper(ann, container))
            #expect(try !isDeveloper(bob, container))
        }
        let beside = try open()
        try beside.setDeveloper(true, ofAccount: "BOB")
        try beside.setDeveloper(false, ofAccount: "ann")
        monotonic.advance(byMilliseconds: ControlStore.freshMilliseconds + 1)
        #expect(try isDeveloper(bob, Self.todo))
        #expect(try !isDeveloper(ann, Self.todo))
        #expect(throws: ControlError.noSuchAccount(name: "carol")) {
            try store.setDeveloper(true, ofAccount: "carol")
        }
    }

    @Test func onlySoManyAccountsAreDevelopers() throws {
        let store = try open()
        for number in 1...ControlStore.developersMax {
            try store.addAccount(name: "a\(number)", passwordHash: "hash", isDeveloper: true)
        }
        let full = ControlError.tooManyDevelopers(developersMax: ControlStore.developersMax)
        #expect(throws: full) {
            try store.addAccount(name: "another", passwordHash: "hash", isDeveloper: true)
        }
        try store.addAccount(name: "more", passwordHash: "hash")
        #expect(throws: full) { try store.setDeveloper(true, ofAccount: "more") }
        #expect(try store.account(named: "more")?.isDeveloper == false, "what was refused left nothing")
        try store.setDeveloper(true, ofAccount: "a1")
        try store.setDeveloper(false, ofAccount: "a1")
        try store.setDeveloper(true, ofAccount: "more")
    }
}
