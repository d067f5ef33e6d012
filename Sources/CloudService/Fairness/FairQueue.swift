/// What waits, handed out in turn among those whom it belongs to: who brings much waits for his own, and the others
/// hardly notice.
///
/// Each in turn gives one element; who gave a large one lets turns pass until it is paid for.
struct FairQueue<Element> {
    /// What a turn pays for, in bytes.
    static var turnBytes: Int { 16 << 10 }

    private struct Line {
        var elements = FirstInFirstOut<(element: Element, bytes: Int)>()
        /// What the elements that were handed out cost more than their turns paid.
        var debt = 0
    }

    private var lines: [String: Line] = [:]
    private var turns = FirstInFirstOut<String>()
    private(set) var count = 0

    /// How many have something here.
    var ownersCount: Int { lines.count }

    mutating func append(_ element: Element, of owner: String, bytes: Int) {
        if lines[owner] == nil { turns.append(owner) }
        lines[owner, default: Line()].elements.append((element, bytes))
        count += 1
    }

    /// The next element, of whoever's turn it is.
    mutating func popFirst() -> Element? {
        // Out of the dictionary while it changes: else each change would copy the whole line.
        while let owner = turns.popFirst(), var line = lines.removeValue(forKey: owner) {
            guard line.debt <= 0 || lines.isEmpty else {
                line.debt -= Self.turnBytes
                lines[owner] = line
                turns.append(owner)
                continue
            }
            guard let (element, bytes) = line.elements.popFirst() else { continue }
            count -= 1
            line.debt = max(0, line.debt) + max(0, bytes - Self.turnBytes)
            if line.elements.count > 0 {
                lines[owner] = line
                turns.append(owner)
            }
            return element
        }
        return nil
    }

    /// Puts elements before the others of their owners, in their order; their owners come first.
    mutating func putBack(_ returned: [(element: Element, owner: String, bytes: Int)]) {
        var owners: [String] = []
        var byOwner: [String: [(element: Element, bytes: Int)]] = [:]
        for (element, owner, bytes) in returned {
            if byOwner[owner] == nil { owners.append(owner) }
            byOwner[owner, default: []].append((element, bytes))
        }
        for owner in owners {
            lines[owner, default: Line()].elements.putBack(byOwner[owner] ?? [])
        }
        let rest = Set(owners)
        var order: [String] = []
        while let owner = turns.popFirst() {
            if !rest.contains(owner) { order.append(owner) }
        }
        for owner in owners + order { turns.append(owner) }
        count += returned.count
    }
}

/// Whose requests have been let in lately, by what they show: so that a request that has not been looked at waits in
/// its user's line, and one that shows what nobody knows in the line of its address.
struct KnownCallers {
    static let entriesMax = 20_000

    private var owners: [Substring: String] = [:]

    /// The line in which a request waits.
    func owner(of token: String?, peer: String?) -> String {
        if let token, let owner = owners[Self.lasting(token)] { return owner }
        return "address \(peer ?? "")"
    }

    mutating func learn(_ token: String, of user: String) {
        let token = Self.lasting(token)
        guard owners[token] == nil else { return }
        if owners.count >= Self.entriesMax { owners = [:] }
        owners[token] = Self.owner(user)
    }

    static func owner(_ user: String) -> String { "user \(user)" }

    /// The part of a token that stays when it is replaced.
    private static func lasting(_ token: String) -> Substring {
        token[..<(token.utf8.firstIndex(of: UInt8(ascii: "-")) ?? token.endIndex)]
    }
}
