/// The valid tokens of a session that gets a new token with each response.
///
/// A token stays valid until a later one was used and the grace period has passed. So parallel requests
/// succeed, and a client that lost a response can still sign in.
struct SessionRotation {
    /// Time that a token stays valid after the first use of a later one, in milliseconds.
    static let graceMilliseconds: Int64 = 60_000
    /// First uses within this time are stored as one, in milliseconds.
    static let markMilliseconds: Int64 = 5_000

    /// The latest used step.
    private(set) var step: Int64
    /// Time of the session's last use, in milliseconds since 1970.
    private(set) var usedMilliseconds: Int64
    /// Steps below this one are invalid.
    private(set) var floor: Int64
    /// Times of the first uses of steps. Lower steps become invalid a grace period later.
    private var marks: [Mark] = []

    private struct Mark {
        var step: Int64
        var milliseconds: Int64
        let begunMilliseconds: Int64
    }

    enum Verdict: Equatable {
        case counts
        /// The token's replacement was used long ago, so the sender has a copy of an old token.
        case replayed
    }

    init(step: Int64, usedMilliseconds: Int64) {
        self.step = step
        self.usedMilliseconds = usedMilliseconds
        floor = step
    }

    /// Uses a token of step `step`. The caller has checked its code, so this server has made it.
    mutating func use(step used: Int64, at now: Int64) -> Verdict {
        while let mark = marks.first, now - mark.milliseconds > Self.graceMilliseconds {
            floor = max(floor, mark.step)
            marks.removeFirst()
        }
        guard used >= floor else { return .replayed }
        usedMilliseconds = max(usedMilliseconds, now)
        guard used > step else { return .counts }
        step = used
        if let last = marks.last, now - last.begunMilliseconds < Self.markMilliseconds {
            // The later step gets the later time, so that no token becomes invalid too early.
            marks[marks.count - 1].step = used
            marks[marks.count - 1].milliseconds = now
        } else {
            marks.append(Mark(step: used, milliseconds: now, begunMilliseconds: now))
        }
        return .counts
    }
}
