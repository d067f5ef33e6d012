public import Foundation

/// How an operation is carried out.
public final class CKOperationConfiguration: NSObject, NSCopying, @unchecked Sendable {
    // Sendable because an app sets it up before the operation is added, and nothing changes it after.

    /// The container for operations that aren't added to a database.
    public var container: CKContainer?
    /// How urgent the operation is. One of `utility` or `background` goes on when the network fails: it sends its
    /// request again, after pauses that grow, until `timeoutIntervalForResource` is over. Any other ends with
    /// the network's error.
    public var qualityOfService: QualityOfService = .default
    /// Whether mobile networks may be used.
    public var allowsCellularAccess = true
    /// Whether the operation outlives the program. Not there yet: an operation ends with its process.
    public var isLongLived = false
    /// Seconds that one request may take; then the operation ends with `CKError.networkFailure`.
    public var timeoutIntervalForRequest: TimeInterval = 60
    /// Seconds that the whole operation may take, from its start to its last answer.
    public var timeoutIntervalForResource: TimeInterval = 604_800

    /// Makes the default configuration.
    public override init() {
        super.init()
    }

    /// A configuration of its own with the same values.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKOperationConfiguration()
        copy.container = container
        copy.qualityOfService = qualityOfService
        copy.allowsCellularAccess = allowsCellularAccess
        copy.isLongLived = isLongLived
        copy.timeoutIntervalForRequest = timeoutIntervalForRequest
        copy.timeoutIntervalForResource = timeoutIntervalForResource
        return copy
    }
}
