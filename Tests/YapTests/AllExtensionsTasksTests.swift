import ExtensionModel
import System
import TestSeed
import Testing

@testable import Yap

/// Several connections of one process, each used from a task of its own, with all kinds of extensions.
@Suite struct AllExtensionsTasksTests {
    private static let stepsCount = 20

    @Test(arguments: TestSeed.values(count: 12))
    func whatATaskReadsIsOneSnapshotOfRowsAndExtensions(seed: UInt64) async throws {
        let folder = try TestFolder()
        let instance = try ItemInstance(path: folder.file, try TestFolder.options())
        for one in instance.extensions.all { try await register(one, in: instance.database) }
        let (draw, extensions) = (ItemDraw(seed: seed), instance.extensions)
        let database = instance.database
        try await withThrowingTaskGroup(of: [String].self) { group in
            for number in 0..<2 + seed % 3 {
                group.addTask {
                    let random = SeededRandomSource(seed: seed &* 10 &+ number)
                    return try await Self.work(database.newConnection(), extensions, draw, random)
                }
            }
            for try await differences in group { #expect(differences == [], "seed \(seed)") }
        }
        let (_, differences) = try await Self.compare(
            instance.connection, extensions, ItemReplay(draw), requiresAll: true)
        #expect(differences == [], "seed \(seed), at the end")
        try await database.close()
    }

    private func register(_ one: some YapDatabaseNamedExtension, in database: YapDatabase) async throws {
        try await database.register(one)
    }

    /// Writes and reads by turns; the first differences.
    private static func work(
        _ connection: YapDatabaseConnection, _ extensions: ItemExtensions, _ draw: ItemDraw,
        _ random: SeededRandomSource
    ) async throws -> [String] {
        var replay = ItemReplay(draw)
        for _ in 0..<stepsCount {
            if random.next(in: 0..<3) > 0 {
                let isUndone = random.next(in: 0..<8) == 0
                try await connection.readWrite { transaction in
                    try ItemJournal.write(draw, extensions, transaction)
                    if isUndone { transaction.rollback() }
                }
            } else {
                let (next, differences) = try await compare(connection, extensions, replay)
                if !differences.isEmpty { return differences }
                replay = next
            }
        }
        return []
    }

    private static func compare(
        _ connection: YapDatabaseConnection, _ extensions: ItemExtensions, _ replay: ItemReplay,
        requiresAll: Bool = false
    ) async throws -> (ItemReplay, [String]) {
        try await connection.read { transaction in
            var replay = replay
            let differences = try replay.differences(extensions, transaction, requiresAll: requiresAll)
            return (replay, differences)
        }
    }
}
