import CloudKit
import CloudKitTesting
import SQLiteTestSupport
import Testing
import Yap

@testable import YapCloudKit

/// What a test of an app relies on that syncs its devices until they are quiet.
@Suite struct UntilQuietTests {
    /// A device of one user, on threads as in an app.
    private struct Device {
        let cloud: TestDevice
        let folder: TemporaryFolder
        let database: YapDatabase
        let sync: CloudSync

        init(_ cloud: TestCloud) async throws {
            self.cloud = cloud.device(user: "ada")
            folder = try TemporaryFolder()
            database = try YapDatabase(path: folder.file("quiet.yap")) {
                $0.register(Todo.self, inCollection: "todos")
            }
            sync = try await CloudSync(
                database, container: self.cloud.container,
                models: [.model(Todo.self, collection: "todos")], zone: "todos")
        }

        func edit(_ change: @escaping @Sendable (inout Todo) -> Void) async throws {
            try await database.newConnection().readWrite { transaction in
                var todo =
                    try transaction.object(Todo.self, forKey: "1", inCollection: "todos") ?? Todo(title: "")
                change(&todo)
                try transaction.setObject(todo, forKey: "1", inCollection: "todos")
            }
        }

        var todo: Todo? {
            get async throws {
                try await database.newConnection().read {
                    try $0.object(Todo.self, forKey: "1", inCollection: "todos")
                }
            }
        }
    }

    private let cloud = TestCloud(execution: .threads)

    private func devices(_ count: Int) async throws -> [Device] {
        var devices: [Device] = []
        for _ in 0..<count { devices.append(try await Device(cloud)) }
        return devices
    }

    @Test func afterItThreeDevicesThatEditedOneObjectOfflineHaveTheSame() async throws {
        let devices = try await devices(3)
        try await devices[0].edit { $0.title = "milk" }
        try await CloudSync.syncUntilQuiet(devices.map(\.sync))
        for round in 1...20 {
            for device in devices { cloud.disconnect(device.cloud) }
            for (number, device) in devices.enumerated() {
                try await device.edit { $0.title = "\(number) in round \(round)" }
            }
            for device in devices { cloud.connect(device.cloud) }
            let statuses = try await CloudSync.syncUntilQuiet(devices.map(\.sync))
            #expect(statuses.allSatisfy { $0.state == .idle })
            let first = try await devices[0].todo
            #expect(first?.title.hasSuffix(" in round \(round)") == true)
            for device in devices { #expect(try await device.todo == first) }
        }
    }

    @Test func aDeviceWithoutANetworkIsQuietAndSaysSo() async throws {
        let devices = try await devices(2)
        cloud.disconnect(devices[0].cloud)
        try await devices[0].edit { $0.title = "milk" }
        let statuses = try await CloudSync.syncUntilQuiet(devices.map(\.sync))
        #expect(statuses[0].state == .waiting && statuses[0].pause == .network, "\(statuses[0])")
        #expect(statuses[1].state == .idle)
    }

    @Test func devicesThatAreNotQuietAfterTheLastRoundAreAnError() async throws {
        let devices = try await devices(1)
        await #expect(throws: YapDatabaseCloudKitError.notQuiet(rounds: 0)) {
            try await CloudSync.syncUntilQuiet(devices.map(\.sync), roundsMax: 0)
        }
    }
}
