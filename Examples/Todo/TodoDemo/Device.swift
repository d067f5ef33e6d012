import CloudKitTesting
import Foundation
import TodoKit
import YapCloudKit

/// A device of the story: the app's list in a file of its own.
struct Device {
    let name: String
    let list: TodoList
    private let testDevice: TestDevice
    private let cloud: TestCloud

    init(_ name: String, user: String, in folder: URL, _ cloud: TestCloud, isOnline: Bool) async throws {
        self.name = name
        self.cloud = cloud
        testDevice = cloud.device(user: user)
        if !isOnline { cloud.disconnect(testDevice) }
        list = try await TodoList(
            path: folder.appending(path: "\(name).sqlite").path, container: testDevice.container)
    }

    /// Takes the network away.
    func goOffline() {
        cloud.disconnect(testDevice)
    }

    /// Gives the network back, and waits until the sync has nothing left to do.
    ///
    /// - Returns: What the merges decided on the way.
    /// - Throws: `DemoError.notSynced` when something is left to do.
    func goOnline() async throws -> [Decision] {
        let stream = list.sync.mergeLog
        let collector = Task { [name] in
            var decisions = [Decision]()
            for await entry in stream { decisions.append(Decision(device: name, entry: entry)) }
            return decisions
        }
        cloud.connect(testDevice)
        list.sync.retry()
        let status = await list.sync.syncNow()
        // What the stream has buffered is still delivered after this.
        collector.cancel()
        guard status == .idle else { throw DemoError.notSynced(device: name, status: "\(status)") }
        return await collector.value
    }
}

/// What a device's sync decided about one change.
struct Decision {
    let device: String
    let entry: CloudMergeLogEntry
}
