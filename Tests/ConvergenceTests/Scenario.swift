import Seams

/// What can go wrong in a run. Each seed enables some of them.
enum Fault: String, CaseIterable, Comparable {
    /// A request that never reaches the service.
    case lostRequest
    /// A request that the service carried out and whose answer never arrives.
    case lostReply
    /// A request that the service gets twice.
    case duplicatedRequest
    /// An answer with an error that says when to come again.
    case busyService
    /// A device whose process ends, and opens its file anew.
    case deviceRestart
    /// A device whose process ends after the service got its request and before it got the answer.
    case deathInFlight
    /// A device that falls asleep in the middle of a sync, with some steps of it done.
    case sleepInSync
    /// An edit by the person while a request that writes is under way.
    case editInFlight
    /// A service whose process ends, and opens its file anew.
    case serviceRestart
    /// A service that forgets its tombstones: who was away for longer fetches everything again.
    case expiredTokens
    /// A zone that gets another epoch, as after it was restored: its tokens start again.
    case resetZone
    /// A service that is put back to an earlier backup: what it acknowledged since is lost there.
    case restoredBackup

    static func < (left: Fault, right: Fault) -> Bool { left.rawValue < right.rawValue }
}

/// What a seed draws before anything happens (swarm testing: a run with every fault at once finds less than many
/// runs with a few faults each).
struct Scenario: CustomStringConvertible {
    let seed: UInt64
    let devicesCount: Int
    let stepsCount: Int
    /// Few keys make many conflicts.
    let keysCount: Int
    /// How many records an answer of the service, or a request to it, may have.
    let itemsMax: Int
    /// In a thousand requests (or steps, for restarts); a fault that isn't enabled has 0.
    let rates: [Fault: Int]

    init(seed: UInt64, random: some RandomSource) {
        self.seed = seed
        devicesCount = random.next(in: 2..<5)
        stepsCount = random.next(in: 30..<70)
        keysCount = random.next(in: 1..<9)
        itemsMax = [1, 2, 3, 5, 7, 400][random.next(in: 0..<6)]
        var rates = [Fault: Int]()
        for fault in Fault.allCases {
            // A restored server excuses so much that most runs have to be without.
            let isEnabled = random.next(in: 0..<(fault == .restoredBackup ? 5 : 2)) == 0
            rates[fault] = isEnabled ? [30, 100, 300][random.next(in: 0..<3)] : 0
        }
        self.rates = rates
    }

    var description: String {
        let faults = Fault.allCases.filter { rates[$0, default: 0] > 0 }.map {
            "\($0.rawValue)=\(rates[$0, default: 0])"
        }
        return
            "seed \(seed): \(devicesCount) devices, \(stepsCount) steps, \(keysCount) keys, \(itemsMax) items at most"
            + (faults.isEmpty ? "" : ", " + faults.joined(separator: " "))
    }
}
