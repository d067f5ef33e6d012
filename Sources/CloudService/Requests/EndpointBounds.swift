extension Endpoint {
    /// Returns the maximum resources of one request to the endpoint. The compiler enforces a line for each
    /// endpoint.
    func bounds(_ limits: ServiceLimits) -> RequestBounds {
        let parts = BoundParts(limits)
        switch self {
        case .recordsModify: return parts.modify
        case .recordsQuery: return parts.query(queries: 1)
        case .recordsQueryBatch: return parts.query(queries: limits.queriesMax)
        case .recordsLookup, .assetsRereference: return parts.lookup
        case .recordsChanges, .changesZone: return parts.changes
        case .changesDatabase, .zonesChanges, .zonesList, .zonesLookup: return parts.list(rowsOfItem: 1)
        case .zonesModify: return parts.zonesModify
        case .assetsUpload: return parts.list(rowsOfItem: 0)
        case .usersDiscoverability: return parts.discoverability
        case .usersDiscover, .usersLookupEmail, .usersLookupID, .usersLookupContacts:
            return parts.list(rowsOfItem: 2)
        case .subscriptionsModify: return parts.subscriptionsModify
        case .subscriptionsList, .subscriptionsLookup: return parts.subscriptions
        case .tokensCreate, .tokensRegister: return parts.tokens
        case .notificationsList: return parts.notifications
        case .notificationsRead: return parts.notificationsRead
        case .usersCaller, .usersCurrent, .recordsResolve, .recordsAccept, .recordsZipPrepare,
            .recordsCopyStart, .recordsCopyStatus:
            return parts.unread
        }
    }
}

/// The parts of the bounds.
private struct BoundParts {
    /// Bytes of memory for each byte of a parsed body: a value has at least two bytes and takes twenty, three
    /// times that while its array grows.
    private static let memoryOfBodyByte = 40
    /// The same for the records made from the body, until they are written.
    private static let memoryOfRecordByte = 24
    /// Bytes of memory for each byte of a response: the loaded rows, and growing JSON.
    private static let memoryOfAnswerByte = 5
    /// Bytes of memory for a row without fields, with its names.
    private static let memoryOfRow = 1_500
    /// Bytes of memory for each request: SQLite's page cache, which is empty at first.
    private static let memoryFixed = 4 << 20
    /// Rows that each request may read: the caller, permissions, the schema, usage.
    private static let rowsFixed = 64
    /// Bytes of a page of SQLite's log.
    private static let pageBytes = 4_096 + 24
    /// Pages that a row may change.
    private static let pagesOfRow = 2
    /// Index entries that take as many steps as a row if they are only counted.
    private static let countedOfRow = 10
    /// Bytes of JSON for each byte of a stored record. One record is returned regardless of its size. A
    /// reference of a few bytes names its zone.
    private static let jsonOfStoredByte = 100
    /// Steps to choose the best condition of a query.
    private static let choosingRows = 256 + 2_048

    private let limits: ServiceLimits
    private let items: Int

    init(_ limits: ServiceLimits) {
        self.limits = limits
        items = max(limits.itemsMax, limits.itemsWithExtrasMax)
    }

    private var search: QuerySearchLimits { limits.querySearch }

    private var bodyMemory: Int { limits.bodyBytesMax * Self.memoryOfBodyByte }

    /// Memory for records in a response.
    private var recordsMemory: Int {
        Self.memoryFixed + bodyMemory
            + (limits.answerBytesMax + limits.recordBytesMax) * Self.memoryOfAnswerByte
    }

    /// Bytes of an item in a response with names only, which JSON may double.
    private var itemBytes: Int { 8 * limits.nameBytesMax + 1_024 }

    private func diskBytes(rows: Int, bytes: Int = 0) -> Int {
        (rows * Self.pagesOfRow + Self.rowsFixed) * Self.pageBytes + 2 * bytes
    }

    /// For a body that isn't parsed.
    var unread: RequestBounds {
        RequestBounds(
            memoryBytes: Self.memoryFixed, answerBytes: itemBytes, rowsRead: Self.rowsFixed,
            countedBy: ["bodyBytesMax"])
    }

    /// A list of named items.
    func list(rowsOfItem: Int, itemsMax: Int? = nil) -> RequestBounds {
        let items = itemsMax ?? items + 1
        return RequestBounds(
            memoryBytes: Self.memoryFixed + bodyMemory + items * itemBytes * Self.memoryOfAnswerByte,
            answerBytes: (items + 1) * itemBytes, rowsRead: items * rowsOfItem + Self.rowsFixed,
            countedBy: ["bodyBytesMax", "itemsMax", "itemsWithExtrasMax", "nameBytesMax"])
    }

    /// One row in the file of the accounts.
    var discoverability: RequestBounds {
        var bounds = list(rowsOfItem: 1, itemsMax: 1)
        bounds.rowsWritten = Self.rowsFixed
        bounds.diskBytes = diskBytes(rows: Self.rowsFixed)
        return bounds
    }

    var lookup: RequestBounds {
        RequestBounds(
            memoryBytes: recordsMemory, answerBytes: limits.answerBytesMax,
            rowsRead: 2 * items + Self.rowsFixed,
            countedBy: ["bodyBytesMax", "itemsMax", "itemsWithExtrasMax", "answerBytesMax"])
    }

    private var pageAnswerBytes: Int {
        max(limits.answerBytesMax, limits.recordBytesMax * Self.jsonOfStoredByte)
    }

    /// If a page's JSON is too large, a smaller page is made.
    private var pagesMade: Int { PageSize.allCases.count }

    var changes: RequestBounds {
        RequestBounds(
            memoryBytes: recordsMemory + pageAnswerBytes * Self.memoryOfAnswerByte,
            answerBytes: pageAnswerBytes,
            rowsRead: pagesMade * 4 * items + Self.rowsFixed,
            countedBy: ["AnswerBudget", "PageSize", "answerBytesMax", "recordBytesMax", "itemsWithExtrasMax"])
    }

    func query(queries: Int) -> RequestBounds {
        let counted =
            limits.queryRowsExaminedMax * search.countedOfRow
            + queries
            * (limits.queryTermsMax
                * (min(search.gatheredMax, limits.queryRowsExaminedMax) + Self.choosingRows)
                + search.namesCountedMax)
        let rows =
            2 * limits.queryRowsExaminedMax + limits.queryProbesMax + counted / Self.countedOfRow
            + limits.queryZonesMax * (search.rowsInZoneMin + 1) + items
        let gathered = min(search.gatheredMax, limits.queryRowsExaminedMax)
        let keys = min(
            search.gatheredBytesMax,
            gathered * limits.queryTermsMax * (OrderedBytes.indexedBytesMax + search.bytesOfKey))
        return RequestBounds(
            memoryBytes: recordsMemory + pageAnswerBytes * Self.memoryOfAnswerByte + keys
                + gathered * Self.memoryOfRow,
            answerBytes: pageAnswerBytes, rowsRead: pagesMade * (rows + Self.rowsFixed),
            countedBy: [
                "AnswerBudget", "queryRowsExaminedMax", "queryProbesMax", "queryTermsMax", "queryZonesMax",
                "queriesMax", "QuerySearchLimits", "answerBytesMax",
            ])
    }

    var modify: RequestBounds {
        let read =
            6 * items + limits.dependantsMax + 4 * limits.cascadeRecordsMax + limits.referencesOfRequestMax
            + limits.referencesCountedMax / Self.countedOfRow + limits.ancestorsOfRequestMax + Self.rowsFixed
        let written =
            limits.rowsWrittenMax + limits.indexEntriesMax + limits.referencesOfRequestMax + 8 * items
            + 4 * limits.cascadeRecordsMax + Self.rowsFixed
        return RequestBounds(
            memoryBytes: recordsMemory + limits.bodyBytesMax * Self.memoryOfRecordByte
                + limits.indexEntriesOfRequestMax * Self.memoryOfRow
                + (limits.dependantsMax + limits.cascadeRecordsMax + limits.ancestorsOfRequestMax + items)
                    * Self.memoryOfRow,
            answerBytes: limits.answerBytesMax, rowsRead: read, rowsWritten: written,
            diskBytes: diskBytes(rows: written, bytes: limits.bodyBytesMax + limits.changedBytesMax),
            countedBy: [
                "bodyBytesMax", "itemsWithExtrasMax", "answerBytesMax", "changedBytesMax", "rowsWrittenMax",
                "indexEntriesOfRequestMax",
                "indexEntriesMax", "cascadeRecordsMax", "dependantsMax", "referencesOfRequestMax",
                "referencesCountedMax", "ancestorsOfRequestMax", "Quota",
            ])
    }

    var zonesModify: RequestBounds {
        let written = 12 * items + Self.rowsFixed
        return RequestBounds(
            memoryBytes: list(rowsOfItem: 1).memoryBytes, answerBytes: (items + 1) * itemBytes,
            rowsRead: 6 * items + Self.rowsFixed, rowsWritten: written, diskBytes: diskBytes(rows: written),
            countedBy: ["bodyBytesMax", "itemsWithExtrasMax", "privateZonesMax", "ClearingLimits"])
    }

    var subscriptionsModify: RequestBounds {
        let rows = items * (limits.devicesMax + 4) + limits.subscriptionsMax + Self.rowsFixed
        return RequestBounds(
            memoryBytes: subscriptions.memoryBytes, answerBytes: limits.answerBytesMax, rowsRead: rows,
            rowsWritten: rows, diskBytes: diskBytes(rows: rows, bytes: limits.bodyBytesMax),
            countedBy: [
                "bodyBytesMax", "itemsWithExtrasMax", "subscriptionsMax", "subscriptionBytesMax",
                "watchersMax",
                "devicesMax",
            ])
    }

    var subscriptions: RequestBounds {
        RequestBounds(
            memoryBytes: Self.memoryFixed + bodyMemory + limits.answerBytesMax * Self.memoryOfAnswerByte,
            answerBytes: min(
                limits.answerBytesMax,
                max(items, limits.subscriptionsMax) * (limits.subscriptionBytesMax + itemBytes)),
            rowsRead: limits.subscriptionsMax + Self.rowsFixed,
            countedBy: ["bodyBytesMax", "itemsWithExtrasMax", "subscriptionsMax", "subscriptionBytesMax"])
    }

    /// A renamed device keeps its pending pushes: one for each subscription.
    var tokens: RequestBounds {
        let rows = limits.devicesMax + 4 * limits.subscriptionsMax + Self.rowsFixed
        return RequestBounds(
            memoryBytes: Self.memoryFixed + bodyMemory + rows * limits.pushBytesMax, answerBytes: itemBytes,
            rowsRead: rows, rowsWritten: rows, diskBytes: diskBytes(rows: rows),
            countedBy: ["bodyBytesMax", "devicesMax", "subscriptionsMax", "pushBytesMax"])
    }

    var notifications: RequestBounds {
        RequestBounds(
            memoryBytes: recordsMemory, answerBytes: limits.answerBytesMax,
            rowsRead: 2 * limits.itemsMax + Self.rowsFixed,
            countedBy: ["bodyBytesMax", "itemsMax", "notificationsMax", "answerBytesMax"])
    }

    var notificationsRead: RequestBounds {
        let rows = 4 * items + limits.devicesMax * (2 * limits.subscriptionsMax + 4) + Self.rowsFixed
        return RequestBounds(
            memoryBytes: recordsMemory, answerBytes: (items + 1) * itemBytes, rowsRead: rows,
            rowsWritten: rows,
            diskBytes: diskBytes(rows: rows, bytes: items * limits.pushBytesMax),
            countedBy: [
                "bodyBytesMax", "itemsWithExtrasMax", "devicesMax", "subscriptionsMax", "pushBytesMax",
            ])
    }
}
