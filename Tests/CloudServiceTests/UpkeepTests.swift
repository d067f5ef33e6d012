import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// What a service does beside answering.
@Suite struct UpkeepTests {
    private let folder: TemporaryFolder
    private let store: FullStore
    private let cloud: TestService

    init() throws {
        folder = try TemporaryFolder()
        store = FullStore(try SQLiteCloudStore(path: folder.file("store.db")))
        cloud = TestService(store: store)
        try cloud.zones(.create)
        try cloud.modify((0..<50).map { operation(.create, "r\($0)") })
        try cloud.zones(.delete)
    }

    private func hasClearedRows() throws -> Bool { try store.read { try $0.hasClearedRows() } }

    @Test func theStepsOfTheUpkeepTakeTurnsUntilAllIsDone() throws {
        #expect(try hasClearedRows())
        var callsCount = 0
        while try cloud.service.upkeep.keepUpInTurn() {
            callsCount += 1
            try #require(callsCount < 100)
        }
        #expect(try !hasClearedRows())
        #expect(!cloud.service.upkeep.isWanted)
    }

    @Test func aStepThatFailsHoldsUpNoOther() throws {
        store.isFull.withLock { $0 = true }
        var failedCount = 0
        for _ in 0..<12 {
            do { _ = try cloud.service.upkeep.keepUpInTurn() } catch { failedCount += 1 }
        }
        #expect(failedCount > 1, "it is tried again in its turn")
        #expect(!cloud.service.pruning.isDue, "the step behind it was done")
        #expect(try hasClearedRows())
        store.isFull.withLock { $0 = false }
        while try cloud.service.upkeep.keepUpInTurn() {}
        #expect(try !hasClearedRows())
    }
}
