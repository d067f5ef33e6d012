internal import System

/// The streams of the sync's status. They last until the device's database ends.
final class StatusStreams: Sendable {
    /// The status that the streams have, so that each is reported once.
    private let reported = Lock<CloudSyncStatus?>(nil)
    private let streams: Broadcast<CloudSyncStatus>

    /// - Parameter valuesMax: Maximum number of statuses kept for a stream that isn't read.
    init(valuesMax: Int) {
        streams = Broadcast(valuesMax: valuesMax)
    }

    /// Returns a stream of the status now, and of each later change.
    /// - Parameter current: Reads the status. Called while no status can be reported to the streams.
    func stream(_ current: () -> CloudSyncStatus) -> AsyncStream<CloudSyncStatus> {
        streams.stream {
            let status = current()
            reported.withLock { $0 = status }
            return status
        }
    }

    /// Reports the status if more than the date of the last response has changed.
    func report(_ status: CloudSyncStatus) {
        let isNew = reported.withLock { reported in
            guard status.differs(from: reported) else { return false }
            reported = status
            return true
        }
        if isNew { streams.yield(status) }
    }

    /// Ends the streams.
    func finish() { streams.finish() }
}
