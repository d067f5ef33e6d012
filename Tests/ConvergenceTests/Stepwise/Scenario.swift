import System
import YapCloudKit

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
    /// What each device is; nil when all are `CloudSync` with one version of the app, as in the seeds below 10,000.
    let fleet: [DeviceKind]?
    /// Whether the devices with a record handler have a second database.
    let hasOthers: Bool

    /// Seeds from here on draw a fleet.
    static let firstFleet: UInt64 = 10_000

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
        guard seed >= Self.firstFleet else {
            (self.rates, fleet, hasOthers) = (rates, nil, false)
            return
        }
        // What a put back server lost an app can't know without the extension's own knowledge of it.
        rates[.restoredBackup] = 0
        self.rates = rates
        hasOthers = random.next(in: 0..<2) == 0
        fleet = (0..<devicesCount).map { _ in DeviceKind(random: random) }
    }

    var description: String {
        let faults = Fault.allCases.filter { rates[$0, default: 0] > 0 }.map {
            "\($0.rawValue)=\(rates[$0, default: 0])"
        }
        return
            "seed \(seed): \(devicesCount) devices, \(stepsCount) steps, \(keysCount) keys, \(itemsMax) items at most"
            + (faults.isEmpty ? "" : ", " + faults.joined(separator: " "))
            + (fleet.map { ", others \(hasOthers), \($0.map(\.description).joined(separator: ", "))" } ?? "")
    }
}

/// How a device's app uses the sync.
struct DeviceKind: CustomStringConvertible {
    /// The version of the app that it begins with.
    let version: Int
    /// nil: `CloudSync`.
    let handler: HandlerKind?

    init(random: some RandomSource) {
        version = random.next(in: 0..<2) + 1
        handler = random.next(in: 0..<4) == 0 ? nil : HandlerKind(random: random)
    }

    var description: String { "v\(version) \(handler.map { "\($0)" } ?? "CloudSync")" }
}

/// What an app with a record handler chose.
struct HandlerKind: CustomStringConvertible {
    let storage: YapDatabaseCloudKit.QueueStorage
    let failures: YapDatabaseCloudKit.FailureHandling
    let folds: Bool
    /// Whether two rows are one record.
    let splits: Bool

    init(random: some RandomSource) {
        storage = random.next(in: 0..<2) == 0 ? .keysOnly : .values
        failures = random.next(in: 0..<2) == 0 ? .app : .automatic
        folds = random.next(in: 0..<3) == 0
        splits = random.next(in: 0..<3) == 0
    }

    var description: String {
        "\(storage) \(failures)" + (folds ? " folds" : "") + (splits ? " two rows" : "")
    }
}
