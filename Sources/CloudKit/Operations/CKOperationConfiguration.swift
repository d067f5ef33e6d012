public import Foundation

/// Options of an operation.
///
/// Unset options come from the operation's group; otherwise the defaults apply.
public final class CKOperationConfiguration: NSObject, NSCopying, @unchecked Sendable {
    // Sendable because an app sets it before the operation is added, and it isn't changed later.

    private struct Values {
        var container: CKContainer?
        var qualityOfService: QualityOfService?
        var allowsCellularAccess: Bool?
        var isLongLived: Bool?
        var timeoutIntervalForRequest: TimeInterval?
        var timeoutIntervalForResource: TimeInterval?
    }

    private var values = Values()

    /// Makes the default configuration.
    public override init() {
        super.init()
    }

    /// The container for operations that aren't added to a database.
    public var container: CKContainer? {
        get { values.container }
        set { values.container = newValue }
    }

    /// The urgency of the operation. With `utility` or `background`, it retries after network errors, with growing
    /// pauses, until `timeoutIntervalForResource` is over. Otherwise it ends with the first network error.
    public var qualityOfService: QualityOfService {
        get { values.qualityOfService ?? .default }
        set { values.qualityOfService = newValue }
    }

    /// True if mobile networks may be used. The value is stored and has no effect.
    /// - Note: Inert: Linux doesn't report which networks are mobile.
    public var allowsCellularAccess: Bool {
        get { values.allowsCellularAccess ?? true }
        set { values.allowsCellularAccess = newValue }
    }

    /// True if the operation outlives the process. It is stored on the disk until its `completionBlock` has returned. A
    /// later process restores it with `CKContainer.longLivedOperation(for:)`, sets its blocks and adds it again. It
    /// then calls the blocks from the beginning, and the server repeats no work. It is stored for a day after its last
    /// response. All database operations that save, delete or fetch records, zones or subscriptions, query, or fetch
    /// changes can be long-lived. Others ignore this.
    ///
    /// Apple's servers don't support idempotency keys. With them, a save that was executed just before the process
    /// ended may be reported as a conflict with itself.
    public var isLongLived: Bool {
        get { values.isLongLived ?? false }
        set { values.isLongLived = newValue }
    }

    /// Maximum seconds without data in a request; each sent or received byte restarts the time. Then the
    /// operation ends with `CKError.networkFailure`.
    public var timeoutIntervalForRequest: TimeInterval {
        get { values.timeoutIntervalForRequest ?? 60 }
        set { values.timeoutIntervalForRequest = newValue }
    }

    /// Maximum seconds of the whole operation, from its start to its last response. The default is a week. It
    /// has no effect by default on operations of the quality `userInitiated` and above, because they end with
    /// the first network error.
    public var timeoutIntervalForResource: TimeInterval {
        get { values.timeoutIntervalForResource ?? 604_800 }
        set { values.timeoutIntervalForResource = newValue }
    }

    /// Seconds after which the whole operation ends. Nil for an urgent operation without a set time.
    var secondsForAll: TimeInterval? {
        let isUrgent = [.userInitiated, .userInteractive].contains(qualityOfService)
        return isUrgent ? values.timeoutIntervalForResource : timeoutIntervalForResource
    }

    /// Returns a copy.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKOperationConfiguration()
        copy.values = values
        return copy
    }

    /// Encodes the set values in a keyed archive, except the container.
    func encode(with coder: NSCoder) {
        if let value = values.qualityOfService { coder.encode(value.rawValue, forKey: "QualityOfService") }
        if let value = values.allowsCellularAccess { coder.encode(value, forKey: "AllowsCellularAccess") }
        if let value = values.isLongLived { coder.encode(value, forKey: "IsLongLived") }
        if let value = values.timeoutIntervalForRequest { coder.encode(value, forKey: "TimeoutForRequest") }
        if let value = values.timeoutIntervalForResource { coder.encode(value, forKey: "TimeoutForResource") }
    }

    /// Decodes what `encode(with:)` has encoded.
    convenience init(from coder: NSCoder) {
        self.init()
        func value<Value>(_ key: String, _ read: (String) -> Value) -> Value? {
            coder.containsValue(forKey: key) ? read(key) : nil
        }
        values.qualityOfService = value("QualityOfService", coder.decodeInteger)
            .flatMap { QualityOfService(rawValue: $0) }
        values.allowsCellularAccess = value("AllowsCellularAccess", coder.decodeBool)
        values.isLongLived = value("IsLongLived", coder.decodeBool)
        values.timeoutIntervalForRequest = value("TimeoutForRequest", coder.decodeDouble)
        values.timeoutIntervalForResource = value("TimeoutForResource", coder.decodeDouble)
    }

    /// Returns a copy with unset values taken from `other`.
    func filled(from other: CKOperationConfiguration?) -> CKOperationConfiguration {
        let filled = CKOperationConfiguration()
        filled.values = values
        guard let other = other?.values else { return filled }
        filled.values.container = values.container ?? other.container
        filled.values.qualityOfService = values.qualityOfService ?? other.qualityOfService
        filled.values.allowsCellularAccess = values.allowsCellularAccess ?? other.allowsCellularAccess
        filled.values.isLongLived = values.isLongLived ?? other.isLongLived
        filled.values.timeoutIntervalForRequest =
            values.timeoutIntervalForRequest ?? other.timeoutIntervalForRequest
        filled.values.timeoutIntervalForResource =
            values.timeoutIntervalForResource ?? other.timeoutIntervalForResource
        return filled
    }
}
