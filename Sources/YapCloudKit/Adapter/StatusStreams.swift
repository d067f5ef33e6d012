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
            reported.withLock { reported in
                let status = current()
                reported = status
                return status
            }
        }
    }

    /// Reports the status if more than the date of the last response has changed.
    /// - Parameter current: Reads the status. Called while no other status can be reported.
    func report(_ current: () -> CloudSyncStatus) {
        let new = reported.withLock { reported -> CloudSyncStatus? in
            let status = current()
            guard status.differs(from: reported) else { return nil }
            reported = status
            return status
        }
        if let new { streams.yield(new) }
    }

    /// Ends the streams.
    func finish() { streams.finish() }
}
