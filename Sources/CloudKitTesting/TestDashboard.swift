internal import CloudServer
internal import CloudService
internal import CloudStore
import Foundation
internal import HTTPServer
import System

/// The dashboard of a cloud: a server on loopback with threads of its own, and a service of its own over the cloud's
/// store. Stores take calls from any thread, and services keep in memory only what they compare with the store.
///
/// The folder has the administrator's session, the audit log and the users' names, and nothing of the cloud.
final class TestDashboard: Sendable {
    let service: CloudService
    private let server: CloudServer
    private let control: ControlStore
    private let folder: DataFolder

    /// Makes the folder, and serves.
    ///
    /// - Parameter users: the names of the users that have a device.
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
            try control.addContainer(container.identifier)
            // An environment without a file counts as one that nobody has used.
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
        // A thread of the server may release the last reference, and can't wait for its own end.
        let (server, path) = (server, folder.path)
        Thread.detachNewThread {
            server.stop()
            OrphanedFolders.remove(path)
        }
    }

    /// Where its own files are.
    var path: String { folder.path }

    /// An address that signs in once, within 10 minutes; it takes the place of the one before.
    func link() throws -> URL {
        guard let link = try server.makeFirstDashboardLink() ?? server.dashboardURL,
            let url = URL(string: link)
        else { throw CocoaError(.featureUnsupported) }
        return url
    }

    /// Lists a user among the accounts.
    func add(_ user: String) throws { try Self.add(user, to: control) }

    /// Maximum number of users without a name that an account can have.
    private static let usersMax = 1_000

    private static func add(_ user: String, to control: ControlStore) throws {
        let userRecordName = TestCloud.userRecordName(user)
        // A test may call its users as accounts of a server can't be called.
        for name in [user] + (1...usersMax).map({ "user-\($0)" }) {
            do {
                return try control.addAccount(name: name, userRecordName: userRecordName)
            } catch ControlError.badName {
                continue
            } catch ControlError.accountExists {
                let account = try control.account(named: name)
                // It was made in the dashboard before the test had a device of this user.
                if try account.map({ try control.userRecordName(of: $0, container: "") }) == userRecordName {
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

/// The folders that are there: they go at the end of the process, where nobody has let go of their clouds.
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
