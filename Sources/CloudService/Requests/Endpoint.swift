import CloudWire

/// An endpoint of the service. The raw value is the last part of its path, such as `records/modify`.
package enum Endpoint: String, CaseIterable, Sendable {
    case recordsModify = "records/modify"
    case recordsQuery = "records/query"
    case recordsQueryBatch = "internal/records/query/batch"
    case recordsLookup = "records/lookup"
    case recordsChanges = "records/changes"
    case recordsResolve = "records/resolve"
    case recordsAccept = "records/accept"
    case recordsZipPrepare = "records/zip/prepare"
    case recordsCopyStart = "records/copy/start"
    case recordsCopyStatus = "records/copy/status"
    case changesDatabase = "changes/database"
    case changesZone = "changes/zone"
    case zonesList = "zones/list"
    case zonesLookup = "zones/lookup"
    case zonesModify = "zones/modify"
    case zonesChanges = "zones/changes"
    case assetsUpload = "assets/upload"
    case assetsRereference = "assets/rereference"
    case usersCaller = "users/caller"
    case usersCurrent = "users/current"
    case usersDiscover = "users/discover"
    case usersLookupEmail = "users/lookup/email"
    case usersLookupID = "users/lookup/id"
    case usersLookupContacts = "users/lookup/contacts"
    case usersDiscoverability = "users/discoverability"
    case subscriptionsModify = "subscriptions/modify"
    case subscriptionsList = "subscriptions/list"
    case subscriptionsLookup = "subscriptions/lookup"
    case tokensCreate = "tokens/create"
    case tokensRegister = "tokens/register"
    case notificationsList = "notifications/list"
    case notificationsRead = "notifications/read"
}

/// The kinds of callers that an endpoint distinguishes.
package struct EndpointCallers: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// An unauthenticated caller. Only in the public database, regardless of the row.
    package static let nobody = EndpointCallers(rawValue: 1)
    /// A signed-in user.
    package static let user = EndpointCallers(rawValue: 2)
    /// A program that signs with a server-to-server key. Only in the public database, regardless of the row.
    package static let serverKey = EndpointCallers(rawValue: 4)

    package static let all: EndpointCallers = [.nobody, .user, .serverKey]
    package static let signedIn: EndpointCallers = [.user, .serverKey]
}

/// A row of the table of endpoints: the methods, databases and callers that each accepts.
package struct EndpointRow: Hashable, Sendable {
    /// True if it accepts GET beside POST.
    package let allowsGet: Bool
    /// The databases in which it exists. Empty for the endpoints of devices.
    package let scopes: [DatabaseScope]
    package let callers: EndpointCallers

    private init(_ scopes: [DatabaseScope], _ callers: EndpointCallers, allowsGet: Bool = false) {
        self.allowsGet = allowsGet
        self.scopes = scopes
        self.callers = callers
    }

    private static let everywhere: [DatabaseScope] = [.public, .private, .shared]
    private static let withFeeds: [DatabaseScope] = [.private, .shared]

    package static func row(of endpoint: Endpoint) -> EndpointRow {
        switch endpoint {
        case .recordsQuery, .recordsQueryBatch, .recordsLookup: EndpointRow(everywhere, .all)
        case .recordsModify, .assetsUpload, .assetsRereference: EndpointRow(everywhere, .signedIn)
        case .recordsChanges, .changesDatabase, .changesZone, .zonesChanges: EndpointRow(withFeeds, .user)
        case .recordsResolve, .recordsAccept: EndpointRow([.public], .user)
        case .recordsZipPrepare, .recordsCopyStart, .recordsCopyStatus: EndpointRow(withFeeds, .user)
        case .zonesList: EndpointRow(everywhere, .signedIn, allowsGet: true)
        case .zonesLookup: EndpointRow(everywhere, .signedIn)
        case .zonesModify: EndpointRow([.private], .user)
        // CloudKit JS requests it also if it signs with a key.
        case .usersCaller: EndpointRow([.public], .signedIn, allowsGet: true)
        case .usersCurrent, .usersDiscover, .usersLookupContacts, .usersDiscoverability:
            EndpointRow([.public], .user, allowsGet: true)
        case .usersLookupEmail, .usersLookupID: EndpointRow([.public], .user)
        case .subscriptionsModify, .subscriptionsLookup: EndpointRow(everywhere, .user)
        case .subscriptionsList: EndpointRow(everywhere, .user, allowsGet: true)
        case .tokensCreate, .tokensRegister, .notificationsRead: EndpointRow([], .user)
        case .notificationsList: EndpointRow([], .user, allowsGet: true)
        }
    }

    /// True if its path begins with `/device/`.
    package var isOfDevice: Bool { scopes.isEmpty }

    /// Returns the callers that may use it in a database. Only users may use a database that isn't public.
    package func callers(in scope: DatabaseScope) -> EndpointCallers {
        scope == .public && !isOfDevice ? callers : callers.intersection(.user)
    }
}
