import CloudKit
import CloudKitTesting
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// The sync keeps the database open while work is under way, also after the app has released it.
@Suite struct DatabaseReleaseTests {
    @Test("183. a database that only the sync retains is closed when the sync is idle")
    func theSyncReleasesTheLastReferenceOutsideOfItsLock() throws {
        let cloud = TestCloud()
        let folder = try TemporaryFolder()
        let scheduler = ManualScheduler(clock: cloud.clock)
        let held = HeldAnswers(cloud, to: "changes/zone")
        let database = try databaseThatTheAppReleased(cloud, folder, scheduler)
        #expect(held.count == 1)
        #expect(database.value != nil, "the fetch that is under way holds it")
        // The end of the database comes back to the runner, on this thread.
        while held.count > 0 {
            held.release()
            scheduler.runUntilQuiet()
        }
        #expect(database.value == nil)
    }

    /// Without keeping the object that it refers to.
    private struct Released {
        weak var value: YapDatabase?
    }

    private func databaseThatTheAppReleased(
        _ cloud: TestCloud, _ folder: TemporaryFolder, _ scheduler: ManualScheduler
    ) throws -> Released {
        let database = try YapDatabase(path: folder.path + "/device.yap") {
            $0.register(Todo.self, inCollection: "todos")
        }
        let sync = try CloudSync(
            database, container: cloud.device(user: "ada").container,
            models: [.model(Todo.self, collection: "todos")], zone: "todos", scheduler: scheduler,
            clock: cloud.clock, random: SeededRandomSource(seed: 1))
        scheduler.runUntilQuiet()
        return withExtendedLifetime(sync) { Released(value: database) }
    }
}
