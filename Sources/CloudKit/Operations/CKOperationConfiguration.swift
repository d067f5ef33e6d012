public import Foundation

/// How an operation is carried out.
///
/// What nobody set is what the operation's group says, and else the default.
public final class CKOperationConfiguration: NSObject, NSCopying, @unchecked Sendable {
    // Sendable because an app sets it up before the operation is added, and nothing changes it after.

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

    /// How urgent the operation is. One of `utility` or `background` goes on when the network fails: it sends its
    /// request again, after pauses that grow, until `timeoutIntervalForResource` is over. Any other ends with
    /// the network's error.
    public var qualityOfService: QualityOfService {
        get { values.qualityOfService ?? .default }
        set { values.qualityOfService = newValue }
    }

    /// Whether mobile networks may be used. It is kept, and not acted on.
    /// - Note: Inert: Linux tells nobody which network is a mobile one.
    public var allowsCellularAccess: Bool {
        get { values.allowsCellularAccess ?? true }
        set { values.allowsCellularAccess = newValue }
    }

    /// Whether the operation outlives the program: it is kept on the disk until its `completionBlock` has returned,
    /// and after the end of the process the app gets it from `CKContainer.longLivedOperation(for:)`, sets its blocks
    /// and adds it again. Then it calls them from the first on; what the server did isn't done again. It is kept for a
    /// day after the last answer. All operations of a database can be long-lived that save, delete or fetch records,
    /// zones or subscriptions, query, or fetch changes; on others this has no effect.
    ///
    /// Apple's own servers don't know the names of writes: with them behind the framework, a save that was done
    /// just before the process went may be told as a conflict with itself.
    public var isLongLived: Bool {
        get { values.isLongLived ?? false }
        set { values.isLongLived = newValue }
    }

    /// Seconds for which a request waits for more data; each byte that comes or goes begins them anew. Then the
    /// operation ends with `CKError.networkFailure`.
    public var timeoutIntervalForRequest: TimeInterval {
        get { values.timeoutIntervalForRequest ?? 60 }
        set { values.timeoutIntervalForRequest = newValue }
    }

    /// Seconds that the whole operation may take, from its start to its last answer. A week unless it is set; for an
    /// operation of the quality `userInitiated` and above that week doesn't count: it ends with the network's first
    /// error anyhow.
    public var timeoutIntervalForResource: TimeInterval {
        get { values.timeoutIntervalForResource ?? 604_800 }
        set { values.timeoutIntervalForResource = newValue }
    }

    /// Seconds after which the whole operation ends; nil for one that somebody waits for and nobody set a time for.
    var secondsForAll: TimeInterval? {
        let isUrgent = [.userInitiated, .userInteractive].contains(qualityOfService)
        return isUrgent ? values.timeoutIntervalForResource : timeoutIntervalForResource
    }

    /// A configuration of its own with the same values.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKOperationConfiguration()
        copy.values = values
        return copy
    }

    /// Writes what was set to a keyed archive, but for the container.
    func encode(with coder: NSCoder) {
        if let value = values.qualityOfService { coder.encode(value.rawValue, forKey: "QualityOfService") }
        if let value = values.allowsCellularAccess { coder.encode(value, forKey: "AllowsCellularAccess") }
        if let value = values.isLongLived { coder.encode(value, forKey: "IsLongLived") }
        if let value = values.timeoutIntervalForRequest { coder.encode(value, forKey: "TimeoutForRequest") }
        if let value = values.timeoutIntervalForResource { coder.encode(value, forKey: "TimeoutForResource") }
    }

    /// Reads what `encode(with:)` wrote.
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

    /// A configuration of its own, in which `other` says what this one doesn't.
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
