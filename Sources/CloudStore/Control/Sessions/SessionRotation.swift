/// Which tokens of a session count, when each answer brings a new one.
///
/// A token counts until a later one has been used and the grace is over: so requests that were under way in parallel
/// get their answers, and an answer that was lost locks nobody out.
struct SessionRotation {
    /// How long a token counts after a later one was used first, in milliseconds.
    static let graceMilliseconds: Int64 = 60_000
    /// First uses that come closer than this are remembered as one.
    static let markMilliseconds: Int64 = 5_000

    /// The latest step that was used.
    private(set) var step: Int64
    /// When the session was used last, in milliseconds since 1970.
    private(set) var usedMilliseconds: Int64
    /// Steps below this one are over.
    private(set) var floor: Int64
    /// When steps were used first; those below them end a grace later.
    private var marks: [Mark] = []

    private struct Mark {
        var step: Int64
        var milliseconds: Int64
        let begunMilliseconds: Int64
    }

    enum Verdict: Equatable {
        case counts
        /// Its replacement was used long ago: the sender has it from somewhere else.
        case replayed
    }

    init(step: Int64, usedMilliseconds: Int64) {
        self.step = step
        self.usedMilliseconds = usedMilliseconds
        floor = step
    }

    /// A token of step `step` is used. Its code was checked: it was given out.
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
            // A later time with the later step: no token ends too early by that.
            marks[marks.count - 1].step = used
            marks[marks.count - 1].milliseconds = now
        } else {
            marks.append(Mark(step: used, milliseconds: now, begunMilliseconds: now))
        }
        return .counts
    }
}
