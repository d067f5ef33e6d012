/// Cooldowns of owners that used the writer for long while others write too.
///
/// A write can't be interrupted. Without a rest, an owner that sends one long write after the other holds a writer with
/// little else to do nearly all the time, and every other write waits for one of them.
struct WriterCooldowns {
    /// Factor of a cooldown relative to the preceding work, so one owner uses up to a quarter of the writer.
    static let factor: Int64 = 3
    /// Maximum milliseconds of a cooldown.
    static let millisecondsMax: Int64 = 2_000
    /// Milliseconds after a write during which its owner is likely to write again.
    static let lateMilliseconds: Int64 = 1_000
    /// The owner name of the upkeep.
    static let upkeep = ""
    private static let ownersMax = 10_000

    private var ends: [String: Int64] = [:]
    /// The last two owners that wrote.
    private var last: (owner: String, at: Int64)?
    private var other: (owner: String, at: Int64)?

    /// Notes a write of an owner, at `now` in milliseconds.
    mutating func notice(_ owner: String, at now: Int64) {
        if last?.owner != owner { other = last }
        last = (owner, now)
    }

    /// Begins an owner's cooldown after it used `milliseconds` of processor time, unless no other owner has
    /// written recently.
    mutating func begin(_ owner: String, after milliseconds: Int64, at now: Int64) {
        let isContested = [last, other].contains { writer in
            writer.map { $0.owner != owner && now - $0.at < Self.lateMilliseconds } ?? false
        }
        guard isContested else { return }
        if ends.count >= Self.ownersMax { ends = ends.filter { contains($0.key, at: now) } }
        guard ends.count < Self.ownersMax else { return }
        ends[owner] = now + min(milliseconds * Self.factor, Self.millisecondsMax)
    }

    /// Returns true if the owner's cooldown hasn't ended.
    func contains(_ owner: String, at now: Int64) -> Bool { ends[owner].map { $0 > now } ?? false }

    /// Returns the milliseconds until the next cooldown ends, or nil if there is none. Removes the expired ones.
    mutating func next(at now: Int64) -> Int64? {
        guard !ends.isEmpty else { return nil }
        ends = ends.filter { contains($0.key, at: now) }
        return ends.values.min().map { $0 - now }
    }
}
