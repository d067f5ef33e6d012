public import Foundation

// Before there were configurations these were properties of the operation itself.
extension CKOperation {
    /// The container for operations that aren't added to a database.
    @available(*, deprecated, renamed: "configuration.container")
    public var container: CKContainer? {
        get { effectiveConfiguration.container }
        set { ownConfiguration.container = newValue }
    }

    /// True if mobile networks may be used.
    @available(*, deprecated, renamed: "configuration.allowsCellularAccess")
    public var allowsCellularAccess: Bool {
        get { effectiveConfiguration.allowsCellularAccess }
        set { ownConfiguration.allowsCellularAccess = newValue }
    }

    /// True if the operation outlives the program.
    @available(*, deprecated, renamed: "configuration.isLongLived")
    public var isLongLived: Bool {
        get { effectiveConfiguration.isLongLived }
        set { ownConfiguration.isLongLived = newValue }
    }

    /// Maximum seconds of one request.
    @available(*, deprecated, renamed: "configuration.timeoutIntervalForRequest")
    public var timeoutIntervalForRequest: TimeInterval {
        get { effectiveConfiguration.timeoutIntervalForRequest }
        set { ownConfiguration.timeoutIntervalForRequest = newValue }
    }

    /// Maximum seconds of the whole operation.
    @available(*, deprecated, renamed: "configuration.timeoutIntervalForResource")
    public var timeoutIntervalForResource: TimeInterval {
        get { effectiveConfiguration.timeoutIntervalForResource }
        set { ownConfiguration.timeoutIntervalForResource = newValue }
    }
}
