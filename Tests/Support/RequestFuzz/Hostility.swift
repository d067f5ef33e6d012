/// Puts hostile values into a body that was right.
struct Hostility {
    let draw: Draw
    let values: HostileValues
    /// How many items a request may have, for batches at that limit and over it.
    private static let itemCounts = [0, 10, 11, 32, 33, 199, 200, 201, 399, 400, 401, 1_000, 1_001, 3_000]
    private static let keys = [
        "", "x", "__proto__", "zoneID", "recordName", "recordType", "fields", "value", "type",
        "ownerRecordName",
        "zoneName", "syncToken", "continuationMarker", "desiredKeys", "resultsLimit", "atomic", "reverse",
        "zoneWide",
        "clientChangeToken", "numbersAsStrings", "parent", "share", "pluginFields", "notificationInfo",
        "userRecordName",
        "created", "modified", "deleted", "\u{0}", "\u{E9}",
    ]

    /// The body with up to three things wrong, in bytes; some are no JSON any more.
    func spoiled(_ body: JSONTree?) -> [UInt8] {
        var tree = body ?? [:]
        let crowds = draw.once(in: 8)
        if crowds { crowd(&tree) }
        for _ in 0..<draw.one(of: [crowds ? 0 : 1, 1, 1, 2, 3]) {
            tree.change(at: draw.number(0..<tree.count)) { spoil(&$0) }
        }
        var bytes = tree.bytes
        switch draw.number(0..<60) {
        case 0 where !bytes.isEmpty: bytes.removeSubrange(draw.number(0..<bytes.count)...)
        case 1 where !bytes.isEmpty: bytes[draw.number(0..<bytes.count)] = UInt8(draw.number(0..<256))
        case 2: bytes = [0xEF, 0xBB, 0xBF] + bytes
        case 3: bytes += bytes
        default: break
        }
        return bytes
    }

    /// Makes a batch of so many items out of a few, and some of their texts long: what an answer repeats adds up.
    private func crowd(_ tree: inout JSONTree) {
        if draw.once(in: 2) {
            for _ in 0..<draw.number(1..<3) {
                tree.change(at: draw.number(0..<tree.count)) { value in
                    if case .text = value { value = values.long }
                }
            }
        }
        guard case .object(var members) = tree else { return }
        for place in members.indices {
            guard case .list(let elements) = members[place].value, !elements.isEmpty else { continue }
            members[place].value = .list(repeated(elements))
        }
        tree = .object(members)
    }

    private func repeated(_ elements: [JSONTree]) -> [JSONTree] {
        let count = draw.one(of: Self.itemCounts)
        let renames = !draw.once(in: 4)
        return (0..<count).map { number in
            var element = elements[number % elements.count]
            if renames { Self.rename(&element, number) }
            return element
        }
    }

    private func spoil(_ value: inout JSONTree) {
        switch value {
        case .object(let members) where !draw.once(in: 4): value = .object(spoiled(members))
        case .list(let elements) where !draw.once(in: 4): value = .list(spoiled(elements))
        case .text(let text) where draw.once(in: 3): value = .text(values.changed(text))
        case .text where draw.once(in: 4): value = values.sealed
        case .raw(let raw) where draw.once(in: 4): value = .text(raw)
        default: value = values.one
        }
    }

    private func spoiled(_ members: [JSONTree.Member]) -> [JSONTree.Member] {
        var members = members
        let place = draw.number(0..<members.count + 1)
        guard place < members.count, !draw.once(in: 5) else {
            let key = draw.once(in: 20) ? String(repeating: "k", count: 5_000) : draw.one(of: Self.keys)
            return members + [JSONTree.Member(key: key, value: values.one)]
        }
        switch draw.number(0..<6) {
        // Required or not.
        case 0, 1: members.remove(at: place)
        case 2: members.append(members[place])
        case 3: members[place].key = draw.one(of: Self.keys)
        default: members[place].value = values.one
        }
        return members
    }

    private func spoiled(_ elements: [JSONTree]) -> [JSONTree] {
        guard !elements.isEmpty else { return [values.one] }
        switch draw.number(0..<5) {
        case 0: return []
        case 1: return elements + [draw.one(of: elements)]
        case 2: return elements + [values.one]
        default: return repeated(elements)
        }
    }

    /// Gives the item a name of its own, since two on one record are refused before anything else.
    private static func rename(_ element: inout JSONTree, _ number: Int) {
        switch element {
        case .text(let text): element = .text("\(text)\(number)")
        case .object(var members):
            for place in members.indices {
                switch (members[place].key, members[place].value) {
                case ("recordName", .text(let text)), ("subscriptionID", .text(let text)):
                    members[place].value = .text("\(text)\(number)")
                case ("record", var inner), ("subscription", var inner):
                    rename(&inner, number)
                    members[place].value = inner
                default: break
                }
            }
            element = .object(members)
        default: break
        }
    }
}
