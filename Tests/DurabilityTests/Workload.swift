/// What the tests compare: values by key, by collection (or zone). No collection is empty.
typealias State = [String: [String: String]]

/// One change of a commit.
enum Change: Sendable {
    case set(String, String, String)
    case remove(String, String)
    case clear(String)

    func apply(to state: inout State) {
        switch self {
        case .set(let space, let key, let value): state[space, default: [:]][key] = value
        case .remove(let space, let key):
            state[space]?[key] = nil
            if state[space]?.isEmpty == true { state[space] = nil }
        case .clear(let space): state[space] = nil
        }
    }
}

/// One step of a workload.
enum Step: Sendable {
    /// Changes that are committed together.
    case commit([Change])
    /// Changes after which the transaction's closure throws: none of them may ever be seen.
    case abandon([Change])
    /// Closes the file and opens it again.
    case reopen
}

/// A script of steps, the same at each run.
struct Workload: Sendable, CustomStringConvertible {
    let name: String
    let steps: [Step]

    var description: String { name }

    static let all = [smallRows, largeRows, manyOpenings]

    /// Commits of a few small rows in two collections.
    static let smallRows = Workload(
        name: "small rows",
        steps: (1...12).flatMap { number -> [Step] in
            let changes = (0..<4).map { member in
                Change.set(member % 2 == 0 ? "a" : "b", "\(number)-\(member)", "value \(number)")
            }
            return number % 4 == 0
                ? [.commit(changes), .abandon([.clear("a")] + changes)] : [.commit(changes)]
        })

    /// Values of many pages, which are changed, removed and cleared.
    static let largeRows = Workload(
        name: "large rows",
        steps: (1...8).map { number -> Step in
            let value = String(repeating: "\(number)", count: 3000 * number)
            var changes: [Change] = [.set("a", "same", value), .set("b", "\(number)", value)]
            if number > 2 { changes.append(.remove("b", "\(number - 2)")) }
            if number == 5 { changes.insert(.clear("b"), at: 0) }
            return number == 6 ? .abandon(changes) : .commit(changes)
        })

    /// A file that is closed and opened again after each few commits.
    static let manyOpenings = Workload(
        name: "many openings",
        steps: (1...4).flatMap { round -> [Step] in
            let commits = (0..<3).map { number in
                Step.commit([
                    .set("a", "\(round)-\(number)", String(repeating: "x", count: 1000)),
                    .set("b", "last", "\(round)-\(number)"),
                    .set("c", "\(round)", "\(number)"),
                ])
            }
            return commits + [.reopen]
        })
}

/// In words where `found` isn't `expected`; `nil` when they are equal.
func difference(_ found: State, from expected: State) -> String? {
    if found == expected { return nil }
    var lines: [String] = []
    for space in Set(found.keys).union(expected.keys).sorted() {
        let left = found[space] ?? [:]
        let right = expected[space] ?? [:]
        for key in Set(left.keys).union(right.keys).sorted() where left[key] != right[key] {
            let (value, wanted) = (
                left[key].map { $0.prefix(12) } ?? "absent", right[key].map { $0.prefix(12) } ?? "absent"
            )
            lines.append("\(space)/\(key) is \(value), not \(wanted)")
        }
    }
    return lines.prefix(5).joined(separator: "; ")
}
