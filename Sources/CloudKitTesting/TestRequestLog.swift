package import CloudWire

/// The kind of a request.
public enum RequestKind: String, Sendable, Hashable, CaseIterable {
    /// Saves and deletes records.
    case modifyRecords = "records/modify"
    /// Fetches records by their IDs.
    case fetchRecords = "records/lookup"
    /// Fetches the zones that have changed.
    case fetchDatabaseChanges = "changes/database"
    /// Fetches the changes of zones.
    case fetchRecordZoneChanges = "changes/zone"
    /// Creates and deletes zones.
    case modifyRecordZones = "zones/modify"
    /// Fetches zones by their IDs.
    case fetchRecordZones = "zones/lookup"
    /// Fetches all zones.
    case fetchAllRecordZones = "zones/list"
    /// Saves and deletes subscriptions.
    case modifySubscriptions = "subscriptions/modify"
    /// Fetches subscriptions by their IDs.
    case fetchSubscriptions = "subscriptions/lookup"
    /// Fetches all subscriptions.
    case fetchAllSubscriptions = "subscriptions/list"
    /// Registers a device for notifications for the first time.
    case createDeviceToken = "tokens/create"
    /// Registers a device again.
    case registerDeviceToken = "tokens/register"
    /// Fetches the ID of the current user's record.
    case fetchUserRecordID = "users/caller"
    /// Looks up users by email addresses or record names.
    case discoverUsers = "users/discover"
    /// Reads or changes whether other users can find the user.
    case userDiscoverability = "users/discoverability"
    /// Fetches the stored notifications.
    case fetchNotifications = "notifications/list"
    /// Marks notifications as read.
    case markNotificationsRead = "notifications/read"
    /// Queries records.
    case queryRecords = "records/query"
    /// Requests the URL for the upload of an asset's file.
    case prepareUpload = "assets/upload"
    /// Uploads an asset's file.
    case uploadAsset = "asset/upload"
    /// Downloads an asset's file.
    case downloadAsset = "asset/file"

    init?(_ request: WireRequest) {
        let parts = request.path.split(separator: "/").suffix(2)
        self.init(rawValue: parts.joined(separator: "/"))
    }
}

/// A request of a device.
public struct LoggedRequest: Sendable {
    /// The device's number.
    public let deviceNumber: Int
    /// The kind of the request; nil for a request that the framework never sends.
    public let kind: RequestKind?
    /// The request.
    package let request: WireRequest
    /// The network's fault.
    public let fault: TestCloud.NetworkFault
}

/// The last requests, and the number of requests of each kind.
struct TestRequestLog: Sendable {
    /// Maximum stored requests. Older ones are only counted.
    static let entriesMax = 1_000

    private(set) var entries: [LoggedRequest] = []
    private(set) var counts: [RequestKind: Int] = [:]

    mutating func append(_ entry: LoggedRequest) {
        // Removes half of the entries at once, so that not every request moves the array.
        if entries.count == Self.entriesMax { entries.removeFirst(Self.entriesMax / 2) }
        entries.append(entry)
        if let kind = entry.kind { counts[kind, default: 0] += 1 }
    }
}
