import CloudStore
import Crypto
import SQLiteTestSupport
import System
import Testing

/// What people tell of themselves, and whom.
@Suite struct ControlPeopleTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder
    private let store: ControlStore

    init() throws {
        folder = try TemporaryFolder()
        try ControlStore.make(path: folder.file("control.sqlite"))
        store = try ControlStore(
            path: folder.file("control.sqlite"), clock: ManualTimeSource(), monotonic: ManualMonotonicSource()
        )
    }

    @Test func anAddressIsOfOneAccountInWhateverCase() throws {
        let ann = try store.addAccount(name: "ann", email: "ann@example.com", passwordHash: "hash")
        #expect(ann.email == "ann@example.com")
        #expect(throws: ControlError.emailTaken("ANN@example.com")) {
            try store.addAccount(name: "bob", email: "ANN@example.com", passwordHash: "hash")
        }
        try store.addAccount(name: "bob", passwordHash: "hash")
        #expect(throws: ControlError.emailTaken("ann@example.com")) {
            try store.changePerson(ofAccount: "bob", email: "ann@example.com")
        }
        #expect(try store.changePerson(ofAccount: "ann", email: "Ann@example.com").email == "Ann@example.com")
    }

    @Test func whatIsNotNamedStaysAndAnEmptyTextTakesAway() throws {
        try store.addAccount(name: "ann", givenName: "Ann", familyName: "Lee", passwordHash: "hash")
        let changed = try store.changePerson(ofAccount: "ann", givenName: "", email: "ann@example.com")
        #expect(changed.givenName == nil && changed.familyName == "Lee" && changed.email == "ann@example.com")
        #expect(try store.account(named: "ann") == changed)
        #expect(try store.changePerson(ofAccount: "ann", email: "").email == nil)
        #expect(throws: ControlError.noSuchAccount(name: "bob")) { try store.changePerson(ofAccount: "bob") }
    }

    @Test(arguments: [
        "a", "@", "a@", "@b", "a@b@c", "a b@c", "ä@b", String(repeating: "a", count: 254) + "@b",
    ])
    func whatIsNoAddressIsRefused(_ email: String) throws {
        #expect(throws: ControlError.self) {
            try store.addAccount(name: "ann", email: email, passwordHash: "hash")
        }
    }

    @Test func whoIsDiscoverableIsFoundInTheContainerAndNowhereElse() throws {
        let ann = try store.addAccount(
            name: "ann", givenName: "Ann", email: "ann@example.com", passwordHash: "hash")
        try store.addContainer(Self.todo)
        let session = try store.makeSession(of: ann, container: Self.todo, environment: "development").session
        let name = session.userRecordName
        #expect(try store.discoverability(of: session) == ControlDiscoverability())
        #expect(try store.person(email: "ann@example.com", container: Self.todo) == nil)
        try store.setDiscoverability(ControlDiscoverability(isDiscoverable: true), of: session)
        let found = try store.person(email: "ANN@example.com", container: Self.todo)
        #expect(found?.userRecordName == name && found?.givenName == "Ann")
        #expect(try store.person(userRecordName: name, container: Self.todo) == found)
        #expect(try store.person(email: "ann@example.com", container: "iCloud.other") == nil)
        #expect(try store.person(userRecordName: name, container: "iCloud.other") == nil)
        #expect(try store.listedPeople(container: Self.todo, countMax: 10) == [])
        try store.setDiscoverability(
            ControlDiscoverability(isDiscoverable: true, isListed: true), of: session)
        #expect(try store.listedPeople(container: Self.todo, countMax: 10).map(\.userRecordName) == [name])
        #expect(try store.listedPeople(container: Self.todo, countMax: 0) == [])
        #expect(try store.discoverability(of: session).isListed)
        try store.setDiscoverability(ControlDiscoverability(), of: session)
        #expect(try store.person(userRecordName: name, container: Self.todo) == nil)
    }
}
