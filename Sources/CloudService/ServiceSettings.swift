import CloudWire

/// Answers to the questions that Apple's documents leave open, where two are sane. The defaults are what Apple's own
/// clients cope with best; docs/PROTOCOL.md says why.
public struct ServiceSettings: Hashable, Sendable {
    /// Which requests are all or nothing when they don't say.
    public enum AtomicDefault: String, Hashable, CaseIterable, Sendable {
        /// Those into a custom zone, as in Apple's framework.
        case inCustomZones
        /// None.
        case never
    }

    /// What a zone that is made again is answered with.
    public enum ExistingZone: String, Hashable, CaseIterable, Sendable {
        /// The zone, as if it had been made.
        case zone
        /// The error `EXISTS`. Our own clients get the zone all the same: they repeat what they aren't sure of.
        case error
    }

    /// How the databases are numbered in a push.
    public enum DatabaseNumbers: String, Hashable, CaseIterable, Sendable {
        /// 0 public, 2 private, 3 shared: what CloudKit JS reads.
        case publicIs0
        /// 1 public, 2 private, 3 shared: the raw values of `CKDatabase.Scope`.
        case publicIs1
    }

    /// Which requests are all or nothing when they don't say.
    public var atomicDefault = AtomicDefault.inCustomZones
    /// Whether a failed request that is all or nothing is an error as a whole (status 400) for clients that are not our
    /// own. Else its answer has an error for each operation, in a 200.
    public var atomicFailureIsError = false
    /// What a zone that is made again is answered with.
    public var existingZone = ExistingZone.zone
    /// True if `delete` must name the record's change tag. Else one that names none is done whatever the record's is.
    public var deletesNeedTag = false
    /// How the databases are numbered in a push.
    public var databaseNumbers = DatabaseNumbers.publicIs0

    /// The answers that suit most clients.
    public init() {}
}

extension ServiceSettings {
    /// The payload with the numbers of databases that clients shall read. What is kept has always the usual ones.
    func numbered(_ payload: PushPayload) -> PushPayload {
        guard databaseNumbers == .publicIs1, payload.ck.cause?.databaseNumber == 0 else { return payload }
        var payload = payload
        payload.ck.cause?.databaseNumber = 1
        return payload
    }
}
