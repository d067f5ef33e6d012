import Foundation

/// Places of a sweep over every call, write or cut of a workload. A run of the tests takes the first ones and a fixed
/// share of the others, and `make explore` all of them (`YAP_SWEEPS=all`).
package enum Places {
    private static let takesAll = ProcessInfo.processInfo.environment["YAP_SWEEPS"] == "all"
    /// Number of places that are all taken: some calls are made only a few times.
    private static let firstCount = 6

    /// The places from 1 on, without end.
    ///
    /// - Parameter share: One of how many places is taken after the first ones.
    package static func oneIn(_ share: Int) -> some Sequence<Int> {
        let step = step(share)
        let next = firstCount + Int(TestSeed.value % UInt64(step)) + 1
        return sequence(first: 1) { place in
            if place < firstCount { return place + 1 }
            return place == firstCount ? next : place + step
        }
    }

    /// The distance between two places that are taken.
    package static func step(_ share: Int) -> Int { takesAll ? 1 : share }
}
