import CloudStore
import System

/// Keeps the marks of a data folder: compares the folder with its witness before it is served, and marks it now and
/// then and at the end.
final class FolderMarks: Sendable {
    /// How often the folder is marked: what was written to one since the last mark can be lost unnoticed.
    static let everyMilliseconds: Int64 = 60_000

    private let folder: DataFolder
    private let witness: FolderWitness
    private let random: any RandomSource
    private let log: RequestLog?
    private let alarm = Alarm()
    private struct State {
        /// Whether the last mark went wrong, which is told once.
        var isFailing = false
        /// Let go of with the last mark, so that its file is closed though the thread is still there.
        var control: ControlStore?
    }

    /// Held while the folder is marked, so that the last mark is the last.
    private let state: Lock<State>

    init(
        _ folder: DataFolder, _ control: ControlStore, _ witness: FolderWitness, random: any RandomSource,
        log: RequestLog?
    ) {
        self.folder = folder
        state = Lock(State(control: control))
        self.witness = witness
        self.random = random
        self.log = log
    }

    /// Looks whether the folder was put back, and gives it new epochs then. Must come before anything is served.
    ///
    /// - Throws: `DataFolderError`, `CloudStoreError` when they can't be renewed.
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
        mark(isLast: false)
    }

    /// Marks the folder now and then, on a thread of its own, until `stop`.
    func start() {
        startThread { [self] in
            while !alarm.wait(milliseconds: Self.everyMilliseconds) { mark(isLast: false) }
        }
    }

    /// Marks the folder a last time. All stores must be closed.
    func stop() {
        alarm.ring()
        mark(isLast: true)
    }

    private func mark(isLast: Bool) {
        // The control store of the last mark is released after the lock.
        _ = state.withLock { state -> ControlStore? in
            guard let control = state.control else { return nil }
            if isLast { state.control = nil }
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
