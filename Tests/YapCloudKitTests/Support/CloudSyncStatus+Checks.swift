import YapCloudKit

extension CloudSyncStatus {
    /// Whether nothing but this pause is in the way, and it ends by an event and not by time.
    func waits(for pause: CloudSyncPause) -> Bool {
        state == .waiting && self.pause == pause && pauseEndDate == nil
    }

    /// Whether nothing but this pause is in the way, and it ends by time.
    func waitsForATime(because pause: CloudSyncPause) -> Bool {
        state == .waiting && self.pause == pause && pauseEndDate != nil
    }

    /// Whether nothing is under way and these problems, and no others, need somebody.
    func needs(_ problems: [CloudSyncProblem]) -> Bool {
        state == .needsAttention && self.problems == problems
    }
}
