public import Foundation

/// What the note book takes from the machine, so that a test can be the machine.
public struct Surroundings: Sendable {
    /// Ends a timer that hasn't run out.
    public typealias Cancel = @Sendable () -> Void

    /// The time.
    public var now: @Sendable () -> Date
    /// Runs something after so many seconds.
    public var after: @Sendable (Double, @escaping @Sendable () async -> Void) -> Cancel
    /// Names a new file for what is being sent.
    public var temporaryFile: @Sendable () -> URL
    /// Where it is told that somebody signed in or out.
    public var notificationCenter: NotificationCenter

    /// Makes surroundings.
    public init(
        now: @escaping @Sendable () -> Date,
        after: @escaping @Sendable (Double, @escaping @Sendable () async -> Void) -> Cancel,
        temporaryFile: @escaping @Sendable () -> URL, notificationCenter: NotificationCenter = .default
    ) {
        self.now = now
        self.after = after
        self.temporaryFile = temporaryFile
        self.notificationCenter = notificationCenter
    }

    /// The machine's own.
    public static var system: Surroundings {
        Surroundings(
            now: { Date() },
            after: { seconds, body in
                let task = Task {
                    try await Task.sleep(nanoseconds: UInt64(max(0, min(seconds, 86_400)) * 1e9))
                    await body()
                }
                return { task.cancel() }
            },
            temporaryFile: {
                FileManager.default.temporaryDirectory.appendingPathComponent("note-\(UUID().uuidString)")
            })
    }
}
