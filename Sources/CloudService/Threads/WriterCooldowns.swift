/// Cooldowns of owners that used the writer for long while others write too.
///
/// A write can't be interrupted. Without a rest, an owner that sends one long write after the other holds a writer with
/// little else to do nearly all the time, and every other write waits for one of them.
struct WriterCooldowns {
    /// A rest is so many times as long as what was before it: one has a quarter of the writer at most.
    static let factor: Int64 = 3
    /// And no longer than this.
    static let millisecondsMax: Int64 = 2_000
    /// An owner that wrote so lately may write again.
    static let lateMilliseconds: Int64 = 1_000
    /// The upkeep's name as an owner.
    static let upkeep = ""
    private static let ownersMax = 10_000

    private var ends: [String: Int64] = [:]
    /// The last owner that wrote, and the one before it.
    private var last: (owner: String, at: Int64)?
    private var other: (owner: String, at: Int64)?

    /// One brings a write, at `now` in milliseconds.
    mutating func notice(_ owner: String, at now: Int64) {
        if last?.owner != owner { other = last }
        last = (owner, now)
    }

    /// Begins an owner's rest after it took so many milliseconds of a processor, unless no other has written lately.
    mutating func begin(_ owner: String, after milliseconds: Int64, at now: Int64) {
        let isContested = [last, other].contains { writer in
            writer.map { $0.owner != owner && now - $0.at < Self.lateMilliseconds } ?? false
        }
        guard isContested else { return }
        if ends.count >= Self.ownersMax { ends = ends.filter { contains($0.key, at: now) } }
        guard ends.count < Self.ownersMax else { return }
        ends[owner] = now + min(milliseconds * Self.factor, Self.millisecondsMax)
    }

    /// Returns true if it isn't over yet.
    func contains(_ owner: String, at now: Int64) -> Bool { ends[owner].map { $0 > now } ?? false }

    /// Returns the milliseconds until the next cooldown ends, or nil if there is none. Removes the expired ones.
    mutating func next(at now: Int64) -> Int64? {
        guard !ends.isEmpty else { return nil }
        ends = ends.filter { contains($0.key, at: now) }
        return ends.values.min().map { $0 - now }
    }
}
