internal import System

extension CloudSync {
    /// Syncs devices in turn, until a round in which none of them sends or receives a record. For tests of an app.
    ///
    /// ```swift
    /// let cloud = TestCloud(execution: .threads)
    /// // Two devices edit the same object offline, and are connected again.
    /// try await CloudSync.syncUntilQuiet([phone.sync, laptop.sync])
    /// ```
    ///
    /// Afterwards each device has the changes of all of them, except those that are still pending by its status. A
    /// device without a network is quiet.
    ///
    /// - Parameters:
    ///   - syncs: The devices, in the order in which they sync. It decides which of two edits is the later one.
    ///   - roundsMax: Maximum number of rounds. Two devices in a conflict need three.
    /// - Returns: The status of each sync after the last round, in the same order.
    /// - Throws: `YapDatabaseCloudKitError.notQuiet` if records were still exchanged in the last round.
    @discardableResult
    public static func syncUntilQuiet(
        _ syncs: [CloudSync], roundsMax: Int = 20
    ) async throws -> [CloudSyncStatus] {
        for _ in 0..<roundsMax {
            let before = exchangedCount(of: syncs)
            var statuses: [CloudSyncStatus] = []
            for sync in syncs { statuses.append(await sync.syncNow()) }
            if exchangedCount(of: syncs) == before { return statuses }
        }
        throw YapDatabaseCloudKitError.notQuiet(rounds: roundsMax)
    }

    private static func exchangedCount(of syncs: [CloudSync]) -> Int {
        syncs.reduce(0) { $0 + $1.cloudKit.runner.progress.exchangedCount }
    }
}
