import CloudWire
import YapCloudKit

/// The harness's own account of what was committed on the devices and what became of it. It knows nothing of queues,
/// tags and tokens: it is told each commit, it reads the service's store after each request, and it is told what the
/// devices' merge logs say.
package struct Ledger: Sendable {
    package init() {}

    /// A value of a field of a record. The harness writes no value twice, so a value names the edit that it came from.
    package struct Value: Hashable, Sendable {
        package let record: String
        package let field: String
        /// Spelled out: two normal forms of a text are two values.
        package let value: String

        package init(record: String, field: String, value: String) {
            (self.record, self.field, self.value) = (record, field, value.spelledOut)
        }
    }

    /// A value committed on a device, or the deletion of a record.
    package struct Commit: Sendable {
        package let device: Int
        package let value: Value
        /// How things stood when it was committed.
        fileprivate let mark: Mark
        /// Whether the device had no such record before.
        var isInsert = false
        /// Whether an earlier version of the app, which doesn't sync the field, set it: what it was changed from
        /// isn't known.
        var isOfNewField = false
        /// Whether it stands for the record's being made again here, after another device had deleted it or the server
        /// had lost it.
        var isMadeAgain = false
        /// False for a commit that failed: it may be found in the file when that is opened again.
        var isCertain = true

        package var isDeletion: Bool { value.field == Ledger.deletion }
        /// Whether it adds a tag.
        fileprivate var isTag: Bool { value.field == Todo.tagField(value.value) }
    }

    /// Stands for the field of a deletion.
    package static let deletion = "(deletion)"
    /// Stands for the value of a field that was cleared: it names no edit, so nobody can ask where it is.
    package static let cleared = "(cleared)"

    package private(set) var commits = [Commit]()
    /// How many rows the service has written: acknowledged writes, replies lost or not.
    package private(set) var historyCount = 0
    private var history = Set<Value>()
    private var lastDeletion = [String: Int]()
    private var liveRecords = Set<String>()
    private var drops = [Int: [Value: String]]()
    /// By device and record: how many commits there were when its log said that another device had deleted the record.
    private var goneBefore = [Int: [String: Int]]()
    private var wasServerRestored = false
    private var authors = [Value: Int]()
    /// What a device brought back that another one had set: nobody's own any more.
    private var broughtBack = Set<Value>()
    /// What its author knows no longer, and may meet as another device's.
    private var forgotten = Set<Value>()
    /// Tags that the device which added them gave up for a good reason.
    private var tagsGivenUp = Set<Value>()
    /// Entries of merge logs that were judged: a device may tell one again when it starts.
    private var judged = Set<JudgedEntry>()
    /// By device and record: when the server first had the newest of what the device set.
    private var lastWrites = [Int: [String: Int]]()
    package private(set) var overwrites = OverwriteWatch()
    /// Whether the service has a request of a device that no longer waits for its answer.
    package var servesLate = false
    /// Entries of merge logs that can't be true.
    package private(set) var lies = [String]()

    private struct JudgedEntry: Hashable {
        let device: Int
        let id: Int64
        let record: String
        let field: String
        let rule: CloudMergeLogEntry.Rule
        let dropped: String
        let kept: String?
    }

    /// How things stood at a moment, for a commit that is noted later than it is made.
    package struct Mark: Sendable {
        /// Whether the server had the record then.
        let wasOnServer: Bool
        /// How much of the history the device could know: what it had fetched, or written itself of the record.
        let knownHistoryCount: Int
        /// How many commits the ledger had then, the same for all fields of an insert. Nil where each field is noted by
        /// itself.
        var commitsCount: Int?
    }

    /// - Parameter fetchedHistoryCount: How much of the history the device has fetched; nil where nobody counts.
    package func mark(record: String, device: Int? = nil, fetchedHistoryCount: Int? = nil) -> Mark {
        let written = device.flatMap { lastWrites[$0]?[record] } ?? 0
        return Mark(
            wasOnServer: liveRecords.contains(record),
            knownHistoryCount: fetchedHistoryCount.map { max($0, written) } ?? historyCount,
            commitsCount: commits.count)
    }

    /// How things stand now, for a field that is noted by itself.
    private func markNow(_ record: String) -> Mark {
        Mark(wasOnServer: liveRecords.contains(record), knownHistoryCount: historyCount)
    }

    /// - Parameter before: What the row had in its place; nil for nothing.
    package mutating func committed(
        device: Int, _ value: Value, isInsert: Bool = false, before: String? = nil, mark: Mark? = nil
    ) {
        authors[value] = device
        overwrites.committed(device: device, value, before: before, isInsert: isInsert)
        if value.field == Ledger.deletion { overwrites.committedDeletion(of: value.record) }
        if isInsert { gaveUpForgottenTags(of: value.record, device: device) }
        commits.append(
            Commit(
                device: device, value: value, mark: mark ?? markNow(value.record),
                isInsert: isInsert))
    }

    /// The device fetches everything again: its token was refused, or it has another version of the app.
    package mutating func startedOver(device: Int) {
        overwrites.startedOver(device: device)
    }

    /// The device is idle, and nothing waits in its file.
    package mutating func cameToRest(device: Int) {
        overwrites.cameToRest(device: device)
    }

    /// The person cleared a field, or deleted its row: what is set next was set with this value seen.
    package mutating func removed(device: Int, _ value: Value) {
        overwrites.removed(device: device, value)
    }

    /// A commit that failed, by a fault of the disk: SQLite may find it in its log when the file is opened again.
    package mutating func mayHaveCommitted(device: Int, _ value: Value, isInsert: Bool = false) {
        authors[value] = device
        if value.field == Ledger.deletion { overwrites.committedDeletion(of: value.record) }
        // What the row had counts as removed before: `noteFailed` says so.
        overwrites.committed(device: device, value, before: nil, isInsert: isInsert, isCertain: false)
        var commit = Commit(device: device, value: value, mark: mark(record: value.record))
        commit.isCertain = false
        commits.append(commit)
    }

    package mutating func serverHas(record: String, fields: [(field: String, value: String)]) {
        historyCount += 1
        liveRecords.insert(record)
        // Tags are a field of their own each: they are added and taken out, and never replaced.
        let replaceable = fields.filter { !$0.field.hasPrefix(Todo.tagsField) }
        overwrites.serverHas(
            record: record, replaceable.map { Value(record: record, field: $0.field, value: $0.value) },
            isLate: servesLate)
        for (field, value) in fields {
            let value = Value(record: record, field: field, value: value)
            guard history.insert(value).inserted, !forgotten.contains(value), let author = authors[value]
            else { continue }
            lastWrites[author, default: [:]][record] = historyCount
        }
    }

    package mutating func serverDeleted(record: String) {
        historyCount += 1
        liveRecords.remove(record)
        overwrites.serverDeleted(record: record)
        lastDeletion[record] = historyCount
    }

    /// The server went back to an earlier version. From then on an older value may stand for good reason, and a device
    /// that still has what was deleted brings it back.
    package mutating func serverWasRestored() {
        wasServerRestored = true
        overwrites.serverWasRestored()
    }

    /// A value of a field that the next version of the app syncs.
    package mutating func nowSyncs(device: Int, _ value: Value) {
        // A value that another device set, and may have given up since, comes back from this one.
        overwrites.unsynced(device: device, value)
        let author = authors[value] ?? device
        authors[value] = author
        if author == device { forgotten.remove(value) } else { broughtBack.insert(value) }
        var commit = Commit(device: device, value: value, mark: mark(record: value.record))
        commit.isOfNewField = true
        commits.append(commit)
    }

    /// A version of the app that doesn't sync a field changed it, or took it away with its object.
    package mutating func changedUnsynced(device: Int, record: String, field: String) {
        nowSyncs(device: device, Value(record: record, field: field, value: Ledger.cleared))
    }

    /// An earlier version of the app made an object anew, without a field that its type lacks, and without tags.
    package mutating func tookAway(device: Int, record: String, field: String) {
        let tags = commits.filter { $0.device == device && $0.value.record == record && $0.isTag }
            .map(\.value.field)
        for field in [field] + tags { changedUnsynced(device: device, record: record, field: field) }
    }

    /// The device's rows went with their user, who may come back: until they are fetched it knows nothing of what it
    /// wrote itself.
    package mutating func deviceWasEmptied(_ device: Int) {
        overwrites.emptied(device: device)
        for (value, author) in authors where author == device { forgotten.insert(value) }
    }

    /// An earlier version of the app doesn't have the field: a row that it makes lacks what the device wrote itself.
    package mutating func deviceForgot(_ device: Int, field: String) {
        for (value, author) in authors where author == device && value.field == field {
            forgotten.insert(value)
        }
    }

    /// Whether a device committed the value, or may have.
    func isKnown(_ value: Value) -> Bool { authors[value] != nil }

    /// A device may send a value again that another one set.
    mutating func mayBringBack(device: Int, _ value: Value) {
        if let author = authors[value], author != device { broughtBack.insert(value) }
    }

    /// The device's merge log says that it gave this value up.
    package mutating func dropped(device: Int, _ value: Value, rule: String) {
        drops[device, default: [:]][value] = rule
    }

    /// The device's merge log says that a later value of its own took the place of a value.
    ///
    /// - Parameters:
    ///   - isKeptKnown: Whether it says which. A version that doesn't know the field doesn't know the later value,
    ///     which may be the same one: what a row held was queued again by an upgrade.
    ///   - isByEarlierVersion: Whether it is such a version that says so: the upgrade may be still to come.
    mutating func superseded(
        device: Int, _ dropped: Value, isKeptKnown: Bool, isByEarlierVersion: Bool = false
    ) {
        let isOfDropped = { (commit: Commit) in commit.device == device && commit.value == dropped }
        if isByEarlierVersion, !isKeptKnown, commits.first(where: isOfDropped)?.isOfNewField == true {
            return
        }
        let place =
            isKeptKnown ? commits.lastIndex(where: isOfDropped) : commits.firstIndex(where: isOfDropped)
        let isLater = commits[(place ?? commits.endIndex)...].dropFirst().contains { commit in
            commit.device == device && commit.value.record == dropped.record
                && (commit.value.field == dropped.field || commit.isDeletion || commit.isInsert)
        }
        if place != nil, !isLater {
            lies.append("device \(device) says that it replaced \(dropped), and never did")
        }
    }

    /// The device's merge log says that a value of another device took the place of a value of its own. It may be an
    /// older value of the same device only where another one made a deleted record again, with all it knew of it.
    package mutating func remoteWon(device: Int, _ dropped: Value, by kept: Value) {
        let place = commits.lastIndex { $0.device == device && $0.value == dropped }
        // What it was changed from isn't known, nor of what was set on top of it before the server had any of it.
        let isOfNewField = commits.prefix(place.map { $0 + 1 } ?? 0).reversed().filter { commit in
            commit.device == device && commit.value.record == dropped.record
                && commit.value.field == dropped.field
        }.prefix { $0.value == dropped || !history.contains($0.value) }.contains(where: \.isOfNewField)
        let isOwn = authors[kept] == device && !broughtBack.contains(kept) && !forgotten.contains(kept)
        if isOwn, lastDeletion[kept.record] == nil, !wasServerRestored, !isOfNewField {
            lies.append("device \(device) gave up \(dropped) for \(kept.value), which is its own")
        }
    }

    /// Whether the device committed the value that an entry speaks of, under this name of its record.
    func isOwn(device: Int, _ entry: CloudMergeLogEntry, record: String) -> Bool {
        let tags = entry.field == Todo.tagsField ? Set(Self.tags(entry.replacedValue)) : nil
        return commits.contains { commit in
            guard commit.device == device, commit.value.record == record else { return false }
            if let tags { return commit.isTag && tags.contains(commit.value.value) }
            return commit.value.field == entry.field ?? Ledger.deletion
                && (entry.ledgerReplaced == nil || commit.value.value == entry.ledgerReplaced?.spelledOut)
        }
    }

    /// The device's merge log has this entry.
    /// - Parameter isByEarlierVersion: Whether an earlier version of the app tells it.
    package mutating func merged(
        device: Int, _ entry: CloudMergeLogEntry, record: String, isByEarlierVersion: Bool = false
    ) {
        judgeKind(of: entry, device: device)
        if let field = entry.field, let kept = entry.ledgerKept,
            [.localKept, .serverWasReset].contains(entry.rule)
        {
            overwrites.kept(Value(record: record, field: field, value: kept))
        }
        if let field = entry.field {
            guard entry.rule != .localKept else { return }
            if entry.rule == .deletedRemotely {
                // What the device has deleted here is gone already, whatever another device made of the name since.
                goneBefore[device, default: [:]][record] = commits.count
            }
            guard field != Todo.tagsField else {
                return droppedTags(device: device, record, entry, isByEarlierVersion: isByEarlierVersion)
            }
            guard let text = entry.ledgerReplaced else {
                return droppedUnseen(device: device, record, field, entry)
            }
            let value = Value(record: record, field: field, value: text)
            let entryToJudge = JudgedEntry(
                device: device, id: entry.id, record: record, field: field, rule: entry.rule, dropped: text,
                kept: entry.ledgerKept)
            if judged.insert(entryToJudge).inserted {
                judge(entry, device: device, value, isByEarlierVersion: isByEarlierVersion)
            }
            dropped(device: device, value, rule: entry.rule.rawValue)
        } else if entry.rule == .editBeatDeletion || entry.rule == .serverWasReset {
            madeAgain(device: device, record: record)
        } else if entry.rule == .deletionDropped {
            let value = Value(record: record, field: Ledger.deletion, value: "")
            dropped(device: device, value, rule: entry.rule.rawValue)
        }
    }

    /// The device sends a record as a new one, since the server lost it or another device deleted it.
    package mutating func madeAgain(device: Int, record: String) {
        overwrites.madeAgain(record: record)
        var commit = Commit(
            device: device, value: Value(record: record, field: "(made again)", value: Ledger.cleared),
            mark: mark(record: record))
        commit.isMadeAgain = true
        commits.append(commit)
    }

    private mutating func judge(
        _ entry: CloudMergeLogEntry, device: Int, _ dropped: Value, isByEarlierVersion: Bool
    ) {
        if entry.rule == .superseded || entry.kind == .superseded {
            superseded(
                device: device, dropped, isKeptKnown: entry.kept != nil,
                isByEarlierVersion: isByEarlierVersion)
        }
        if entry.rule == .remoteWon, let kept = entry.ledgerKept {
            let kept = Value(record: dropped.record, field: dropped.field, value: kept)
            remoteWon(device: device, dropped, by: kept)
        }
    }

    /// What became of a value has to be what the entry says. One that isn't in the result is lost, unless this device
    /// replaced it itself, which `superseded` sees to. Tags alone have a rule that combines them.
    private mutating func judgeKind(of entry: CloudMergeLogEntry, device: Int) {
        let isOfTags = entry.field == Todo.tagsField
        let isRight =
            switch entry.kind {
            case nil: false
            case .combined: isOfTags
            case .superseded: entry.field != nil && entry.rule != .localKept && entry.rule != .merged
            case .lost: entry.rule != .superseded
            case .restored: entry.rule == .serverWasReset
            }
        if !isRight { lies.append("device \(device) says what did not become of a value: \(entry)") }
        // No value of a run is so long: what is judged here is the whole of it.
        if entry.field.map(Sample.edgeFields.contains) == true { return }
        if entry.replacedValue?.wholeLength != nil || entry.keptValue?.wholeLength != nil {
            lies.append("device \(device) cuts a value: \(entry)")
        }
    }

    /// The tags that a device gave up with its list.
    private mutating func droppedTags(
        device: Int, _ record: String, _ entry: CloudMergeLogEntry, isByEarlierVersion: Bool
    ) {
        let kept = Self.tags(entry.keptValue)
        for tag in Self.tags(entry.replacedValue) where !kept.contains(tag) {
            let value = Value(record: record, field: Todo.tagField(tag), value: tag)
            dropped(device: device, value, rule: entry.rule.rawValue)
            // Sets are merged: another device's tags are no reason to give up one's own. An earlier version can't merge
            // what it doesn't know.
            let isForGoodReason = entry.rule != .remoteWon || isByEarlierVersion
            if isForGoodReason, authors[value] == device { tagsGivenUp.insert(value) }
        }
    }

    /// The device made a list under the name of one that left it with its user. The new one has none of the tags that
    /// the device had added before, which counts as a change of the list.
    private mutating func gaveUpForgottenTags(of record: String, device: Int) {
        for commit in commits where commit.isTag && commit.value.record == record {
            if commit.device == device, forgotten.contains(commit.value) { tagsGivenUp.insert(commit.value) }
        }
    }

    private static func tags(_ value: MergeLogValue?) -> [String] {
        guard case .list(_, let tags)? = value?.value else { return [] }
        return tags.compactMap { if case .string(let tag) = $0 { tag } else { nil } }
    }

    /// The lists to which somebody added tags.
    var recordsWithTags: [String] {
        Set(commits.filter(\.isTag).map(\.value.record)).sorted()
    }

    /// The tags that were added to a list which nobody deleted or made anew, and that it has no longer.
    func tagsLost(of record: String, left: [String]) -> [String] {
        let own = commits.filter { $0.value.record == record }
        guard !wasServerRestored, !own.contains(where: \.isDeletion) else { return [] }
        let left = Set(left)
        let takenOut = Set(own.filter { $0.value.value == Ledger.cleared }.map(\.value.field))
        return own.filter { commit in
            commit.isCertain && commit.isTag && !left.contains(commit.value.value)
                && !takenOut.contains(commit.value.field) && !tagsGivenUp.contains(commit.value)
        }.map(\.value.value)
    }

    /// A value that nobody can give back any more, of a field that an earlier version of the app doesn't know: the
    /// newest of those that surely were committed.
    private mutating func droppedUnseen(
        device: Int, _ record: String, _ field: String, _ entry: CloudMergeLogEntry
    ) {
        let newest = commits.last {
            $0.device == device && $0.value.record == record && $0.value.field == field && $0.isCertain
        }
        if let newest { dropped(device: device, newest.value, rule: entry.rule.rawValue) }
    }

    /// Devices that fold what waits: of several values of a field only the last is sent, and no log says so.
    package var foldingDevices: Set<Int> = []

    /// Whether a later commit of the same device took a value's place.
    private func isReplaced(_ commit: Commit, at place: Int) -> Bool {
        let folds = foldingDevices.contains(commit.device)
        return commits[place...].dropFirst().contains { later in
            // A version that doesn't sync the field replaced a value that only the row had.
            guard folds || later.isOfNewField, later.isCertain else { return false }
            return later.device == commit.device && later.value.record == commit.value.record
                && (later.value.field == commit.value.field || later.isDeletion || later.isInsert)
        }
    }

    /// Whether a deletion is of what the device made itself and never sent, whatever another device made of that name:
    /// folded together, that is nothing.
    private func isOfUnsent(_ deletion: Commit, at place: Int) -> Bool {
        guard foldingDevices.contains(deletion.device) else { return false }
        let own = commits[..<place].reversed().filter { earlier in
            earlier.device == deletion.device && earlier.value.record == deletion.value.record
                && earlier.isCertain
        }
        // What was deleted begins with the device's newest insert of the name: of an earlier one, which another device
        // may have deleted, it says nothing.
        let changes = own.prefix { !$0.isDeletion && !$0.isInsert && !$0.isMadeAgain }
        let rest = own.dropFirst(changes.count)
        let newest = rest.first
        // An earlier insert of the name may stand right before it, with other fields: its row left with its user.
        var fields: Set<String> = []
        let inserts =
            newest?.isMadeAgain == true
            ? rest.prefix(1)
            : rest.prefix { earlier in
                (earlier.isInsert || earlier.isMadeAgain)
                    && earlier.mark.commitsCount == newest?.mark.commitsCount
                    && fields.insert(earlier.value.field).inserted
            }
        return !inserts.isEmpty && !(changes + inserts).contains { history.contains($0.value) }
    }

    /// What was committed and is neither in the server's history nor in the merge log of its device.
    package var unaccounted: [Commit] {
        commits.enumerated().filter { place, commit in
            if commit.value.value == Ledger.cleared || !commit.isCertain { return false }
            if drops[commit.device]?[commit.value] != nil { return false }
            if isReplaced(commit, at: place) { return false }
            guard commit.isDeletion else { return !history.contains(commit.value) }
            if place < goneBefore[commit.device]?[commit.value.record] ?? 0 { return false }
            if isOfUnsent(commit, at: place) { return false }
            // What the server did not have, or no longer, is deleted already.
            // So is what the device deleted before it knew that another one had.
            return commit.mark.wasOnServer && !wasServerRestored
                && lastDeletion[commit.value.record, default: 0] <= commit.mark.knownHistoryCount
        }.map(\.element)
    }

    /// How many values the merge logs account for, by rule.
    package var dropsByRule: [(rule: String, count: Int)] {
        let rules = commits.filter { $0.isDeletion || !history.contains($0.value) }
            .compactMap { drops[$0.device]?[$0.value] }
        return Dictionary(grouping: rules) { $0 }.map { ($0.key, $0.value.count) }.sorted {
            $0.rule < $1.rule
        }
    }
}
