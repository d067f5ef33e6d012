import CloudStore
import CloudWire

/// A query subscription, decoded once and evaluated often.
struct QuerySubscription: Sendable {
    let row: SubscriptionRow
    let matcher: QueryMatcher
    let triggers: [WireSubscription.Trigger]
    let firesOnce: Bool
    let info: WireNotificationInfo?
    /// The fields with values in its notifications.
    let fieldNames: Set<String>
    /// The condition that a field equals a value, if the query has one. It is used as a lookup key.
    let key: EqualityKey?

    /// - Throws: if the stored subscription can't be read, or its query is no longer valid. Then it never
    ///   fires.
    init(_ row: SubscriptionRow, schema: Schema, limits: ServiceLimits) throws {
        let subscription = try WireSubscription(json: row.content)
        let query = subscription.query ?? RecordQuery(recordType: row.recordType)
        self.row = row
        matcher = try QueryMatcher(
            query, schema: schema, database: row.key.database, userRecordName: row.key.user, limits: limits)
        triggers = subscription.firesOn ?? []
        firesOnce = subscription.firesOnce ?? false
        info = subscription.notificationInfo
        fieldNames = info?.fieldNames ?? []
        key = (query.filterBy ?? []).lazy.compactMap(EqualityKey.init).first
    }

    /// Returns true if a change of a record fires the subscription.
    ///
    /// - Parameter record: the record after the change, or before it if it was deleted.
    func isFired(by trigger: WireSubscription.Trigger, _ record: QuerySubject) -> Bool {
        triggers.contains(trigger) && (row.zoneName == nil || row.zoneName == record.row.key.zone.zoneName)
            && matcher.matches(record)
    }
}

/// A field and the value that it must equal.
struct EqualityKey: Hashable, Sendable {
    let fieldName: String
    let value: FieldValue

    /// Returns nil for another condition, and for values that can equal others of another type.
    init?(_ filter: RecordFilter) {
        // A system field isn't among the record's fields, by either of its names.
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
    /// The fields with values in the notification.
    var fieldNames: Set<String> {
        Set(
            [additionalFields, alertLocalizationArgs, titleLocalizationArgs, subtitleLocalizationArgs]
                .compactMap { $0 }.joined())
    }
}
