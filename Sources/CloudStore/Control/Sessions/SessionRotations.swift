/// The rotations of recently used sessions, by the session's digest.
///
/// The file is updated some seconds later, so that a request costs no write. After a crash, a recently replaced token
/// may be valid again, for up to the grace period.
struct SessionRotations {
    static let entriesMax = 20_000
    /// Maximum delay of the file, in milliseconds.
    static let lagMilliseconds: Int64 = 30_000

    private struct Entry {
        var rotation: SessionRotation
        var savedMilliseconds: Int64
    }

    private var entries: [[UInt8]: Entry] = [:]

    enum Verdict {
        /// The newest step, and whether the file should be updated.
        case counts(newestStep: Int64, SessionRotation, wantsSaving: Bool)
        case replayed
        case over
    }

    mutating func use(step: Int64, of session: ControlSession, life: Int64, at now: Int64) -> Verdict {
        var entry =
            entries[session.digest]
            ?? Entry(
                rotation: SessionRotation(
                    step: session.step, usedMilliseconds: session.expiresMilliseconds - life),
                savedMilliseconds: session.expiresMilliseconds - life)
        let isOver =
            now >= entry.rotation.usedMilliseconds + life
            || now >= session.createdMilliseconds + SessionTable.lifeMilliseconds
        guard !isOver else { return .over }
        guard entry.rotation.use(step: step, at: now) == .counts else { return .replayed }
        let wantsSaving = now - entry.savedMilliseconds >= Self.lagMilliseconds
        if wantsSaving { entry.savedMilliseconds = now }
        if entries.count >= Self.entriesMax, entries[session.digest] == nil { entries = [:] }
        entries[session.digest] = entry
        return .counts(
            newestStep: entry.rotation.step, entry.rotation, wantsSaving: wantsSaving)
    }

    mutating func forget(_ digest: [UInt8]) { entries[digest] = nil }
}
