import Foundation

/// Places of a sweep over every call, write or cut of a workload. A run of the tests takes a fixed share of them, and
/// `make explore` all of them (`YAP_SWEEPS=all`).
package enum Places {
    private static let takesAll = ProcessInfo.processInfo.environment["YAP_SWEEPS"] == "all"

    /// The places from 1 on, without end.
    ///
    /// - Parameter share: One of how many places is taken.
    package static func oneIn(_ share: Int) -> StrideTo<Int> {
        let step = step(share)
        return stride(from: Int(TestSeed.value % UInt64(step)) + 1, to: Int.max, by: step)
    }

    /// The distance between two places that are taken.
    package static func step(_ share: Int) -> Int { takesAll ? 1 : share }
}
