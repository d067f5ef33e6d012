import CloudStore
import CloudWire

extension Field {
    /// Returns the field in a notification: texts, numbers, times and record names of a bounded size. Nil for other
    /// values.
    func told(bytesMax: Int) -> Field? {
        guard !isEncrypted else { return nil }
        return switch value {
        case .string(let text): text.utf8.count <= bytesMax ? self : nil
        case .reference(let reference): reference.recordName.utf8.count <= bytesMax ? self : nil
        case .int64, .double, .timestamp: self
        default: nil
        }
    }

    /// The value in a notification's `af`.
    var notificationValue: JSONValue? {
        switch value {
        case .string(let text): .string(text)
        case .int64(let number), .timestamp(let number): .integer(number)
        case .double(let number): number.isFinite ? .double(number) : nil
        case .reference(let reference): .string(reference.recordName)
        default: nil
        }
    }

    /// The value in the text of an alert.
    fileprivate var notificationText: String {
        switch notificationValue {
        case .string(let text): text
        case .integer(let number): String(number)
        case .double(let number): "\(number)"
        default: ""
        }
    }
}

/// Remaining bytes of JSON for a record's values in one notification. A subscription may name a field any
/// number of times.
struct NotificationValueBudget {
    private var bytesLeft: Int
    /// True if something was left out.
    private(set) var isPruned = false

    init(bytesMax: Int) { bytesLeft = bytesMax }

    /// Counts a text of the record if it fits, and returns whether it did.
    mutating func takes(_ text: String) -> Bool {
        let bytes = text.utf8.reduce(2) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x5C ? 2 : 1) }
        guard bytes <= bytesLeft else {
            isPruned = true
            return false
        }
        bytesLeft -= bytes
        return true
    }
}

extension PushPayload {
    /// The content of a subscription's notification. `pruned` makes it fit into a push.
    ///
    /// - Parameters:
    ///   - fields: the record's fields that a query subscription includes.
    ///   - valuesBytesMax: maximum bytes of JSON of these fields' values. Further values are omitted.
    init(
        _ info: WireNotificationInfo?, cause: PushCause, fields: [String: Field] = [:], user: String,
        notificationID: String, container: String?, valuesBytesMax: Int
    ) {
        var cause = cause
        var values = NotificationValueBudget(bytesMax: valuesBytesMax)
        let aps = info.map { info in
            var alert = PushAlert(info)
            if cause.kind == .query { alert.fill(info, from: fields, &values) }
            return alert
        }
        if let names = info?.additionalFields, !names.isEmpty, cause.kind == .query {
            cause.fields = [:]
            for name in Set(names).sorted() {
                guard let field = fields[name], let value = field.notificationValue,
                    values.takes(field.notificationText)
                else { continue }
                cause.fields?[name] = value
            }
        }
        self.init(
            aps: aps,
            ck: PushCloudPart(
                containerIdentifier: container, userRecordName: user, notificationID: notificationID,
                isPruned: values.isPruned ? true : nil, cause: cause))
    }

    /// Returns the notification as JSON, up to the size of a push.
    ///
    /// Parts that don't fit are removed in the order that Apple documents: the container, the record, the
    /// reason, the fields, then the arguments of texts, then the texts. The collection contains all of it.
    func pruned(bytesMax: Int) throws -> [UInt8] {
        var payload = self
        var json = try payload.json()
        let steps: [(inout PushPayload) -> Void] = [
            { $0.ck.containerIdentifier = nil }, { $0.ck.cause?.recordName = nil },
            { $0.ck.cause?.reason = nil }, { $0.ck.cause?.fields = nil },
            {
                $0.aps?.texts?.bodyArguments = nil
                $0.aps?.texts?.titleArguments = nil
                $0.aps?.texts?.subtitleArguments = nil
            }, { $0.aps?.texts = nil }, { $0.aps = nil },
        ]
        for step in steps where json.count > bytesMax {
            payload.ck.isPruned = true
            step(&payload)
            json = try payload.json()
        }
        return json
    }
}

extension PushAlert {
    /// Inserts the values of the record's fields into the texts. A missing field is empty.
    fileprivate mutating func fill(
        _ info: WireNotificationInfo, from fields: [String: Field], _ values: inout NotificationValueBudget
    ) {
        func arguments(_ names: [String]?) -> [String]? {
            names?.map { name in
                let text = fields[name]?.notificationText ?? ""
                return text.isEmpty || values.takes(text) ? text : ""
            }
        }
        guard texts != nil else { return }
        texts?.bodyArguments = arguments(info.alertLocalizationArgs)
        texts?.titleArguments = arguments(info.titleLocalizationArgs)
        texts?.subtitleArguments = arguments(info.subtitleLocalizationArgs)
    }
}

extension PushCause {
    /// A change in a database, or one of its zones.
    init(_ row: SubscriptionRow) {
        let scope: DatabaseScope = row.key.database.scope == .publicDatabase ? .public : .private
        let zone = row.zoneName.map { ZoneKey(database: row.key.database, zoneName: $0).zoneID }
        self.init(
            kind: zone == nil ? .database : .zone, database: scope, subscriptionID: row.key.subscriptionID,
            zoneID: zone)
    }

    /// A change of a record.
    init(_ change: FiredChangeRow, subscriptionID: String) {
        let scope: DatabaseScope = change.record.zone.database.scope == .publicDatabase ? .public : .private
        self.init(
            kind: .query, database: scope, subscriptionID: subscriptionID, zoneID: change.record.zone.zoneID)
        recordName = change.record.recordName
        reason = change.reason
    }
}
