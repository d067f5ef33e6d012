import CloudWire

/// What one client knows of its writes, for who looks afterwards what became of them.
///
/// It owns groups of records that are always written together, with one number, or deleted together. For each it knows
/// which numbers the server may have: one after an answer, more when the server died before it answered.
struct MixedLedger {
    struct Group: Hashable, Comparable {
        let isPublic: Bool
        let number: Int

        static func < (left: Group, right: Group) -> Bool {
            (left.isPublic ? 1 : 0, left.number) < (right.isPublic ? 1 : 0, right.number)
        }
    }

    /// What was written under a number.
    struct Written {
        let number: Int64
        /// A field that may not have been there before.
        let extraField: String
        /// The bytes of the first record's file.
        var file: [UInt8]?
    }

    let name: String
    /// What may be there; nil: nothing.
    private(set) var possible: [Group: Set<Int64?>] = [:]
    private(set) var written: [Int64: Written] = [:]
    /// Types that only refused batches have named.
    private(set) var refusedTypes: [String] = []
    /// The subscriptions, and whether they may be there.
    private(set) var subscriptions: [String: Set<Bool>] = [:]
    /// Records of the watched type, and whether they may be there. They are made once and never change.
    private(set) var watched: [String: Set<Bool>] = [:]
    var counts = Counts()

    struct Counts {
        var acknowledged = 0
        var refused = 0
        var unansweredThere = 0
        var unansweredAbsent = 0
    }

    init(name: String) { self.name = name }

    var groups: [Group] { possible.keys.sorted() }

    /// The groups that are surely there.
    var present: [Group] { groups.filter { possible[$0]?.contains(nil) == false } }

    /// The one number that a group can have; nil when there can be several, or it isn't there.
    func number(of group: Group) -> Int64? {
        guard let numbers = possible[group], numbers.count == 1 else { return nil }
        return numbers.first ?? nil
    }

    func names(_ group: Group) -> [String] {
        group.isPublic
            ? ["\(name)-p\(group.number)"] : (0..<3).map { "\(name)-g\(group.number)-\($0)" }
    }

    func recordType(_ group: Group) -> String {
        "\(group.isPublic ? "Public" : "Kind")_\(name)_\(group.number % 5)"
    }

    /// A write goes out.
    mutating func remember(_ write: Written) { written[write.number] = write }

    /// What a group may be after a write of `number` (nil: its deletion).
    mutating func note(_ group: Group, _ number: Int64?, isSure: Bool) {
        if isSure {
            possible[group] = [number]
            counts.acknowledged += 1
        } else {
            possible[group, default: [nil]].insert(number)
        }
    }

    mutating func note(subscription: String, isThere: Bool, isSure: Bool) {
        if isSure { counts.acknowledged += 1 }
        subscriptions[subscription] =
            isSure ? [isThere] : (subscriptions[subscription] ?? [false]).union([isThere])
    }

    mutating func note(watched name: String, isSure: Bool) {
        if isSure { counts.acknowledged += 1 }
        watched[name] = isSure ? [true] : [false, true]
    }

    mutating func noteRefused(_ recordType: String) {
        counts.refused += 1
        refusedTypes.append(recordType)
    }

    /// What was unsure is known now. Throws when it is none of what may be.
    mutating func settle(_ group: Group, found: Int64?) throws {
        let numbers = possible[group] ?? []
        guard numbers.contains(found) else {
            throw Failure("\(names(group)): \(found.map { "\($0)" } ?? "nothing"), and may be \(numbers)")
        }
        guard numbers.count > 1 else { return }
        possible[group] = [found]
        noteUnanswered(isThere: found == numbers.compactMap { $0 }.max())
    }

    mutating func settle(watched name: String, isThere: Bool) throws {
        let before = watched[name] ?? []
        guard before.contains(isThere) else { throw Failure("\(name) is \(isThere ? "" : "not ")there") }
        if before.count > 1 { noteUnanswered(isThere: isThere) }
        watched[name] = [isThere]
    }

    mutating func settle(subscription: String, isThere: Bool) throws {
        let before = subscriptions[subscription] ?? []
        guard before.contains(isThere) else {
            throw Failure("\(subscription) is \(isThere ? "" : "not ")there")
        }
        subscriptions[subscription] = [isThere]
    }

    private mutating func noteUnanswered(isThere: Bool) {
        if isThere { counts.unansweredThere += 1 } else { counts.unansweredAbsent += 1 }
    }
}
