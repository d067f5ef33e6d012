import CloudService
import CloudStore
import CloudWire
import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing

/// What an operator takes away from somebody is gone, wherever it was kept.
@Suite struct RevocationTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var data: DataFolder { DataFolder(path: folder.file("yap-data")) }

    private func control() throws -> ControlStore { try ControlStore(path: data.controlPath) }

    @discardableResult
    private func done(_ line: String, code: Int32 = 0) async throws -> YapProcess.Ended {
        try await YapProcess.done(line, code: code, in: folder)
    }

    /// Opens an environment's store as a server does, with ann signed in.
    private func withService<Result>(_ body: (CloudService) throws -> Result) throws -> Result {
        let control = try control()
        let ann = try #require(try control.accounts.find(named: "ann"))
        let user = ServiceUser(
            userRecordName: try control.accounts.userRecordName(of: ann, container: Self.todo))
        let store = try SQLiteCloudStore(
            path: data.storePath(container: Self.todo, environment: "development", makesFolders: true))
        defer { store.close() }
        return try body(
            CloudService(
                store: store, clock: SystemTimeSource(), random: SystemRandomSource(), users: ["ann": user]))
    }

    private func newDevice() throws -> String {
        try withService { service in
            let answer = service.respond(
                to: WireRequest(
                    path: "/device/1/\(Self.todo)/development/tokens/create",
                    query: [("ckWebAuthToken", "ann")],
                    body: try TokensCreateRequest(apnsEnvironment: .development, clientID: "phone").json()))
            return try TokensResponse(json: answer.body).apnsToken
        }
    }

    @Test func anAccountIsDisabledAndEnabledByCommand() async throws {
        try await done("yap init --container \(Self.todo) && yap account create ann")
        let before = try #require(try control().accounts.find(named: "ann"))
        try await done("yap account disable ANN")
        #expect(try control().accounts.find(named: "ann")?.isDisabled == true)
        #expect(try await done("yap account list --json").output.contains(#""disabled":true"#))
        try await done("yap account enable ann")
        #expect(try control().accounts.find(named: "ann") == before)
        try await done("yap account disable bob", code: 3)
    }

    /// A device's token is good without a sign-in: a phone that was lost would be told of changes for good.
    @Test(arguments: [
        "account password ann --password-stdin <<< 'a secret'", "session end --account ann",
        "account disable ann",
        "session end --session ID",
    ]) func anAccountWithEndedSessionsGetsNoPushes(_ line: String) async throws {
        try await done("yap init --container \(Self.todo) && yap account create ann")
        let ann = try #require(try control().accounts.find(named: "ann"))
        let session = try control().sessions.make(
            of: ann, container: Self.todo, environment: "development"
        ).session
        let token = try newDevice()
        try withService { service in _ = try service.takePush(apnsToken: token) }
        try await done("yap " + line.replacing("ID", with: session.id))
        try withService { service in
            let error = #expect(throws: WireError.self) { try service.takePush(apnsToken: token) }
            #expect(error?.serverErrorCode == .notFound)
        }
    }

    @Test func anAccountsSessionsAreListedWithWhenFromWhereAndWithWhat() async throws {
        try await done(
            "yap init --container \(Self.todo) && yap account create ann && yap account create bob")
        for (name, client) in [("ann", "phone/1"), ("bob", "laptop/3")] {
            let account = try #require(try control().accounts.find(named: name))
            _ = try control().sessions.make(
                of: account, container: Self.todo, environment: "development",
                from: ControlSignInPlace(network: "n", address: "192.0.2.1", client: client))
        }
        let told = try await done("yap account sessions ann").output
        #expect(told.contains("192.0.2.1") && told.contains("phone/1") && !told.contains("laptop"), "\(told)")
        try await done("yap account sessions carol", code: 3)
    }

    @Test func anAccountIsDisabledBeforeErasingAndStaysDisabledAfterAFailure() async throws {
        try await done("yap init --container \(Self.todo) && yap account create ann --email ann@example.com")
        let ann = try #require(try control().accounts.find(named: "ann"))
        let made = try control().sessions.make(of: ann, container: Self.todo, environment: "development")
        try control().people.setDiscoverability(
            ControlDiscoverability(isDiscoverable: true, isListed: true), of: made.session)
        let token = try newDevice()
        // Another container's store can't be read.
        try await done("yap init --container zzz && mkdir yap-data/containers/zzz")
        try await done("head -c 8192 /dev/urandom > yap-data/containers/zzz/development.sqlite")
        try await done("yap account delete ann --erase --yes", code: 1)
        #expect(try control().sessions.find(token: made.token) == nil)
        #expect(try control().accounts.find(named: "ann")?.passwordHash != ann.passwordHash)
        try withService { service in
            _ = #expect(throws: WireError.self) { try service.takePush(apnsToken: token) }
        }
        try await done("rm yap-data/containers/zzz/development.sqlite")
        try await done("yap account delete ann --erase --yes")
        #expect(try control().accounts.find(named: "ann") == nil)
        let left = try Connection(path: data.controlPath).withStatement("SELECT count(*) FROM discoverable") {
            try $0.step() ? $0.int64(at: 0) : -1
        }
        #expect(left == 0, "what was told to others is forgotten too")
    }
}
