import CloudStore
import CloudWire

/// What happened to a record; the raw value is Apple's `fo`.
enum RecordEvent: Int64, Hashable, Sendable {
    case created = 1
    case updated = 2
    case deleted = 3

    var trigger: WireSubscription.Trigger {
        switch self {
        case .created: .create
        case .updated: .update
        case .deleted: .delete
        }
    }
}

/// A query subscription, read once and asked often.
struct QuerySubscription: Sendable {
    let row: SubscriptionRow
    let matcher: QueryMatcher
    let events: Set<RecordEvent>
    let firesOnce: Bool
    let info: WireNotificationInfo?
    /// The fields whose values its notifications tell.
    let fieldNames: Set<String>
    /// A condition that the record's field equals a value, if the query has one: by it the subscription is found.
    let key: EqualityKey?

    /// - Throws: when what is kept can't be read, or asked any more: then it never fires.
    init(_ row: SubscriptionRow, schema: Schema, limits: ServiceLimits) throws {
        let subscription = try WireSubscription(json: row.content)
        let query = subscription.query ?? RecordQuery(recordType: row.recordType)
        self.row = row
        matcher = try QueryMatcher(
            query, schema: schema, database: row.key.database, userRecordName: row.key.user, limits: limits)
        let triggers = subscription.firesOn ?? []
        events = Set([RecordEvent.created, .updated, .deleted].filter { triggers.contains($0.trigger) })
        firesOnce = subscription.firesOnce ?? false
        info = subscription.notificationInfo
        fieldNames = info?.fieldNames ?? []
        key = (query.filterBy ?? []).lazy.compactMap(EqualityKey.init).first
    }

    /// Whether the change of a record fires it. `record` is as it is now, or as it was.
    func isFired(by event: RecordEvent, _ record: QuerySubject) -> Bool {
        events.contains(event) && (row.zoneName == nil || row.zoneName == record.row.key.zone.zoneName)
            && matcher.matches(record)
    }
}

/// A field and the value that it must equal.
struct EqualityKey: Hashable, Sendable {
    let fieldName: String
    let value: FieldValue

    /// Nil for another condition, and for values that can equal others of another type.
    init?(_ filter: RecordFilter) {
        // A system field isn't among the record's fields, whichever of its names is used.
        guard filter.comparator == "EQUALS", filter.systemFieldName == nil, let fieldName = filter.fieldName,
            QuerySystemField(named: fieldName) == nil,
            let value = Self.comparable(filter.fieldValue?.value)
        else { return nil }
        self.init(fieldName: fieldName, value: value)
    }

    init(fieldName: String, value: FieldValue) {
        self.fieldName = fieldName
        self.value = value
    }

    static func comparable(_ value: FieldValue?) -> FieldValue? {
        switch value {
        case .string(let text): .string(text)
        case .reference(let reference): .reference(Reference(recordName: reference.recordName))
        default: nil
        }
    }
}

extension WireNotificationInfo {
    /// The fields whose values the notification tells.
    var fieldNames: Set<String> {
        Set(
            [additionalFields, alertLocalizationArgs, titleLocalizationArgs, subtitleLocalizationArgs]
                .compactMap { $0 }.joined())
    }
}
