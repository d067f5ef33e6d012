import CBenchmarks
import Foundation

/// Devices that wait for a push, each on a connection of its own, until they are released.
@MainActor
final class WaitingDevices {
    static let devicesCount = 1_000
    /// How long none of them may be answered before they count as waiting.
    private static let silenceMilliseconds: Int32 = 500

    private var connections = [Int32](repeating: -1, count: devicesCount)

    /// - Parameter polls: a request for each device.
    /// - Throws: when a device is answered or refused.
    init(_ polls: LoadRequests, port: Int) throws {
        let count = polls.requests.count
        precondition(count == Self.devicesCount)
        let silent = probe_hold(
            Int32(port), polls.requests, count, Self.silenceMilliseconds, &connections)
        guard silent == count else {
            release()
            throw BenchError("\(silent) of \(count) devices wait (see `ulimit -n`)")
        }
    }

    func release() {
        probe_release(connections, connections.count)
        connections = []
    }
}
