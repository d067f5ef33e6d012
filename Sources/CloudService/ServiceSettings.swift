import CloudWire

/// Choices that Apple's documents leave open. The defaults are those that Apple's own clients handle best;
/// docs/PROTOCOL.md explains why.
public struct ServiceSettings: Hashable, Sendable {
    /// Which requests are atomic by default.
    public enum AtomicDefault: String, Hashable, CaseIterable, Sendable {
        /// Requests to a custom zone, as in Apple's framework.
        case inCustomZones
        /// None.
        case never
    }

    /// The response to creating an existing zone.
    public enum ExistingZone: String, Hashable, CaseIterable, Sendable {
        /// The zone, as if it had been created.
        case zone
        /// The error `EXISTS`. Our own clients receive the zone anyway, since they repeat uncertain requests.
        case error
    }

    /// The numbers of databases in a push.
    public enum DatabaseNumbers: String, Hashable, CaseIterable, Sendable {
        /// 0 public, 2 private, 3 shared: what CloudKit JS reads.
        case publicIs0
        /// 1 public, 2 private, 3 shared: the raw values of `CKDatabase.Scope`.
        case publicIs1
    }

    /// Which requests are atomic by default.
    public var atomicDefault = AtomicDefault.inCustomZones
    /// Whether a failed atomic request is an error as a whole (status 400) for clients that are not our own.
    /// Otherwise the response has status 200 and an error for each operation.
    public var atomicFailureIsError = false
    /// The response to creating an existing zone.
    public var existingZone = ExistingZone.zone
    /// True if `delete` must name the record's change tag. Otherwise a `delete` without a tag deletes any
    /// version of the record.
    public var deletesNeedTag = false
    /// The numbers of databases in a push.
    public var databaseNumbers = DatabaseNumbers.publicIs0

    /// The settings that suit most clients.
    public init() {}
}

extension ServiceSettings {
    /// Returns the payload with the numbers of databases for clients. The stored payload always has the default
    /// numbers.
    func numbered(_ payload: PushPayload) -> PushPayload {
        guard databaseNumbers == .publicIs1, payload.ck.cause?.databaseNumber == 0 else { return payload }
        var payload = payload
        payload.ck.cause?.databaseNumber = 1
        return payload
    }
}
