package import CloudWire
public import Foundation
internal import System

/// A change by another device of something that a subscription watches.
///
/// `CKNotification(fromRemoteNotificationDictionary:)` returns an object of the fitting subclass.
public class CKNotification: NSObject, __CKNotificationCluster, @unchecked Sendable {
    // Sendable because all stored properties are set in the initializer. A subclass must restate it.

    /// A notification's ID.
    public typealias ID = CKNotificationID
    /// The kind of the subscription. The values are Apple's.
    public enum NotificationType: Int, Sendable, Hashable {
        /// A query subscription.
        case query = 1
        /// A zone subscription.
        case recordZone = 2
        /// A notification that another device has marked as read.
        case readNotification = 3
        /// A database subscription.
        case database = 4
    }

    let payload: PushPayload
    let cause: PushCause
    /// True if one of the user's devices has marked it as read.
    private let isRead: Bool

    init(_ payload: PushPayload, _ cause: PushCause, isRead: Bool) {
        self.payload = payload
        self.cause = cause
        self.isRead = isRead
    }

    /// Returns the notification in `payload`, or nil if its kind is unknown.
    /// - Parameter isRead: true if the collection has it as read.
    package static func of(_ payload: PushPayload, isRead: Bool = false) -> CKNotification? {
        guard let cause = payload.ck.cause, let scope = cause.database.map(CKDatabase.Scope.init) else {
            return nil
        }
        return switch cause.kind {
        case .database: CKDatabaseNotification(payload, cause, scope, isRead: isRead)
        case .zone: CKRecordZoneNotification(payload, cause, scope, isRead: isRead)
        case .query: CKQueryNotification(payload, cause, scope, isRead: isRead)
        }
    }

    /// Returns the notification in the dictionary of a push service, or nil if it isn't CloudKit's.
    static func of(_ dictionary: [AnyHashable: Any]) -> CKNotification? {
        // Other keys belong to the app, and their values may not be JSON.
        var own: [String: Any] = [:]
        for key in ["ck", "aps"] { own[key] = dictionary[key] }
        guard JSONSerialization.isValidJSONObject(own),
            let json = try? JSONSerialization.data(withJSONObject: own),
            let payload = try? PushPayload(json: [UInt8](json))
        else { return nil }
        return of(payload)
    }

    /// The notification as the dictionary of a push service.
    package var remoteNotificationDictionary: [AnyHashable: Any] {
        guard let json = try? payload.json(),
            let object = try? JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
        else { return [:] }
        return object
    }

    /// The kind of the subscription.
    public var notificationType: NotificationType {
        if isRead { return .readNotification }
        return switch cause.kind {
        case .query: .query
        case .zone: .recordZone
        case .database: .database
        }
    }

    /// The notification's ID.
    public var notificationID: ID? { payload.ck.notificationID.map { ID($0) } }
    /// The container of the change.
    public var containerIdentifier: String? { payload.ck.containerIdentifier }
    /// The user that owns the subscription.
    public var subscriptionOwnerUserRecordID: CKRecord.ID? {
        payload.ck.userRecordName.map { CKRecord.ID(recordName: $0) }
    }
    /// The subscription that fired.
    public var subscriptionID: CKSubscription.ID? { cause.subscriptionID }
    /// True if the notification was too large, so that a part is missing.
    public var isPruned: Bool { payload.ck.isPruned ?? false }

    /// The alert's text.
    public var alertBody: String? { payload.aps?.texts?.body }
    /// The key of the alert's text in the app's strings.
    public var alertLocalizationKey: String? { payload.aps?.texts?.bodyKey }
    /// The arguments of that text.
    public var alertLocalizationArgs: [String]? { payload.aps?.texts?.bodyArguments }
    /// The alert's title.
    public var title: String? { payload.aps?.texts?.title }
    /// The key of the title in the app's strings.
    public var titleLocalizationKey: String? { payload.aps?.texts?.titleKey }
    /// The arguments of the title.
    public var titleLocalizationArgs: [String]? { payload.aps?.texts?.titleArguments }
    /// The alert's second title.
    public var subtitle: String? { payload.aps?.texts?.subtitle }
    /// The key of the second title in the app's strings.
    public var subtitleLocalizationKey: String? { payload.aps?.texts?.subtitleKey }
    /// The arguments of the second title.
    public var subtitleLocalizationArgs: [String]? { payload.aps?.texts?.subtitleArguments }
    /// The key of the button's text in the app's strings.
    public var alertActionLocalizationKey: String? { payload.aps?.texts?.actionKey }
    /// The launch image of the app.
    public var alertLaunchImage: String? { payload.aps?.texts?.launchImage }
    /// The number on the app's badge.
    public var badge: NSNumber? { payload.aps?.badge.map { NSNumber(value: $0) } }
    /// The sound to play.
    public var soundName: String? { payload.aps?.sound }
    /// The category of the alert's actions.
    public var category: String? { payload.aps?.category }

    /// Class and subscription, for logs.
    public override var description: String {
        "<\(type(of: self)): \(notificationID?.value ?? "without an ID") of \(subscriptionID ?? "no subscription")>"
    }
}

/// Allows an initializer of `CKNotification` to return an object of the matching subclass.
public protocol __CKNotificationCluster {}

extension __CKNotificationCluster {
    /// Reads the dictionary of a push service.
    ///
    /// Nil if it isn't a notification of the cloud, or of another class than the requested one.
    public init?(fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]) {
        guard let notification = CKNotification.of(notificationDictionary) as? Self else { return nil }
        self = notification
    }
}

/// Something changed in a database.
public final class CKDatabaseNotification: CKNotification, @unchecked Sendable {
    // Sendable for the reason given at CKNotification.

    /// The scope of the database.
    public let databaseScope: CKDatabase.Scope

    init(_ payload: PushPayload, _ cause: PushCause, _ scope: CKDatabase.Scope, isRead: Bool) {
        databaseScope = scope
        super.init(payload, cause, isRead: isRead)
    }
}

/// Something changed in a zone.
public final class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    // Sendable for the reason given at CKNotification.

    /// The scope of the database.
    public let databaseScope: CKDatabase.Scope
    /// The zone; nil if the notification doesn't name it.
    public let recordZoneID: CKRecordZone.ID?

    init(_ payload: PushPayload, _ cause: PushCause, _ scope: CKDatabase.Scope, isRead: Bool) {
        databaseScope = scope
        recordZoneID = CKRecordZone.ID(cause, scope)
        super.init(payload, cause, isRead: isRead)
    }
}

/// A change of a record that matches a query.
public final class CKQueryNotification: CKNotification, @unchecked Sendable {
    // Sendable for the reason given at CKNotification.

    /// The kind of change. The values are Apple's.
    public enum Reason: Int, Sendable, Hashable {
        /// The record is new.
        case recordCreated = 1
        /// The record has changed.
        case recordUpdated = 2
        /// The record was deleted.
        case recordDeleted = 3
    }

    /// The scope of the database.
    public let databaseScope: CKDatabase.Scope
    /// The record; nil if the notification doesn't name it.
    public let recordID: CKRecord.ID?

    init(_ payload: PushPayload, _ cause: PushCause, _ scope: CKDatabase.Scope, isRead: Bool) {
        databaseScope = scope
        let zoneID = CKRecordZone.ID(cause, scope) ?? .default
        recordID = cause.recordName.map { CKRecord.ID(recordName: $0, zoneID: zoneID) }
        super.init(payload, cause, isRead: isRead)
    }

    /// The kind of change; `recordUpdated` if the notification doesn't say.
    public var queryNotificationReason: Reason {
        cause.reason.flatMap { Reason(rawValue: Int(clamping: $0)) } ?? .recordUpdated
    }

    /// The values of the subscription's `desiredKeys`: texts and numbers.
    public var recordFields: [String: Any]? {
        cause.fields.map { fields in
            fields.compactMapValues { value in
                switch value {
                case .string(let text): text
                case .integer(let number): NSNumber(value: number)
                case .double(let number): NSNumber(value: number)
                case .bool(let bool): NSNumber(value: bool)
                case .null, .array, .object: nil
                }
            }
        }
    }
}

extension CKRecordZoneID {
    /// The zone of a notification, converted for the app: outside the shared database it is the user's own.
    fileprivate convenience init?(_ cause: PushCause, _ scope: CKDatabase.Scope) {
        guard let zoneName = cause.zoneName else { return nil }
        let owner = scope == .shared ? cause.ownerRecordName : nil
        self.init(zoneName: zoneName, ownerName: owner ?? CKCurrentUserDefaultName)
    }
}

extension CKDatabase.Scope {
    init(_ scope: DatabaseScope) {
        self =
            switch scope {
            case .public: .public
            case .private: .private
            case .shared: .shared
            }
    }
}

extension CKNotification {
    /// The database that changed.
    var scope: CKDatabase.Scope? { cause.database.map(CKDatabase.Scope.init) }
}
