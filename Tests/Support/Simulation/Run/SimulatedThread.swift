import Foundation

/// A piece of a process's work that can stand still between two of its steps while everything else goes on, as a thread
/// does that gets no processor time.
///
/// It has a thread of its own, which never runs beside the run's: one of the two always waits for the other. So a run
/// stays one order of events, and all that belongs to it is used by one thread at a time.
final class SimulatedThread: @unchecked Sendable {
    // Sendable because the semaphores let only one of the two threads run, and order what they do.
    private static let stackBytes = 8 << 20

    private let mayGo = DispatchSemaphore(value: 0)
    private let stands = DispatchSemaphore(value: 0)
    private var body: (() -> Void)?
    private var isStarted = false
    private(set) var isOver = false

    init(_ body: @escaping () -> Void) {
        self.body = body
    }

    /// Runs the work until it stands still or is over. The run's thread calls this.
    func proceed() {
        precondition(!isOver, "the work is over")
        if isStarted { mayGo.signal() } else { start() }
        stands.wait()
    }

    /// Stands still until `proceed()` is called again. The work calls this.
    func standStill() {
        stands.signal()
        mayGo.wait()
    }

    private func start() {
        isStarted = true
        let thread = Thread { [self] in
            body?()
            // What it holds is released here, as on a thread whose work has ended.
            body = nil
            isOver = true
            stands.signal()
        }
        thread.stackSize = Self.stackBytes
        thread.start()
    }
}
