import System

/// What a device does in a life: commits while nothing is sent, in the middle of a sync, and after it. The seed
/// decides.
package struct KillLife {
    /// Items that both devices change.
    package static let sharedKeys = ["s0", "s1", "s2"]
    /// Items that only this device changes, and deletes.
    package static let ownKeys = ["x0", "x1", "x2"]

    private let random: SeededRandomSource
    private var nextCount: Int

    /// - Parameter firstCount: The number of the first change; each change of an item has one of its own.
    package init(seed: UInt64, firstCount: Int) {
        random = SeededRandomSource(seed: seed)
        nextCount = firstCount
    }

    /// - Parameters:
    ///   - open: Opens the device's file. In the middle of the life it is closed and opened again, with changes
    ///     waiting.
    ///   - say: Hears `try` before a commit and `done` after it, with what it changes: `s0=12` and `x1-13`.
    package mutating func live(_ open: () throws -> KillDevice, _ say: (String) -> Void) throws {
        var device = try open()
        for _ in 0..<3 { try commit(on: device, say) }
        try device.sync(stepsMax: random.next(in: 2..<8))
        for _ in 0..<2 { try commit(on: device, say) }
        try device.maintain()
        try device.close()
        device = try open()
        _ = try device.syncToTheEnd()
        try commit(on: device, say)
        _ = try device.syncToTheEnd()
    }

    private mutating func commit(on device: KillDevice, _ say: (String) -> Void) throws {
        var edits: [(key: String, edit: KillDevice.Edit)] = []
        var words: [String] = []
        for _ in 0..<random.next(in: 1..<3) {
            let isShared = random.next(in: 0..<2) == 0
            let keys = isShared ? Self.sharedKeys : Self.ownKeys
            let key = keys[random.next(in: 0..<keys.count)]
            let (deletes, retexts) = (random.next(in: 0..<4) == 0, random.next(in: 0..<3) == 0)
            guard !edits.contains(where: { $0.key == key }) else { continue }
            let count = nextCount
            nextCount += 1
            if deletes, !isShared {
                edits.append((key, .delete))
                words.append("\(key)-\(count)")
            } else {
                edits.append((key, .set(count: count, text: retexts ? "ours \(count)" : nil)))
                words.append("\(key)=\(count)")
            }
        }
        let line = words.joined(separator: " ")
        say("try \(line)")
        try device.commit(edits)
        say("done \(line)")
    }
}
