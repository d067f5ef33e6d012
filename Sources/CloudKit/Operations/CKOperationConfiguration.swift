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

    /// Whether mobile networks may be used. Linux tells nobody which network is one: kept, and not acted on.
    public var allowsCellularAccess: Bool {
        get { values.allowsCellularAccess ?? true }
        set { values.allowsCellularAccess = newValue }
    }

    /// Whether the operation outlives the program. Not there yet: an operation ends with its process.
    public var isLongLived: Bool {
        get { values.isLongLived ?? false }
        set { values.isLongLived = newValue }
    }

    /// Seconds that one request may take; then the operation ends with `CKError.networkFailure`.
    public var timeoutIntervalForRequest: TimeInterval {
        get { values.timeoutIntervalForRequest ?? 60 }
        set { values.timeoutIntervalForRequest = newValue }
    }

    /// Seconds that the whole operation may take, from its start to its last answer.
    public var timeoutIntervalForResource: TimeInterval {
        get { values.timeoutIntervalForResource ?? 604_800 }
        set { values.timeoutIntervalForResource = newValue }
    }

    /// A configuration of its own with the same values.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKOperationConfiguration()
        copy.values = values
        return copy
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
