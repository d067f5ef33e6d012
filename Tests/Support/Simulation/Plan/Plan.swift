/// A run from its beginning to its end: nothing in it is drawn any more but what has a name (latencies, ids). A failing
/// run is kept as its plan and replays for good.
package struct Plan: Codable, Sendable {
    /// Names the draws of what is in no list.
    package var seed: UInt64
    package var scenario: Scenario
    /// What the persons, the machines and the service's keeper do, in the order of time.
    package var steps: [Step]
    /// What the requests meet; nil as long as it is drawn from the seed.
    package var faults: [RequestFault]?
    /// What the run found when it was kept.
    package var found: String?

    /// The devices that do something.
    package var devicesCount: Int { scenario.devices.count }

    package var summary: String {
        "\(devicesCount) devices, \(steps.count) steps, \(faults?.count ?? 0) faults of requests"
    }
}

/// What holds for a whole run.
package struct Scenario: Codable, Sendable {
    package var devices: [DeviceKind]
    /// Few keys make many conflicts.
    package var keysCount: Int
    /// How many records an answer of the service, or a request to it, may have.
    package var itemsMax: Int
    /// Whether the devices with a record handler have a second database.
    package var hasOthers: Bool
    /// The longest that a request without a fault is on its way, each way.
    package var latencyMillisecondsMax: Int
    /// From how many frames of its log a file takes them in: with few, kills and power losses meet it.
    package var checkpointFrames: Int32
    /// Whether a process that starts may count and send before it asks for the first fetch.
    package var runsAhead: Bool
    /// In how many of a thousand pieces of work of a process others may come between two steps, as with threads.
    package var interruptionsPerMille: Int
    /// Whether an app that ends lets its database go, instead of closing it.
    package var letsGo: Bool
    /// Whether there are albums, which have files.
    package var hasFiles: Bool
    /// Whether there are samples, which have values at the edges of their types.
    package var hasSamples: Bool
    /// Whether apps with `CloudSync` have notes and lists in a zone of their own.
    package var hasSecondZone: Bool
    /// In a thousand requests, pushes or steps; a fault that isn't here doesn't happen.
    package var rates: [Fault: Int]

    init(
        devices: [DeviceKind], keysCount: Int, itemsMax: Int, hasOthers: Bool, latencyMillisecondsMax: Int,
        checkpointFrames: Int32, runsAhead: Bool, interruptionsPerMille: Int, letsGo: Bool,
        hasFiles: Bool, hasSamples: Bool, hasSecondZone: Bool,
        rates: [Fault: Int]
    ) {
        self.devices = devices
        self.keysCount = keysCount
        self.itemsMax = itemsMax
        self.hasOthers = hasOthers
        self.latencyMillisecondsMax = latencyMillisecondsMax
        self.checkpointFrames = checkpointFrames
        self.runsAhead = runsAhead
        self.interruptionsPerMille = interruptionsPerMille
        self.letsGo = letsGo
        self.hasFiles = hasFiles
        self.hasSamples = hasSamples
        self.hasSecondZone = hasSecondZone
        self.rates = rates
    }

    private enum Key: String, CodingKey {
        case devices, keysCount, itemsMax, hasOthers, latencyMillisecondsMax, checkpointFrames, runsAhead
        case interruptionsPerMille, letsGo, hasFiles, hasSamples, hasSecondZone
    }

    // The rates are for drawing only: a plan that is kept has what they made.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        devices = try values.decode([DeviceKind].self, forKey: .devices)
        keysCount = try values.decode(Int.self, forKey: .keysCount)
        itemsMax = try values.decode(Int.self, forKey: .itemsMax)
        hasOthers = try values.decode(Bool.self, forKey: .hasOthers)
        latencyMillisecondsMax = try values.decode(Int.self, forKey: .latencyMillisecondsMax)
        // Runs that were kept before it was drawn have SQLite's own number.
        checkpointFrames = try values.decodeIfPresent(Int32.self, forKey: .checkpointFrames) ?? 1_000
        runsAhead = try values.decodeIfPresent(Bool.self, forKey: .runsAhead) ?? false
        interruptionsPerMille = try values.decodeIfPresent(Int.self, forKey: .interruptionsPerMille) ?? 0
        letsGo = try values.decodeIfPresent(Bool.self, forKey: .letsGo) ?? false
        hasFiles = try values.decodeIfPresent(Bool.self, forKey: .hasFiles) ?? false
        hasSamples = try values.decodeIfPresent(Bool.self, forKey: .hasSamples) ?? false
        hasSecondZone = try values.decodeIfPresent(Bool.self, forKey: .hasSecondZone) ?? false
        rates = [:]
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(devices, forKey: .devices)
        try values.encode(keysCount, forKey: .keysCount)
        try values.encode(itemsMax, forKey: .itemsMax)
        try values.encode(hasOthers, forKey: .hasOthers)
        try values.encode(latencyMillisecondsMax, forKey: .latencyMillisecondsMax)
        try values.encode(checkpointFrames, forKey: .checkpointFrames)
        try values.encode(runsAhead, forKey: .runsAhead)
        try values.encode(interruptionsPerMille, forKey: .interruptionsPerMille)
        try values.encode(letsGo, forKey: .letsGo)
        try values.encode(hasFiles, forKey: .hasFiles)
        try values.encode(hasSamples, forKey: .hasSamples)
        try values.encode(hasSecondZone, forKey: .hasSecondZone)
    }
}

/// How a device's app uses the sync.
package struct DeviceKind: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The version of the app that it begins with: 1 or 2.
    package var version: Int
    /// Whether commits that wait may go up as one.
    package var folds: Bool
    /// Whether it hears of other devices' changes.
    package var listens: Bool
    /// nil: `CloudSync`.
    package var handler: HandlerKind?
    /// Whether the objects of a zone that was deleted are removed; nil: they are kept.
    package var removesObjects: Bool?

    /// The same with the default.
    var removesWithZone: Bool { removesObjects ?? false }

    package var description: String {
        "v\(version) \(handler.map { "\($0)" } ?? "CloudSync")" + (folds ? " folds" : "")
            + (listens ? " listens" : "") + (removesWithZone ? " removes" : "")
    }
}

/// What an app with a record handler chose.
package struct HandlerKind: Codable, Hashable, Sendable, CustomStringConvertible {
    /// Whether the queue has the values, or their names only.
    package var storesValues: Bool
    /// Whether the extension deals with failed uploads, or the app.
    package var isAutomatic: Bool
    /// Whether two rows are one record.
    package var splits: Bool

    package var description: String {
        (storesValues ? "values" : "keysOnly") + (isAutomatic ? " automatic" : " app")
            + (splits ? " two rows" : "")
    }
}

/// What happens to an item. Its values follow from a number that no other edit has.
package enum Edit: Codable, Hashable, Sendable {
    case delete
    case replace(value: Int)
    /// Changes fields of the item, or makes it.
    case change(fields: [String], value: Int, clears: Bool)
}

/// What happens to which item.
package struct KeyedEdit: Codable, Hashable, Sendable {
    package var key: String
    package var edit: Edit
}

/// Something that happens at a time.
package struct Step: Codable, Hashable, Sendable {
    /// Never another step's, also when others are left out: the requests that follow it are named by it.
    package var id: Int
    package var atMilliseconds: Int64
    /// nil: the service.
    package var device: Int?
    package var action: Action
}

package enum Action: Codable, Hashable, Sendable {
    // The person, and the app.
    case edit([KeyedEdit])
    case sync
    case background(milliseconds: Int64)
    case otherProcess([KeyedEdit])
    case signIn(user: Int)
    /// The app fetches the files that its objects have and the device hasn't.
    case fetchFiles

    // The machine.
    /// The app is started again a day later, as far as its files are concerned.
    case aDayPasses(emptiesCache: Bool)
    case restart
    /// Ends at one of the next changes of the disk.
    case kill(atChange: Int, losesPower: Bool)
    case stall(milliseconds: Int64)
    case partition(milliseconds: Int64)
    case diskFull(milliseconds: Int64, bytesLeft: Int)
    case failingSyncs(milliseconds: Int64)
    case clockStep(milliseconds: Int64)
    case install(version: Int)

    // The service's keeper.
    case throttle(milliseconds: Int64)
    /// Removes files that no record holds.
    case collectFiles
    case pruneTombstones
    case resetZones
    case deleteZone
    case backUp
    case restoreBackup
}

/// What a request meets. It is named by the last step of its device before it, and its place among the requests since:
/// so it keeps its name when other devices' steps are left out.
package struct RequestFault: Codable, Hashable, Sendable {
    package struct Name: Codable, Hashable, Sendable {
        package var device: Int
        package var step: Int
        package var request: Int

        package init(device: Int, step: Int, request: Int) {
            (self.device, self.step, self.request) = (device, step, request)
        }
    }

    package var name: Name
    package var fault: Fault
    /// How long something takes, or after how long it happens.
    package var milliseconds: Int64
    /// What the person edits meanwhile.
    package var edits: [KeyedEdit]?
    /// What another device edits after the service got the request; nil for most faults.
    package var laterEdits: [KeyedEdit]?
    /// One of two ways in which it happens.
    package var variant: Bool
}
