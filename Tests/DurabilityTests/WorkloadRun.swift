import SQLite
import Testing

/// One run of a workload, beside a model of what must be in the file.
///
/// A commit that was not acknowledged left no trace that this process could see. If the process ends before another
/// commit comes in its place, it may yet come up when the file is opened again (its last frame was written, and only
/// the sync failed): then it must be there as a whole.
final class WorkloadRun<Store: Subject> {
    private(set) var store: Store?
    private(set) var acknowledgedCount = 0
    /// What the acknowledged commits amount to.
    private var model: State = [:]
    /// What the file held after each of them, from the empty file on.
    private var history: [State] = [[:]]
    /// Commits that failed since the last that did not.
    private var failed: [[Change]] = []
    private let path: String
    private let vfsName: String?
    private let isDurable: Bool
    private let comment: String

    init(path: String, vfsName: String?, isDurable: Bool = true, comment: String) {
        self.path = path
        self.vfsName = vfsName
        self.isDurable = isDurable
        self.comment = comment
    }

    /// Runs the steps; each that fails is passed over.
    func run(_ workload: Workload) {
        reopen()
        for step in workload.steps {
            switch step {
            case .commit(let changes): commit(changes)
            case .abandon(let changes): abandon(changes)
            case .reopen: reopen()
            }
            checkOpenStore()
        }
    }

    /// One more commit, which nothing may keep from succeeding.
    func commitWithoutFaults() {
        do {
            if store == nil { try open() }
            let changes = [Change.set("c", "after the faults", "value")]
            try store?.commit(changes, isAbandoned: false)
            acknowledge(changes)
        } catch {
            Issue.record("\(comment): a commit fails though the fault is over: \(error)")
        }
        checkOpenStore(mayFail: false)
    }

    /// Lets go of the store as a process does that ends.
    func close() {
        try? store?.close()
        store = nil
    }

    /// Checks the file through the operating system's VFS, and that what the open store reads is what is there.
    ///
    /// - Parameter mayLoseLast: Whether the last acknowledged commits may be missing: the file then holds what it held
    ///   at some earlier moment. Returns how many are missing.
    @discardableResult
    func checkFile(mayLoseLast: Bool = false) -> Int {
        checkOpenStore(mayFail: false)
        do {
            let fresh = try Store(path: path, vfsName: nil, isDurable: true)
            let found = try fresh.state()
            settle(found)
            var lostCount = 0
            if mayLoseLast, let moment = history.lastIndex(of: found) {
                lostCount = history.count - 1 - moment
            } else if let words = difference(found, from: model) {
                Issue.record("\(comment): in the file \(words)")
            }
            try fresh.close()
            let connection = try Connection(path: path)
            let messages = try connection.integrityCheck()
            if !messages.isEmpty { Issue.record("\(comment): \(messages)") }
            try connection.close()
            return lostCount
        } catch {
            Issue.record("\(comment): the file can't be read: \(error)")
            return 0
        }
    }

    /// Opens the file. A commit that failed before may have come up.
    func open() throws {
        let opened = try Store(path: path, vfsName: vfsName, isDurable: isDurable)
        store = opened
        if let found = try? opened.state() { settle(found) }
    }

    private func reopen() {
        close()
        try? open()
    }

    private func commit(_ changes: [Change]) {
        guard let store else { return }
        do {
            try store.commit(changes, isAbandoned: false)
            acknowledge(changes)
        } catch {
            failed.append(changes)
        }
    }

    private func abandon(_ changes: [Change]) {
        guard let store else { return }
        do {
            try store.commit(changes, isAbandoned: true)
            Issue.record("\(comment): an abandoned transaction returned")
        } catch {
            // Abandoned, or failed before it came to that. Never committed in either case.
        }
    }

    private func acknowledge(_ changes: [Change]) {
        for change in changes { change.apply(to: &model) }
        acknowledgedCount += 1
        history.append(model)
        failed = []
    }

    /// Takes a failed commit into the model if it came up, whole, when the file was opened again.
    private func settle(_ found: State) {
        guard found != model else { return }
        for changes in failed {
            var other = model
            for change in changes { change.apply(to: &other) }
            if other == found { return acknowledge(changes) }
        }
    }

    /// What the open store reads, from memory or disk, is what was committed. While a fault is armed a read may fail.
    private func checkOpenStore(mayFail: Bool = true) {
        guard let store else { return }
        do {
            if let words = difference(try store.state(), from: model) {
                Issue.record("\(comment): the open store reads that \(words)")
            }
        } catch let error as Inconsistency {
            Issue.record("\(comment): \(error.words)")
        } catch {
            if !mayFail { Issue.record("\(comment): a read fails though the fault is over: \(error)") }
        }
    }
}
