import CloudStore
import System

/// Detects that a data folder was restored from a copy: compares the folder's mark with its witness before the folder
/// is served, and advances the mark periodically and at the end.
final class RestoreDetector: ThreadOwner {
    /// Interval between marks. The loss of writes after the last mark isn't detected.
    static let everyMilliseconds: Int64 = 60_000

    private let folder: DataFolder
    private let witness: FolderWitness
    private let random: any RandomSource
    private let log: ServerLog?
    private let alarm = Alarm()
    private let thread = OwnedThread(name: "yap marks")
    private struct State {
        /// True once the folder was compared with its witness. Before, a mark would hide that it was restored.
        var hasBegun = false
        /// True if the last mark failed. Logged once.
        var isFailing = false
        /// Released with the last mark, so that its file is closed before the thread ends.
        var control: ControlStore?
    }

    /// Held while the folder is marked, so that the last mark is the last.
    private let state: Lock<State>

    init(
        _ folder: DataFolder, _ control: ControlStore, _ witness: FolderWitness, random: any RandomSource,
        log: ServerLog?
    ) {
        self.folder = folder
        state = Lock(State(control: control))
        self.witness = witness
        self.random = random
        self.log = log
    }

    /// Gives the folder new epochs if it was restored. Must be called before anything is served.
    ///
    /// - Throws: `DataFolderError`, `CloudStoreError` if the epochs can't be renewed.
    func begin() throws {
        guard let control = state.withLock({ $0.control }) else { return }
        switch try folder.compare(control, witness, random: random) {
        case .isAsItWas: break
        case .wasPutBack(let environments):
            log?.add(
                event: "folder was put back",
                [
                    ("witness", witness.path), ("environments", "\(environments)"),
                    ("done", "all zones have new epochs: devices fetch everything again"),
                ])
        case .isUnknown(let reason):
            log?.add(event: "witness can't be read", [("witness", witness.path), ("error", reason)])
        }
        state.withLock { $0.hasBegun = true }
        mark(isLast: false)
    }

    /// Marks the folder periodically, on a thread of its own, until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) {
        try thread.start(start) { [self] in
            while !alarm.wait(milliseconds: Self.everyMilliseconds) { mark(isLast: false) }
        }
    }

    /// Marks the folder a last time, unless `begin` has failed or wasn't called. All stores must be closed.
    func stop() {
        alarm.ring()
        mark(isLast: true)
    }

    private func mark(isLast: Bool) {
        // The control store of the last mark is released after the lock.
        _ = state.withLock { state -> ControlStore? in
            guard let control = state.control else { return nil }
            if isLast { state.control = nil }
            guard state.hasBegun else { return control }
            do {
                try folder.mark(control, witness)
                state.isFailing = false
            } catch {
                if !state.isFailing {
                    log?.add(
                        event: "witness can't be written",
                        [("witness", witness.path), ("error", "\(error)")])
                }
                state.isFailing = true
            }
            return control
        }
    }
}
