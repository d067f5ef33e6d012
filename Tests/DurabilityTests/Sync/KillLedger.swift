import CloudStore
import CloudWire
import SyncDevices

/// What a device committed before it was killed, and what the server was told, item by item.
///
/// Each change of an item has a number that grows from commit to commit, so what was lost shows as a number that no
/// later one replaced, and what was sent again with another outcome as a number that went back.
struct KillLedger {
    /// An item as the last commit left it.
    enum Fate: Equatable {
        case set(Int)
        case deleted(Int)

        /// The number that the item's row has; nil when there is none.
        var count: Int? {
            if case .set(let count) = self { count } else { nil }
        }
    }

    private(set) var fates: [String: Fate] = [:]
    private(set) var committedCount = 0
    /// Numbers that were replaced by a later commit before they were sent.
    private(set) var replacedCount = 0
    private var committed: [String: Set<Int>] = [:]
    private var seen: [String: [Int]] = [:]
    private var current: [String: Int] = [:]
    private(set) var failures: [String] = []

    // MARK: The device

    /// What a killed device said. The last commit that it tried and didn't report is in the file or isn't.
    /// - Parameter counts: The numbers of the rows in its file.
    mutating func lived(_ lines: [Substring], counts: [String: Int]) {
        var tried: [String: Fate]?
        for line in lines {
            let words = line.split(separator: " ")
            guard let verb = words.first, verb == "try" || verb == "done" else { continue }
            let fates = Self.fates(words.dropFirst())
            if verb == "done" {
                tried = nil
                commit(fates)
            } else {
                tried = fates
            }
        }
        let isThere = tried.map { isInFile(fates.merging($0) { $1 }, counts) } ?? false
        if let tried, isThere { commit(tried) }
        guard !isInFile(fates, counts) else { return }
        for (key, fate) in fates.sorted(by: { $0.key < $1.key }) where counts[key] != fate.count {
            failures.append("\(key) is \(counts[key].map(String.init) ?? "absent") in the file, not \(fate)")
        }
    }

    private func isInFile(_ fates: [String: Fate], _ counts: [String: Int]) -> Bool {
        fates.allSatisfy { counts[$0.key] == $0.value.count }
    }

    private mutating func commit(_ new: [String: Fate]) {
        for (key, fate) in new {
            fates[key] = fate
            committedCount += 1
            if let count = fate.count { committed[key, default: []].insert(count) }
        }
    }

    private static func fates(_ words: ArraySlice<Substring>) -> [String: Fate] {
        var fates: [String: Fate] = [:]
        for word in words {
            for (sign, make) in [("=", Fate.set), ("-", Fate.deleted)] {
                let parts = word.split(separator: Character(sign))
                if parts.count == 2, let count = Int(parts[1]) { fates[String(parts[0])] = make(count) }
            }
        }
        return fates
    }

    // MARK: The server

    /// The server wrote a record.
    mutating func wrote(_ row: StoredRecord) {
        let key = row.key.recordName
        guard !row.isDeleted else {
            current[key] = nil
            return
        }
        guard let fields = try? FieldsBinary.decode(row.fields),
            case .int64(let number)? = fields["count"]?.value
        else { return }
        let count = Int(number)
        guard current[key] != count else { return }
        current[key] = count
        if let last = seen[key]?.last, last >= count {
            failures.append("\(key): the server got \(count) after \(last)")
        }
        seen[key, default: []].append(count)
    }

    // MARK: The end of a round

    /// Everything is sent: what does the server lack, and what has it that was never committed?
    mutating func settle() {
        for (key, numbers) in seen.sorted(by: { $0.key < $1.key }) {
            let strange = Set(numbers).subtracting(committed[key] ?? [])
            if !strange.isEmpty { failures.append("\(key): never committed, and sent: \(strange.sorted())") }
        }
        for (key, fate) in fates.sorted(by: { $0.key < $1.key }) where current[key] != fate.count {
            failures.append(
                "\(key) on the server is \(current[key].map(String.init) ?? "absent"), not \(fate)")
        }
        replacedCount = committed.reduce(0) { $0 + $1.value.subtracting(seen[$1.key] ?? []).count }
    }
}
