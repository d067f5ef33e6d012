import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// Who watches the sync is told when it ends, and who comes later too: nobody waits for ever.
@Suite struct StreamEndTests {
    private func all<Element>(_ stream: AsyncStream<Element>) async -> [Element] {
        var found: [Element] = []
        for await element in stream { found.append(element) }
        return found
    }

    @Test func theStreamsEndWhenTheDatabaseIsClosedThoughNothingIsUnderWay() async throws {
        let device = try HandledDevice(TestCloud())
        device.scheduler.runUntilQuiet()
        let events = device.cloudKit.events
        let statuses = device.cloudKit.runner.statusStream()
        try await device.database.close()
        #expect(await all(events).isEmpty)
        #expect(await all(statuses).last?.waits(for: .localDatabase) == true)
        // And whoever begins to watch now.
        #expect(await all(device.cloudKit.events).isEmpty)
        #expect(await all(device.cloudKit.runner.statusStream()).count == 1)
    }
}
