import Foundation

extension SyncEngine {
    /// How far the sync is.
    package var status: CloudSyncStatus {
        let keys = lanes.keys.sorted()
        let sorted = keys.compactMap { lanes[$0] }
        var problems = sorted.compactMap(\.stop)
        problems += sorted.flatMap(\.count.refused)
        let isRunning = sorted.contains { lane in
            lane.work != nil
                || (lane.stop == nil && lane.pause == nil && lane.hasWork && suspendCount == 0 && isOurTurn)
        }
        if isRunning { return .syncing(pending: sorted.reduce(0) { $0 + $1.count.pending }) }
        if !problems.isEmpty { return .needsAttention(problems) }
        let pauses = sorted.filter(\.hasWork).compactMap(\.pause)
        if let first = pauses.min(by: { $0.untilMilliseconds < $1.untilMilliseconds }) {
            let until = Date(timeIntervalSince1970: Double(first.untilMilliseconds) / 1000)
            return .waiting(until: until, because: first.because)
        }
        if sorted.contains(where: \.hasWork) {
            return .waiting(until: nil, because: isOurTurn ? .suspended : .otherProcess)
        }
        return .idle
    }
}
