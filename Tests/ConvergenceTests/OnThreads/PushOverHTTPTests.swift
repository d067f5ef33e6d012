import CloudKit
import CloudServer
import CloudService
import CloudStore
import Foundation
import HTTPClient
import HTTPServer
import Simulation
import System
import Testing
import Yap
import YapCloudKit

/// Two devices and a real server: what one commits the other hears of, over real connections.
@Suite(.serialized) struct PushOverHTTPTests {
    private static let user = ServiceUser(userRecordName: "_ada")
    private static let token = "ada's token"

    /// A store, and the server before it, which may end and begin again on the same port.
    private final class Cloud {
        private let folder: URL
        private let store: SQLiteCloudStore
        private(set) var server: CloudServer

        init() throws {
            folder = Folder.fast.appending(path: "yap-push-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            store = try SQLiteCloudStore(path: folder.appending(path: "cloud.sqlite").path)
            server = Self.server(store, port: 0)
            try server.start()
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private static func server(_ store: SQLiteCloudStore, port: Int) -> CloudServer {
            var options = CloudServerOptions()
            options.http.port = port
            options.graceMilliseconds = 1000
            let service = CloudService(
                store: store, clock: SystemTimeSource(), random: SystemRandomSource(), users: [token: user])
            return CloudServer(service, options: options)
        }

        func path(_ name: String) -> String { folder.appending(path: name).path }

        func stop() async {
            let server = server
            await withCheckedContinuation { continuation in
                Thread {
                    server.stop()
                    continuation.resume()
                }.start()
            }
        }

        func startAgain() throws {
            server = Self.server(store, port: server.port)
            try server.start()
        }
    }

    private struct Device {
        let database: YapDatabase
        let sync: CloudSync
        private let client = HTTPClient()

        init(_ name: String, _ cloud: Cloud) async throws {
            database = try YapDatabase(path: cloud.path(name)) {
                $0.register(Todo.self, inCollection: "todos")
            }
            let connection = CloudConnection(
                transport: HTTPTransport(serverURL: "http://127.0.0.1:\(cloud.server.port)", client: client),
                execution: .threads,
                account: FixedAccount(CloudCredential(webAuthToken: token, deviceID: name)))
            sync = try await CloudSync(
                database, container: CKContainer(identifier: "iCloud.yap.test", connection: connection),
                models: [.model(Todo.self, collection: "todos")], zone: "todos")
        }

        func add(_ key: String) async throws {
            try await database.newConnection().readWrite {
                try $0.setObject(Todo(text: "text", order: 1), forKey: key, inCollection: "todos")
            }
        }

        /// Waits until the device has so many items, without a call that fetches. Returns their keys.
        @discardableResult
        func waitForItems(_ count: Int) async throws -> [String] {
            let keys = database.newConnection().observe {
                try $0.objects(Todo.self, inCollection: "todos").map(\.key)
            }
            for try await now in keys where now.count == count { return now.sorted() }
            return []
        }
    }

    @Test func changesOfOneDeviceReachTheOtherOverHTTP() async throws {
        let cloud = try Cloud()
        let phone = try await Device("phone", cloud)
        let laptop = try await Device("laptop", cloud)
        for number in 1...3 {
            try await phone.add("phone \(number)")
            try await laptop.waitForItems(2 * number - 1)
            try await laptop.add("laptop \(number)")
            try await phone.waitForItems(2 * number)
        }
        let keys = ["laptop 1", "laptop 2", "laptop 3", "phone 1", "phone 2", "phone 3"]
        #expect(try await phone.waitForItems(6) == keys)
        #expect(try await laptop.waitForItems(6) == keys)
        try await phone.database.close()
        try await laptop.database.close()
        await cloud.stop()
    }

    @Test func aDeviceIsNotifiedAgainWhenTheServerReturns() async throws {
        let cloud = try Cloud()
        let phone = try await Device("phone", cloud)
        let laptop = try await Device("laptop", cloud)
        try await phone.add("1")
        try await laptop.waitForItems(1)
        await cloud.stop()
        try await phone.add("2")
        try cloud.startAgain()
        #expect(try await laptop.waitForItems(2) == ["1", "2"])
        try await phone.database.close()
        try await laptop.database.close()
        await cloud.stop()
    }
}
