/// The plan of a seed.
extension Plan {
    /// Draws a run.
    package init(seed: UInt64) {
        let draws = Draws(seed: seed)
        let scenario = Scenario(draws.named("scenario"))
        let stepsCount = Self.stepsCount(draws)
        self.init(
            seed: seed, scenario: scenario, steps: StepDrawing(scenario, draws).steps(stepsCount),
            faults: nil,
            found: nil)
    }

    /// Most runs are short, so that many different ones are tried; one in thirty is long.
    private static func stepsCount(_ draws: Draws) -> Int {
        draws.happens(perMille: 33, "long") ? 300 : draws.number(in: 25..<70, "steps")
    }

    /// A run of a given size, for measuring: every device is drawn, and so are the faults.
    package init(seed: UInt64, devicesCount: Int, stepsCount: Int) {
        let draws = Draws(seed: seed)
        let scenario = Scenario(draws.named("scenario"), devicesCount: devicesCount)
        self.init(
            seed: seed, scenario: scenario, steps: StepDrawing(scenario, draws).steps(stepsCount),
            faults: nil,
            found: nil)
    }
}

extension Scenario {
    fileprivate init(_ draws: Draws, devicesCount: Int? = nil) {
        let count = devicesCount ?? draws.number(in: 2..<6, "devices")
        let isAllCloudSync = draws.number(in: 0..<2, "all CloudSync") == 0
        let devices = (0..<count).map {
            DeviceKind(draws.named("device \($0)"), isCloudSync: isAllCloudSync)
        }
        let haveCloudSync = devices.allSatisfy { $0.handler == nil }
        let hasFiles = haveCloudSync && draws.number(in: 0..<2, "files") == 0
        let itemsMax = draws.one(of: [1, 2, 3, 5, 7, 400], "items") ?? 400
        self.init(
            devices: devices, keysCount: draws.number(in: 1..<9, "keys"),
            // The files of a record are asked for at once.
            itemsMax: hasFiles ? max(itemsMax, Self.itemsOfAlbum) : itemsMax,
            hasOthers: draws.number(in: 0..<2, "others") == 0,
            latencyMillisecondsMax: draws.one(of: [2, 50, 400, 2_000], "latency") ?? 50,
            checkpointFrames: draws.one(of: [20, 100, 300, 1_000], "checkpoint") ?? 1_000,
            runsAhead: draws.number(in: 0..<2, "ahead") == 0,
            interruptionsPerMille: draws.one(of: [0, 50, 300, 300], "interruptions") ?? 0,
            letsGo: draws.number(in: 0..<2, "lets go") == 0, hasFiles: hasFiles,
            hasSamples: haveCloudSync && draws.number(in: 0..<3, "samples") == 0,
            hasSecondZone: haveCloudSync && draws.number(in: 0..<3, "second zone") == 0,
            rates: Self.rates(draws.named("rates"), isAllCloudSync: devices.allSatisfy { $0.handler == nil }))
    }

    /// How many files an album may have.
    private static let itemsOfAlbum = 7

    /// Swarm testing: a run with every fault at once finds less than many runs with a few faults each.
    private static func rates(_ draws: Draws, isAllCloudSync: Bool) -> [Fault: Int] {
        var rates: [Fault: Int] = [:]
        for fault in Fault.allCases {
            let isOfSteps = Fault.ofDevices.contains(fault) || Fault.ofServices.contains(fault)
            // What excuses much is left out of most runs.
            let isRare = Fault.ofLostZones.contains(fault) || fault == .accountSwitch
            let fault =
                draws.named(fault.rawValue).number(in: 0..<(isRare ? 6 : 3), "is enabled") == 0 ? fault : nil
            guard let fault else { continue }
            let choices = isOfSteps ? [10, 30, 100] : [30, 100, 300]
            rates[fault] = draws.named(fault.rawValue).one(of: choices, "rate")
        }
        if !isAllCloudSync {
            for fault in Fault.ofLostZones { rates[fault] = nil }
            rates[.accountSwitch] = nil
        }
        return rates
    }
}

extension DeviceKind {
    fileprivate init(_ draws: Draws, isCloudSync: Bool) {
        let isHandled = !isCloudSync && draws.number(in: 0..<4, "handled") > 0
        self.init(
            version: draws.number(in: 1..<3, "version"), folds: draws.number(in: 0..<3, "folds") == 0,
            listens: draws.number(in: 0..<2, "listens") == 0,
            handler: isHandled
                ? HandlerKind(
                    storesValues: draws.number(in: 0..<2, "values") == 0,
                    isAutomatic: draws.number(in: 0..<2, "automatic") == 0,
                    splits: draws.number(in: 0..<3, "splits") == 0) : nil,
            removesObjects: isCloudSync && draws.number(in: 0..<3, "removes") == 0 ? true : nil)
    }
}

/// Draws edits: of items that exist in few numbers, with values of their own.
struct EditDrawing {
    let scenario: Scenario

    /// One to three edits of different items, as the person makes them in one commit.
    /// - Parameter number: Of the step, so that no two edits have the same values.
    func edits(_ draws: Draws, device: Int, number: Int) -> [KeyedEdit] {
        var edits: [KeyedEdit] = []
        for index in 0..<draws.number(in: 1..<4, "edits") {
            let draws = draws.named("edit \(index)")
            let key = kind(draws, device) + "\(draws.number(in: 0..<scenario.keysCount, "key"))"
            guard !edits.contains(where: { $0.key == key }) else { continue }
            edits.append(KeyedEdit(key: key, edit: edit(key, draws, value: number * 4 + index)))
        }
        return edits
    }

    /// An edit of each of these items.
    func edits(of keys: [String], _ draws: Draws, number: Int) -> [KeyedEdit] {
        keys.enumerated().map { index, key in
            KeyedEdit(key: key, edit: edit(key, draws.named("edit \(index)"), value: number * 4 + index))
        }
    }

    private func kind(_ draws: Draws, _ device: Int) -> String {
        if scenario.hasFiles, draws.happens(perMille: 500, "album") { return Keys.album }
        if scenario.hasSamples, draws.happens(perMille: 400, "sample") { return Keys.sample }
        // An app that fetches by itself knows no lists.
        if draws.happens(perMille: 150, "list"), scenario.devices.allSatisfy({ $0.handler == nil }) {
            return Keys.list
        }
        return switch draws.number(in: 0..<10, "kind") {
        case 0..<2 where scenario.hasOthers && scenario.devices[device].handler != nil: Keys.other
        case 2..<4: Keys.note
        default: Keys.item
        }
    }

    private func edit(_ key: String, _ draws: Draws, value: Int) -> Edit {
        switch draws.number(in: 0..<8, "edit") {
        case 0: .delete
        case 1: .replace(value: value)
        default:
            .change(
                fields: fields(key, draws), value: value,
                clears: draws.number(in: 0..<10, "clears") == 0)
        }
    }

    private func fields(_ key: String, _ draws: Draws) -> [String] {
        if key.hasPrefix(Keys.album) { return albumFields(draws.named("album")) }
        if key.hasPrefix(Keys.sample) { return sampleFields(draws.named("sample")) }
        if key.hasPrefix(Keys.list) {
            return draws.happens(perMille: 800, "tags") ? [Todo.tagsField] : ["text"]
        }
        let fields = ["first", "second"].compactMap { draws.one(of: Todo.editableFields, $0) }
        return draws.happens(perMille: 200, "label") ? fields + ["label"] : fields
    }
}

extension EditDrawing {
    private func sampleFields(_ draws: Draws) -> [String] {
        let fields = ["text"] + Sample.edgeFields.map { "edge " + $0 }
        return ["first", "second", "third"].compactMap { draws.one(of: fields, $0) }
    }

    private func albumFields(_ draws: Draws) -> [String] {
        guard !draws.happens(perMille: 150, "copies") else {
            let source = "\(Keys.album)\(draws.number(in: 0..<scenario.keysCount, "key"))"
            let fields = ["from", "to"].compactMap { draws.one(of: ["photo", "scan"], $0) }
            return ["\(fields[1])<\(source).\(fields[0])"]
        }
        let fields = ["text", "photo", "photo", "scan", "scan", "pages"]
        return ["first", "second"].compactMap { draws.one(of: fields, $0) }
    }
}

/// Draws the steps of a run.
private struct StepDrawing {
    private let scenario: Scenario
    private let draws: Draws
    private let editing: EditDrawing

    init(_ scenario: Scenario, _ draws: Draws) {
        self.scenario = scenario
        self.draws = draws
        editing = EditDrawing(scenario: scenario)
    }

    func steps(_ count: Int) -> [Step] {
        var steps: [Step] = []
        var now: Int64 = 0
        for number in 1...count {
            let draws = draws.named("step \(number)")
            now += Int64(gapMilliseconds(draws))
            for action in serviceActions(draws) {
                steps.append(Step(id: steps.count, atMilliseconds: now, device: nil, action: action))
            }
            let device = draws.number(in: 0..<scenario.devices.count, "device")
            for action in deviceActions(draws, device, number) {
                steps.append(Step(id: steps.count, atMilliseconds: now, device: device, action: action))
            }
        }
        return steps
    }

    private func gapMilliseconds(_ draws: Draws) -> Int {
        switch draws.number(in: 0..<10, "gap") {
        case 0..<3: draws.number(in: 0..<20, "milliseconds")
        case 9: draws.number(in: 0..<60_000, "milliseconds")
        default: draws.number(in: 0..<2_000, "milliseconds")
        }
    }

    private func happens(_ fault: Fault, _ draws: Draws) -> Bool {
        draws.happens(perMille: scenario.rates[fault, default: 0], fault.rawValue)
    }

    private func milliseconds(_ draws: Draws, _ fault: Fault, _ max: Int = 30_000) -> Int64 {
        Int64(draws.named(fault.rawValue).number(in: 100..<max, "milliseconds"))
    }

    private func serviceActions(_ draws: Draws) -> [Action] {
        var actions: [Action] = []
        for fault in Fault.ofServices where happens(fault, draws) {
            let mine = draws.named(fault.rawValue)
            switch fault {
            case .serviceRestart: actions.append(.restart)
            case .serviceKill, .servicePowerLoss:
                actions.append(
                    .kill(
                        atChange: mine.number(in: 1..<20, "change"), losesPower: fault == .servicePowerLoss))
            case .serviceDiskFull:
                actions.append(
                    .diskFull(
                        milliseconds: milliseconds(draws, fault),
                        bytesLeft: mine.number(in: 0..<40_000, "bytes"))
                )
            case .throttling: actions.append(.throttle(milliseconds: milliseconds(draws, fault)))
            case .expiredTokens: actions.append(.pruneTombstones)
            case .resetZone: actions.append(.resetZones)
            case .deletedZone: actions.append(.deleteZone)
            default: actions.append(.restoreBackup)
            }
        }
        if scenario.hasFiles, draws.happens(perMille: 60, "collects files") { actions.append(.collectFiles) }
        let keepsBackups = scenario.rates[.restoredBackup, default: 0] > 0
        if keepsBackups, draws.number(in: 0..<10, "back up") == 0 { actions.append(.backUp) }
        return actions
    }

    private func deviceActions(_ draws: Draws, _ device: Int, _ number: Int) -> [Action] {
        var actions = Fault.ofDevices.filter { happens($0, draws) }.map { fault in
            action(fault, draws.named(fault.rawValue), draws, device, number)
        }
        if scenario.hasFiles { actions += fileActions(draws.named("files")) }
        switch draws.number(in: 0..<10, "action") {
        case 0..<5:
            actions.append(.edit(editing.edits(draws.named("edits"), device: device, number: number * 4)))
        case 5..<9: actions.append(.sync)
        default: break
        }
        return actions
    }

    private func fileActions(_ draws: Draws) -> [Action] {
        var actions: [Action] = []
        if draws.happens(perMille: 80, "fetches") { actions.append(.fetchFiles) }
        if draws.happens(perMille: 50, "a day") {
            actions.append(.aDayPasses(emptiesCache: draws.number(in: 0..<2, "cache") == 0))
        }
        return actions
    }

    private func action(_ fault: Fault, _ mine: Draws, _ draws: Draws, _ device: Int, _ number: Int) -> Action
    {
        switch fault {
        case .deviceKill, .devicePowerLoss:
            .kill(atChange: mine.number(in: 1..<30, "change"), losesPower: fault == .devicePowerLoss)
        case .stall: .stall(milliseconds: milliseconds(draws, fault))
        case .partition: .partition(milliseconds: milliseconds(draws, fault))
        case .diskFull:
            .diskFull(
                milliseconds: milliseconds(draws, fault), bytesLeft: mine.number(in: 0..<40_000, "bytes"))
        case .failingSyncs: .failingSyncs(milliseconds: milliseconds(draws, fault, 5_000))
        case .clockStep:
            .clockStep(milliseconds: Int64(mine.number(in: -3_600_000..<3_600_000, "milliseconds")))
        case .upgrade: .install(version: 2)
        case .downgrade: .install(version: 1)
        case .background: .background(milliseconds: milliseconds(draws, fault))
        case .otherProcess: .otherProcess(editing.edits(mine, device: device, number: number * 4 + 1))
        case .accountSwitch: .signIn(user: mine.number(in: 0..<2, "user"))
        default: .restart
        }
    }
}
