internal import CloudServer
internal import CloudService
internal import CloudStore
import Foundation
internal import HTTPServer
import System

/// The dashboard of a cloud: a server on the loopback interface with threads of its own, and a service of its
/// own over the cloud's store. Stores are thread-safe, and services cache only what they compare with the
/// store.
///
/// The folder has the administrator's session, the audit log and the users' names, and no data of the cloud.
final class TestDashboard: Sendable {
    let service: CloudService
    private let server: CloudServer
    private let control: ControlStore
    private let folder: DataFolder

    /// Creates the folder, and serves.
    ///
    /// - Parameter users: the users that have a device.
    init(
        _ service: CloudService, of container: CloudService.Container, users: [String],
        pushesReady: @escaping @Sendable ([String]) -> Void
    ) throws {
        self.service = service
        folder = DataFolder(
            path: FileManager.default.temporaryDirectory.path + "/TestCloud-dashboard-"
                + SystemRandomSource().nextUUID())
        OrphanedFolders.note(folder.path)
        do {
            _ = try folder.make()
            control = try ControlStore(namingUsersByKeys: folder.controlPath)
            try control.containers.add(container.identifier)
            // An environment without a file counts as unused.
            try SQLiteCloudStore(
                path: folder.storePath(
                    container: container.identifier, environment: container.environment, makesFolders: true)
            ).close()
            server = CloudServer(
                service, of: container, folder: folder, control: control, options: Self.options,
                pushesReady: pushesReady)
            for user in users { try Self.add(user, to: control) }
            try server.start()
        } catch {
            OrphanedFolders.remove(folder.path)
            throw error
        }
    }

    deinit {
        // A server's thread may release the last reference, and can't wait for its own end.
        let (server, path) = (server, folder.path)
        try? SystemThread.detach(name: "yap dashboard") {
            server.stop()
            OrphanedFolders.remove(path)
        }
    }

    /// The folder of its files.
    var path: String { folder.path }

    /// Returns a URL that signs in once, within 10 minutes. It replaces the previous one.
    func link() throws -> URL {
        guard let link = try server.makeFirstDashboardLink() ?? server.dashboardURL,
            let url = URL(string: link)
        else { throw CocoaError(.featureUnsupported) }
        return url
    }

    /// Adds a user to the accounts.
    func add(_ user: String) throws { try Self.add(user, to: control) }

    /// Maximum number of users without a name that an account can have.
    private static let usersMax = 1_000

    private static func add(_ user: String, to control: ControlStore) throws {
        let userRecordName = TestCloud.userRecordName(user)
        // A user of a test may have a name that isn't valid for an account.
        for name in [user] + (1...usersMax).map({ "user-\($0)" }) {
            do {
                return try control.accounts.add(name: name, userRecordName: userRecordName)
            } catch ControlError.badName {
                continue
            } catch ControlError.accountExists {
                let account = try control.accounts.find(named: name)
                // The account was created in the dashboard before the test had a device of this user.
                if try account.map({ try control.accounts.userRecordName(of: $0, container: "") })
                    == userRecordName
                {
                    return
                }
            }
        }
    }

    private static var options: CloudServerOptions {
        var options = CloudServerOptions()
        options.http.loopCount = 1
        options.http.connectionsMax = 64
        options.environmentsOpenMax = 4
        options.courierPollsMax = 16
        options.graceMilliseconds = 0
        options.history.requests = .off
        options.rates = .unlimited
        options.version = "TestCloud"
        return options
    }
}

/// The folders that exist. They are deleted at the end of the process if their clouds weren't released.
private enum OrphanedFolders {
    private static let paths = Lock<Set<String>>([])
    private static let atEnd: Void = {
        atexit { for path in OrphanedFolders.all { try? FileManager.default.removeItem(atPath: path) } }
    }()

    static var all: [String] { paths.withLock { $0.sorted() } }

    static func note(_ path: String) {
        atEnd
        paths.withLock { _ = $0.insert(path) }
    }

    static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
        paths.withLock { _ = $0.remove(path) }
    }
}
