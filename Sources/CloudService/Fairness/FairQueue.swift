import System

/// A queue that serves its owners in turn, so that an owner with many elements barely delays the others.
///
/// Each owner in turn provides one element. After a large element, the owner skips turns until its cost is
/// covered.
package struct FairQueue<Element> {
    /// The cost in bytes that one turn covers.
    package static var turnBytes: Int { 16 << 10 }

    private struct Line {
        var elements = FirstInFirstOut<(element: Element, bytes: Int)>()
        /// Cost of the served elements that isn't covered by turns yet.
        var debt = 0
    }

    private var lines: [String: Line] = [:]
    /// Uncovered cost of owners without pending elements. Cleared when the queue is empty.
    private var debts: [String: Int] = [:]
    private static var debtsMax: Int { 10_000 }
    /// The maximum debt, which limits the turns that an owner skips.
    private static var debtMax: Int { 500 * turnBytes }
    private var turns = FirstInFirstOut<String>()
    package private(set) var count = 0

    /// Makes an empty queue.
    package init() {}

    /// Number of owners with pending elements.
    package var ownersCount: Int { lines.count }

    /// Returns true if another owner has pending elements.
    func hasOthers(than owner: String) -> Bool { lines.count > (lines[owner] == nil ? 0 : 1) }

    package mutating func append(_ element: Element, of owner: String, bytes: Int) {
        if lines[owner] == nil {
            turns.append(owner)
            lines[owner] = Line(debt: debts.removeValue(forKey: owner) ?? 0)
        }
        lines[owner]?.elements.append((element, bytes))
        count += 1
    }

    /// Adds to an owner's debt, since its elements cost more than estimated.
    package mutating func charge(_ owner: String, bytes: Int) {
        let more = bytes - Self.turnBytes
        guard more > 0 else { return }
        if let line = lines[owner] {
            lines[owner]?.debt = min(line.debt + more, Self.debtMax)
        } else if !lines.isEmpty {
            remember(min(debts[owner, default: 0] + more, Self.debtMax), of: owner)
        }
    }

    private mutating func remember(_ debt: Int, of owner: String) {
        if debts.count >= Self.debtsMax { debts = [:] }
        debts[owner] = debt
    }

    /// The next element, of the first owner in turn for which `mayHave` returns true.
    package mutating func popFirst(where mayHave: (String) -> Bool = { _ in true }) -> Element? {
        var passedCount = 0
        // Removed from the dictionary during the change, to avoid a copy of the whole line.
        while let owner = turns.popFirst(), var line = lines.removeValue(forKey: owner) {
            let isAllowed = mayHave(owner)
            guard isAllowed, line.debt <= 0 else {
                if isAllowed { line.debt -= Self.turnBytes }
                lines[owner] = line
                turns.append(owner)
                passedCount += 1
                guard passedCount == lines.count else { continue }
                guard skipRounds(where: mayHave) else { return nil }
                passedCount = 0
                continue
            }
            guard let (element, bytes) = line.elements.popFirst() else { continue }
            count -= 1
            line.debt = max(0, line.debt) + max(0, bytes - Self.turnBytes)
            if line.elements.count > 0 {
                lines[owner] = line
                turns.append(owner)
            } else if line.debt > 0, !lines.isEmpty {
                remember(line.debt, of: owner)
            }
            if lines.isEmpty { debts = [:] }
            return element
        }
        return nil
    }

    /// Skips as many rounds at once as no owner could provide an element in. Returns false if `mayHave`
    /// returns true for no owner.
    private mutating func skipRounds(where mayHave: (String) -> Bool) -> Bool {
        let allowed = lines.keys.filter(mayHave)
        guard let least = allowed.compactMap({ lines[$0]?.debt }).min() else { return false }
        let roundsCount = max(0, (least + Self.turnBytes - 1) / Self.turnBytes)
        for owner in allowed { lines[owner]?.debt -= roundsCount * Self.turnBytes }
        return true
    }

    /// Puts elements back before the others of their owners, in their order. Their owners are served first.
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

/// The users of recently accepted requests, by token. An unread request is queued for its token's user, or for its
/// address if the token is unknown.
struct KnownCallers {
    static let entriesMax = 20_000

    private var owners: [Substring: String] = [:]

    /// Returns the owner of the queue for a request.
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

    /// Returns the part of a token that stays the same when it is replaced.
    private static func lasting(_ token: String) -> Substring {
        token[..<(token.utf8.firstIndex(of: UInt8(ascii: "-")) ?? token.endIndex)]
    }
}
