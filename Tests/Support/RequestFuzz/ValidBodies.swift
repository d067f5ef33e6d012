import CloudService
import CloudWire

/// Bodies that the service takes: for each endpoint of its table one that does something. A new endpoint needs a line.
struct ValidBodies {
    static let zones = ["todos", "other"]
    static let recordTypes = ["todo", "post"]
    static let recordNames = ["a", "b", "c", "d", "e", "f", "g", "h"]

    let draw: Draw
    let scope: DatabaseScope
    /// What the asking user was given.
    let own: SealedValues

    /// The body of a request that is right; nil for an empty one.
    func body(of endpoint: Endpoint) -> JSONTree? {
        switch endpoint {
        case .recordsModify: recordsModify
        case .recordsQuery: query
        case .recordsQueryBatch: ["batch": .list(draw.some(1..<4) { query })]
        case .recordsLookup: recordsLookup
        case .recordsChanges: zoneChanges
        case .recordsResolve, .recordsAccept: ["shortGUIDs": [["value": "0a1B2c"]]]
        case .recordsZipPrepare: ["recordName": name, "zoneID": zoneID]
        case .recordsCopyStart, .recordsCopyStatus: ["sourceZoneID": zoneID, "recordName": name]
        case .changesDatabase: databaseChanges(token: "syncToken")
        case .changesZone: changesZone
        case .zonesList: draw.once(in: 2) ? nil : ["resultsLimit": 10]
        case .zonesLookup: ["zones": .list(draw.some(1..<4) { zoneID })]
        case .zonesModify: zonesModify
        case .zonesChanges: databaseChanges(token: "metaSyncToken")
        case .assetsUpload: assetsUpload
        case .assetsRereference:
            [
                "zoneID": zoneID,
                "assets": .list(draw.some(1..<3) { ["recordName": name, "fieldName": "file"] }),
            ]
        case .usersCaller, .usersCurrent, .usersLookupContacts: nil
        case .usersDiscover:
            [
                "lookupInfos": [
                    ["emailAddress": "ada@example.com"], ["userRecordName": user], ["phoneNumber": "1"],
                ]
            ]
        case .usersLookupEmail:
            ["users": [["emailAddress": "ada@example.com"], ["emailAddress": "eve@example.com"]]]
        case .usersLookupID: ["users": .list(draw.some(1..<4) { ["userRecordName": user] })]
        case .usersDiscoverability:
            draw.once(in: 2) ? ["discoverable": true, "listed": flag] : ["discoverable": flag]
        case .subscriptionsModify: subscriptionsModify
        case .subscriptionsList: nil
        case .subscriptionsLookup:
            ["subscriptions": .list(draw.some(1..<4) { ["subscriptionID": subscriptionID] })]
        case .tokensCreate:
            ["apnsEnvironment": "development", "clientId": .text(draw.one(of: ["phone", "pad"]))]
        case .tokensRegister:
            // What was never made is the right question too: it gets NOT_FOUND.
            ["apnsEnvironment": "development", "apnsToken": sealed("apnsToken")]
        case .notificationsList: databaseChanges(token: "syncToken").with("unreadOnly", flag)
        case .notificationsRead: ["notificationIDs": .list(draw.some(1..<4) { sealed("notificationID") })]
        }
    }

    // MARK: Parts

    private var flag: JSONTree { .raw(draw.one(of: ["true", "false"])) }
    private var name: JSONTree { .text(draw.one(of: Self.recordNames)) }
    private var user: JSONTree { .text(draw.one(of: ["_ada", "_mallory", "_eve", "_none"])) }
    private var subscriptionID: JSONTree { .text(draw.one(of: ["s", "t", "u"])) }
    private var recordType: JSONTree { .text(draw.one(of: Self.recordTypes)) }

    /// The public database has one zone.
    var zoneID: JSONTree {
        ["zoneName": .text(scope == .public || draw.once(in: 5) ? "_defaultZone" : draw.one(of: Self.zones))]
    }

    private var customZoneID: JSONTree { ["zoneName": .text(draw.one(of: Self.zones))] }

    private func sealed(_ key: String) -> JSONTree {
        let values = own.of(key)
        return .text(values.isEmpty ? "none" : draw.one(of: values))
    }

    private var recordsModify: JSONTree {
        var names = Self.recordNames
        let operations = draw.some(1..<5) { () -> JSONTree in
            operation(names.remove(at: draw.number(0..<names.count)))
        }
        return JSONTree.object([.init(key: "operations", value: .list(operations))]).with("zoneID", zoneID)
            .with("atomic", draw.once(in: 2) ? flag : nil)
            .with("desiredKeys", draw.once(in: 4) ? ["s", "n"] : nil)
            .with("numbersAsStrings", draw.once(in: 4) ? flag : nil)
    }

    private func operation(_ name: String) -> JSONTree {
        let kind = draw.one(of: [
            "create", "update", "forceUpdate", "forceUpdate", "replace", "forceReplace", "delete",
            "forceDelete",
        ])
        var record: JSONTree = ["recordName": .text(name), "recordType": recordType]
        if !kind.lowercased().hasSuffix("delete") { record = record.with("fields", fields) }
        if !kind.hasPrefix("force"), kind != "create" {
            record = record.with("recordChangeTag", sealed("recordChangeTag"))
        }
        if draw.once(in: 8) { record = record.with("parent", ["recordName": self.name]) }
        return ["operationType": .text(kind), "record": record]
    }

    /// A field of each type has one name, since a schema knows it by the first value.
    private var fields: JSONTree {
        let values: [(String, () -> JSONTree)] = [
            ("s", { .text(draw.one(of: ["", "apple pie", "apple", "\u{e9}t\u{e9}"])) }),
            ("n", { .raw("\(draw.number(-2..<100))") }), ("t", { .raw("\(draw.number(0..<100_000))") }),
            ("l", { ["a", "b"] }), ("b", { ["value": "AQI=", "type": "BYTES"] }),
            (
                "r",
                { ["recordName": name, "action": .text(draw.one(of: ["NONE", "DELETE_SELF", "VALIDATE"]))] }
            ),
            ("p", { ["latitude": .raw("\(draw.number(-90..<91))"), "longitude": 7] }),
            ("d", { .raw("\(Double(draw.number(0..<100)) / 4)") }), ("file", { asset }),
        ]
        let types = ["t": "TIMESTAMP", "d": "DOUBLE", "p": "LOCATION", "r": "REFERENCE", "l": "STRING_LIST"]
        var object = JSONTree.object([])
        for (key, value) in values where draw.once(in: 3) {
            var field = value()
            if key != "b" { field = ["value": field] }
            object = object.with(key, field.with("type", types[key].map { .text($0) }))
        }
        return object
    }

    private var asset: JSONTree {
        let receipts = own.of("receipt")
        guard !receipts.isEmpty else { return .raw("null") }
        return ["receipt": .text(draw.one(of: receipts))]
    }

    private var recordsLookup: JSONTree {
        let items = draw.some(1..<4) { () -> JSONTree in
            draw.once(in: 3) ? ["recordName": name, "desiredKeys": ["s"]] : ["recordName": name]
        }
        return ["records": .list(items), "zoneID": zoneID]
    }

    var query: JSONTree {
        let filters: [JSONTree] = [
            filter("EQUALS", "s", "apple"), filter("BEGINS_WITH", "s", "a"), filter("IN", "n", [1, 2, 3]),
            filter("NOT_EQUALS", "n", 7), filter("LESS_THAN", "n", 50),
            filter("GREATER_THAN_OR_EQUALS", "d", 2),
            filter("LIST_CONTAINS", "l", "a"), filter("CONTAINS_ALL_TOKENS", "s", "apple"),
            filter("NEAR", "p", ["latitude": 1, "longitude": 2]).with("distance", 1_000_000),
            filter("EQUALS", "r", ["recordName": name, "action": "NONE"]),
            [
                "comparator": "EQUALS", "systemFieldName": "recordName",
                "fieldValue": ["value": ["recordName": name]],
            ],
            [
                "comparator": "GREATER_THAN", "systemFieldName": "modifiedTimestamp",
                "fieldValue": ["value": 0],
            ],
        ]
        let sorts: [JSONTree] = [
            ["fieldName": "n", "ascending": flag], ["fieldName": "s"],
            [
                "fieldName": "p",
                "relativeLocation": ["value": ["latitude": 1, "longitude": 2], "type": "LOCATION"],
            ],
            ["systemFieldName": "createdTimestamp", "ascending": flag],
        ]
        var query: JSONTree = ["recordType": recordType]
        if draw.once(in: 2) {
            query = query.with("filterBy", .list(draw.some(1..<4) { draw.one(of: filters) }))
        }
        if draw.once(in: 2) { query = query.with("sortBy", .list(draw.some(1..<3) { draw.one(of: sorts) })) }
        let markers = own.of("continuationMarker")
        return JSONTree.object([.init(key: "query", value: query)])
            .with("zoneID", draw.once(in: 4) ? nil : zoneID)
            .with("zoneWide", draw.once(in: 4) && scope != .public ? true : nil)
            .with("resultsLimit", draw.once(in: 2) ? .raw("\(draw.number(1..<4))") : nil)
            .with(
                "continuationMarker",
                draw.once(in: 8) && !markers.isEmpty ? .text(draw.one(of: markers)) : nil)
    }

    private func filter(_ comparator: String, _ field: String, _ value: JSONTree) -> JSONTree {
        ["comparator": .text(comparator), "fieldName": .text(field), "fieldValue": ["value": value]]
    }

    private func databaseChanges(token: String) -> JSONTree {
        let tokens = own.of("syncToken", "metaSyncToken")
        return JSONTree.object([]).with("resultsLimit", draw.once(in: 2) ? 3 : nil)
            .with(token, draw.once(in: 3) && !tokens.isEmpty ? .text(draw.one(of: tokens)) : nil)
    }

    private var zoneChanges: JSONTree {
        let tokens = own.of("syncToken")
        return JSONTree.object([.init(key: "zoneID", value: customZoneID)])
            .with("resultsLimit", draw.once(in: 2) ? 2 : nil)
            .with("reverse", draw.once(in: 4) ? true : nil)
            .with("desiredKeys", draw.once(in: 4) ? ["s"] : nil)
            .with("desiredRecordTypes", draw.once(in: 4) ? ["todo"] : nil)
            .with("syncToken", draw.once(in: 3) && !tokens.isEmpty ? .text(draw.one(of: tokens)) : nil)
    }

    private var changesZone: JSONTree {
        JSONTree.object([.init(key: "zones", value: .list(draw.some(1..<4) { zoneChanges }))])
            .with("resultsLimit", draw.once(in: 3) ? 5 : nil)
    }

    private var zonesModify: JSONTree {
        let names = ["z0", "z1", "z2"].filter { _ in draw.once(in: 2) } + [draw.one(of: Self.zones)]
        let operations = names.map { name -> JSONTree in
            let isDelete = draw.once(in: 3) && !Self.zones.contains(name)
            return [
                "operationType": isDelete ? "delete" : "create",
                "zone": ["zoneID": ["zoneName": .text(name)]],
            ]
        }
        return ["operations": .list(operations)]
    }

    private var assetsUpload: JSONTree {
        let tokens = draw.some(1..<3) { () -> JSONTree in
            JSONTree.object([.init(key: "fieldName", value: "file")])
                .with("recordType", draw.once(in: 2) ? recordType : nil)
                .with("recordName", draw.once(in: 2) ? name : nil)
        }
        return ["tokens": .list(tokens), "zoneID": zoneID]
    }

    private var subscriptionsModify: JSONTree {
        let subscription: JSONTree =
            scope == .public || draw.once(in: 2)
            ? [
                "subscriptionID": subscriptionID, "subscriptionType": "query",
                "firesOn": ["create", "update"],
                "query": ["recordType": recordType], "notificationInfo": ["alertBody": "changed"],
            ]
            : draw.once(in: 2)
                ? ["subscriptionID": subscriptionID, "subscriptionType": "zone", "zoneID": customZoneID]
                : ["subscriptionID": subscriptionID, "subscriptionType": "database"]
        let kind = draw.once(in: 5) ? "delete" : "create"
        return ["operations": [["operationType": .text(kind), "subscription": subscription]]]
    }
}
