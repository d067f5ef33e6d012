import CloudWire

@testable import CloudService

/// A request of Bob's that names something of Ada's, and the same request with a name of nothing.
struct ForeignProbe: Sendable {
    /// What of Ada's is named: which pairs of values are put into the text.
    enum Kind: Hashable, Sendable {
        /// `$V`: a zone in one of many spellings.
        case zone
        /// `$V`: a value of `ForeignWorld` by this name.
        case value(String)
        /// Nothing in the body: the query, or a header.
        case session, device, operation
    }

    let kind: Kind
    let scopes: [String]
    let body: String

    init(_ kind: Kind, _ body: String = "{}", in scopes: [String] = ["private"]) {
        self.kind = kind
        self.scopes = scopes
        self.body = body
    }

    /// The rows of the sweep. A new endpoint needs some.
    static func rows(of endpoint: Endpoint) -> [ForeignProbe] {
        general(endpoint) + own(endpoint)
    }

    /// Who asks is asked of every endpoint: sessions like Ada's, and the names of her devices.
    private static func general(_ endpoint: Endpoint) -> [ForeignProbe] {
        let row = EndpointRow.row(of: endpoint)
        let scopes = row.isOfDevice ? ["device"] : row.scopes.map(\.rawValue)
        return [ForeignProbe(.session, in: scopes), ForeignProbe(.device, in: scopes)]
    }

    private static func own(_ endpoint: Endpoint) -> [ForeignProbe] {
        switch endpoint {
        case .recordsModify: modify
        case .recordsLookup: lookup
        case .recordsQuery: queries
        case .recordsQueryBatch:
            queries.map { ForeignProbe($0.kind, #"{"batch":[\#($0.body)]}"#, in: $0.scopes) }
        case .recordsChanges:
            [
                ForeignProbe(.zone, #"{"zoneID":$V}"#, in: ["private", "shared"]),
                ForeignProbe(.value("zoneToken"), #"{"zoneID":{"zoneName":"bobs"},"syncToken":"$V"}"#),
            ]
        case .changesZone:
            [
                ForeignProbe(.zone, #"{"zones":[{"zoneID":$V}]}"#, in: ["private", "shared"]),
                ForeignProbe(
                    .zone, #"{"zones":[{"zoneID":{"zoneName":"bobs"}},{"zoneID":$V,"reverse":true}]}"#),
                ForeignProbe(
                    .value("zoneToken"), #"{"zones":[{"zoneID":{"zoneName":"bobs"},"syncToken":"$V"}]}"#),
                ForeignProbe(
                    .value("zoneToken"),
                    #"{"zones":[{"zoneID":{"zoneName":"adas","ownerRecordName":"_ada"},"syncToken":"$V"}]}"#),
                ForeignProbe(
                    .value("databaseToken"), #"{"zones":[{"zoneID":{"zoneName":"bobs"},"syncToken":"$V"}]}"#),
            ]
        case .changesDatabase:
            ["zoneToken", "databaseToken", "feedToken"].map {
                ForeignProbe(.value($0), #"{"syncToken":"$V"}"#, in: ["private", "shared"])
            }
        case .zonesChanges:
            ["zoneToken", "databaseToken", "feedToken"].map {
                ForeignProbe(.value($0), #"{"metaSyncToken":"$V"}"#, in: ["private", "shared"])
            }
        case .zonesList:
            ["zoneToken", "databaseToken"].map { ForeignProbe(.value($0), #"{"syncToken":"$V"}"#) }
        case .zonesLookup: [ForeignProbe(.zone, #"{"zones":[$V]}"#, in: ["private", "shared", "public"])]
        case .zonesModify:
            ["create", "delete"].map { kind in
                ForeignProbe(.zone, #"{"operations":[{"operationType":"\#(kind)","zone":{"zoneID":$V}}]}"#)
            } + [ForeignProbe(.operation, #"{"operations":[]}"#)]
        case .assetsUpload:
            [
                ForeignProbe(
                    .zone, #"{"zoneID":$V,"tokens":[{"fieldName":"file","recordName":"own"}]}"#,
                    in: ["private", "shared"])
            ]
        case .assetsRereference: rereferences
        case .subscriptionsModify: subscriptions
        case .subscriptionsLookup:
            [
                ForeignProbe(
                    .value("subscription"), #"{"subscriptions":[{"subscriptionID":"$V"}]}"#,
                    in: ["private", "public"])
            ]
        case .usersDiscover, .usersLookupEmail, .usersLookupID: people(endpoint)
        case .tokensRegister, .tokensCreate, .notificationsList, .notificationsRead: people(endpoint)
        case .recordsResolve, .recordsAccept:
            [ForeignProbe(.value("record"), #"{"shortGUIDs":[{"value":"$V"}]}"#, in: ["public"])]
        case .recordsZipPrepare, .recordsCopyStart, .recordsCopyStatus:
            [ForeignProbe(.zone, #"{"zoneID":$V,"recordName":"secret"}"#, in: ["private", "shared"])]
        // They name nothing of anybody's: who asks is all that they look at.
        case .usersCaller, .usersCurrent, .usersLookupContacts, .usersDiscoverability, .subscriptionsList: []
        }
    }

    /// Who is found, and what belongs to devices.
    private static func people(_ endpoint: Endpoint) -> [ForeignProbe] {
        switch endpoint {
        case .usersDiscover:
            [
                ForeignProbe(.value("user"), #"{"lookupInfos":[{"userRecordName":"$V"}]}"#, in: ["public"]),
                ForeignProbe(.value("address"), #"{"lookupInfos":[{"emailAddress":"$V"}]}"#, in: ["public"]),
            ]
        case .usersLookupEmail:
            [ForeignProbe(.value("address"), #"{"users":[{"emailAddress":"$V"}]}"#, in: ["public"])]
        case .usersLookupID:
            [ForeignProbe(.value("user"), #"{"users":[{"userRecordName":"$V"}]}"#, in: ["public"])]
        case .tokensRegister:
            [
                ForeignProbe(
                    .value("deviceToken"), #"{"apnsEnvironment":"development","apnsToken":"$V"}"#,
                    in: ["device"])
            ]
        case .tokensCreate:
            [
                ForeignProbe(
                    .value("device"), #"{"apnsEnvironment":"development","clientId":"$V"}"#, in: ["device"])
            ]
        case .notificationsList:
            ["feedToken", "databaseToken"].map {
                ForeignProbe(.value($0), #"{"syncToken":"$V"}"#, in: ["device"])
            }
        case .notificationsRead:
            [ForeignProbe(.value("notification"), #"{"notificationIDs":["$V"]}"#, in: ["device"])]
        default: []
        }
    }

    // MARK: The endpoints with many

    private static let modify: [ForeignProbe] = {
        let kinds = [
            "create", "update", "replace", "forceUpdate", "forceReplace", "delete", "forceDelete",
        ]
        func operation(_ kind: String, _ record: String) -> String {
            #"{"operations":[{"operationType":"\#(kind)","record":{"recordType":"todo",\#(record)}}]"#
        }
        var probes = kinds.map { kind in
            ForeignProbe(.zone, operation(kind, #""recordName":"secret","zoneID":$V"#) + "}")
        }
        probes.append(
            ForeignProbe(
                .zone, operation("forceUpdate", #""recordName":"secret""#) + #","zoneID":$V}"#,
                in: ["private", "shared", "public"]))
        for action in ["NONE", "VALIDATE", "DELETE_SELF"] {
            let target = #"{"recordName":"secret","zoneID":$V,"action":"\#(action)"}"#
            probes.append(
                ForeignProbe(
                    .zone,
                    operation("forceUpdate", #""recordName":"own","fields":{"to":{"value":\#(target)}}"#)
                        + "}"))
        }
        probes.append(
            ForeignProbe(
                .zone,
                operation("forceUpdate", #""recordName":"own","parent":{"recordName":"secret","zoneID":$V}"#)
                    + "}"))
        probes.append(
            ForeignProbe(
                .value("tag"), operation("update", #""recordName":"own","recordChangeTag":"$V""#) + "}"))
        for value in ["receipt", "bobsReceiptOfAdasAddress"] {
            probes.append(
                ForeignProbe(
                    .value(value),
                    operation(
                        "forceUpdate", #""recordName":"own","fields":{"file":{"value":{"receipt":"$V"}}}"#)
                        + "}",
                    in: ["private", "public"]))
        }
        probes.append(
            ForeignProbe(
                .value("checksum"),
                operation(
                    "forceUpdate",
                    #""recordName":"own","fields":{"file":{"value":{"fileChecksum":"$V","size":3}}}"#)
                    + "}"))
        // That a public name is taken is no secret: who forces or creates is told. Who holds on to a version isn't.
        for kind in ["update", "replace", "delete"] {
            probes.append(
                ForeignProbe(
                    .value("publicRecord"),
                    #"{"operations":[{"operationType":"\#(kind)","record":{"recordType":"hidden","recordName":"$V","#
                        + #""recordChangeTag":"1.1"}}]}"#, in: ["public"]))
        }
        return probes + [ForeignProbe(.operation, #"{"operations":[]}"#)]
    }()

    private static let lookup: [ForeignProbe] = [
        ForeignProbe(
            .zone, #"{"records":[{"recordName":"secret"}],"zoneID":$V}"#, in: ["private", "shared", "public"]),
        ForeignProbe(.zone, #"{"records":[{"recordName":"secret","zoneID":$V},{"recordName":"own"}]}"#),
        ForeignProbe(.value("record"), #"{"records":[{"recordName":"$V"}]}"#),
        ForeignProbe(.value("publicRecord"), #"{"records":[{"recordName":"$V"}]}"#, in: ["public"]),
    ]

    private static let queries: [ForeignProbe] = [
        ForeignProbe(.zone, #"{"query":{"recordType":"todo"},"zoneID":$V}"#, in: ["private", "shared"]),
        ForeignProbe(
            .zone,
            #"{"query":{"recordType":"todo","filterBy":[{"comparator":"EQUALS","systemFieldName":"parent","#
                + #""fieldValue":{"value":{"recordName":"secret","zoneID":$V,"action":"VALIDATE"}}}]},"zoneWide":true}"#
        ),
        ForeignProbe(
            .value("marker"),
            #"{"query":{"recordType":"todo"},"zoneID":{"zoneName":"bobs"},"continuationMarker":"$V"}"#),
        ForeignProbe(
            .value("marker"), #"{"query":{"recordType":"todo"},"continuationMarker":"$V"}"#,
            in: ["private", "public"]),
        ForeignProbe(
            .value("publicRecord"),
            #"{"query":{"recordType":"hidden","filterBy":[{"comparator":"EQUALS","systemFieldName":"recordName","#
                + #""fieldValue":{"value":{"recordName":"$V"}}}]}}"#, in: ["public"]),
        ForeignProbe(
            .value("user"),
            #"{"query":{"recordType":"hidden","filterBy":[{"comparator":"EQUALS","systemFieldName":"#
                + #""createdUserRecordName","fieldValue":{"value":{"recordName":"$V"}}}]}}"#, in: ["public"]),
    ]

    private static let rereferences: [ForeignProbe] = [
        ForeignProbe(.zone, #"{"zoneID":$V,"assets":[{"recordName":"secret","fieldName":"file"}]}"#),
        ForeignProbe(.zone, #"{"targetZoneID":$V,"assets":[{"recordName":"own","fieldName":"file"}]}"#),
        ForeignProbe(.value("record"), #"{"assets":[{"recordName":"$V","fieldName":"file"}]}"#),
        ForeignProbe(
            .value("publicRecord"), #"{"assets":[{"recordName":"$V","fieldName":"file"}]}"#, in: ["public"]),
    ]

    private static let subscriptions: [ForeignProbe] = {
        func operation(_ kind: String, _ subscription: String) -> String {
            #"{"operations":[{"operationType":"\#(kind)","subscription":{\#(subscription)}}]}"#
        }
        let query = #""subscriptionID":"sub","subscriptionType":"query","query":{"recordType":"todo"},"#
        return [
            ForeignProbe(
                .zone, operation("create", #""subscriptionID":"sub","subscriptionType":"zone","zoneID":$V"#)),
            ForeignProbe(.zone, operation("create", query + #""firesOn":["create"],"zoneID":$V"#)),
            ForeignProbe(
                .value("subscription"), operation("delete", #""subscriptionID":"$V""#),
                in: ["private", "public"]),
            ForeignProbe(.operation, #"{"operations":[]}"#),
        ]
    }()
}
