package import CloudWire

/// What a request asks for.
public enum RequestKind: String, Sendable, Hashable, CaseIterable {
    /// Saves and deletes records.
    case modifyRecords = "records/modify"
    /// Fetches records by their IDs.
    case fetchRecords = "records/lookup"
    /// Asks which zones changed.
    case fetchDatabaseChanges = "changes/database"
    /// Asks what changed in zones.
    case fetchRecordZoneChanges = "changes/zone"
    /// Makes and deletes zones.
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
    /// Makes a device known that wants to hear of changes.
    case createDeviceToken = "tokens/create"
    /// Makes a device known again.
    case registerDeviceToken = "tokens/register"
    /// Asks who the user is.
    case fetchUserRecordID = "users/caller"
    /// Finds users by their addresses or record names.
    case discoverUsers = "users/discover"
    /// Asks whether the user may be found, or lets them be.
    case userDiscoverability = "users/discoverability"
    /// Fetches the notifications that are kept.
    case fetchNotifications = "notifications/list"
    /// Says that notifications were read.
    case markNotificationsRead = "notifications/read"
    /// Finds records.
    case queryRecords = "records/query"
    /// Asks where an asset's file may be sent.
    case prepareUpload = "assets/upload"
    /// Sends an asset's file.
    case uploadAsset = "asset/upload"
    /// Fetches an asset's file.
    case downloadAsset = "asset/file"

    init?(_ request: WireRequest) {
        let parts = request.path.split(separator: "/").suffix(2)
        self.init(rawValue: parts.joined(separator: "/"))
    }
}

/// A request that a device made.
public struct LoggedRequest: Sendable {
    /// The device's number.
    public let deviceNumber: Int
    /// What it asks for; nil for what the framework never asks.
    public let kind: RequestKind?
    /// The request.
    package let request: WireRequest
    /// What the network did to it.
    public let fault: TestCloud.NetworkFault
}

/// The last requests, and how many there were of each kind.
struct TestRequestLog: Sendable {
    /// Requests that are kept; older ones are only counted.
    static let entriesMax = 1_000

    private(set) var entries: [LoggedRequest] = []
    private(set) var counts: [RequestKind: Int] = [:]

    mutating func append(_ entry: LoggedRequest) {
        // Half at a time, so that a long run doesn't move the whole log with each request.
        if entries.count == Self.entriesMax { entries.removeFirst(Self.entriesMax / 2) }
        entries.append(entry)
        if let kind = entry.kind { counts[kind, default: 0] += 1 }
    }
}
