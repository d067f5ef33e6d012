import CloudStore
import CloudWire
import Testing

@testable import CloudService

/// For each endpoint the requests that use the most of something, as far as the limits let them in.
enum WorstRequests {
    /// A request, and what was there before it.
    struct Case {
        let title: String
        let make: (WalkedCloud) throws -> WireRequest

        init(_ title: String, _ make: @escaping (WalkedCloud) throws -> WireRequest) {
            self.title = title
            self.make = make
        }
    }

    /// Those of an endpoint: an endpoint without a line doesn't compile.
    static func cases(_ endpoint: Endpoint) -> [Case] {
        switch endpoint {
        case .recordsModify: modifyCases
        case .recordsQuery: queryCases(.recordsQuery) { $0 }
        case .recordsQueryBatch: queryCases(.recordsQueryBatch, Self.batch)
        case .recordsLookup: lookupCases
        case .changesZone: changesCases(.changesZone) { #"{"zones":[{"zoneID":{"zoneName":"todos"}}]}"# }
        case .recordsChanges: changesCases(.recordsChanges) { #"{"zoneID":{"zoneName":"todos"}}"# }
        case .changesDatabase, .zonesChanges, .zonesList: [manyZones(endpoint)]
        case .zonesLookup: [zonesLookup]
        case .zonesModify: zonesModifyCases
        case .assetsUpload: [assetsUpload]
        case .assetsRereference: [rereference]
        case .usersDiscoverability:
            [
                Case("the user, found from now on") {
                    $0.request(
                        endpoint, Array(#"{"discoverable":true,"listed":true}"#.utf8), scope: .public)
                }
            ]
        case .usersCaller, .usersCurrent:
            [Case("the user") { $0.request(endpoint, scope: .public) }]
        case .usersDiscover, .usersLookupEmail, .usersLookupID, .usersLookupContacts: [people(endpoint)]
        case .subscriptionsModify: subscriptionCases
        case .subscriptionsList, .subscriptionsLookup: [subscriptionsThere(endpoint)]
        case .tokensCreate: [tokensCreate]
        case .tokensRegister: [tokensRegister]
        case .notificationsList, .notificationsRead: [notifications(endpoint)]
        case .recordsResolve, .recordsAccept:
            [Case("not served") { $0.request(endpoint, scope: .public) }]
        case .recordsZipPrepare, .recordsCopyStart, .recordsCopyStatus:
            [Case("not served") { $0.request(endpoint) }]
        }
    }

    /// A body of as many small values as it may have, which an endpoint reads and has no use for.
    static func dense(_ endpoint: Endpoint, _ scope: DatabaseScope) -> [Case] {
        ["0,", #"{"a":0},"#].map { value in
            Case("values \(value)") { cloud in
                cloud.request(endpoint, padded("{\"pad\":[", value, "0]}", cloud), scope: scope)
            }
        }
            + known(endpoint).map { start, value, end in
                Case("\(value) in \(start.prefix(20))") { cloud in
                    cloud.request(endpoint, padded(start, value, end, cloud), scope: scope)
                }
            }
    }

    /// Lists that an endpoint reads whole before it counts them.
    private static func known(_ endpoint: Endpoint) -> [(start: String, value: String, end: String)] {
        func list(_ start: String, _ value: String, _ end: String) -> (String, String, String) {
            (start, value + ",", value + end)
        }
        let record =
            #"{"operations":[{"operationType":"forceUpdate","record":{"recordName":"a","recordType":"todo","#
            + #""fields":{"x":{"value":["#
        let filter =
            #"{"query":{"recordType":"todo","filterBy":[{"comparator":"IN","fieldName":"x","#
            + #""fieldValue":{"value":["#
        let zone = #"{"zoneName":"a"}"#
        let name = #"{"recordName":"a"}"#
        let deletion = #"{"operationType":"delete","record":{"recordName":"a"}}"#
        switch endpoint {
        case .recordsModify:
            return [
                list(#"{"desiredKeys":["#, "\"\"", #"],"operations":[]}"#), list(record, "1", "]}}}}]}"),
                list(record, name, "]}}}}]}"), list(#"{"operations":["#, deletion, "]}"),
            ]
        case .recordsQuery: return [list(filter, "1", "]}}]}}")]
        case .recordsLookup: return [list(#"{"records":["#, name, "]}")]
        case .changesZone: return [list(#"{"zones":["#, #"{"zoneID":\#(zone)}"#, "]}")]
        case .zonesLookup: return [list(#"{"zones":["#, zone, "]}")]
        case .usersDiscover: return [list(#"{"lookupInfos":["#, "{}", "]}")]
        case .usersLookupEmail, .usersLookupID: return [list(#"{"users":["#, "{}", "]}")]
        case .notificationsRead: return [list(#"{"notificationIDs":["#, "\"\"", "]}")]
        default: return []
        }
    }

    /// A body that is as long as one may be.
    private static func padded(
        _ start: String, _ value: String, _ end: String, _ cloud: WalkedCloud
    ) -> [UInt8] {
        let count = (cloud.limits.bodyBytesMax - start.utf8.count - end.utf8.count) / value.utf8.count
        return Array((start + String(repeating: value, count: count) + end).utf8)
    }

    // MARK: Records

    static func text(_ bytes: Int, _ character: String = "x") -> [String: Field] {
        ["text": Field(.string(String(repeating: character, count: bytes)))]
    }

    /// A list of numbers, each of which is an entry of its index.
    static func numbers(_ count: Int, from first: Int = 0) -> [String: Field] {
        ["list": Field(.list(.int64List, (first..<first + count).map { .int64(Int64($0) * 1_000_003) }))]
    }

    private static func modify(
        _ cloud: WalkedCloud, _ operations: [RecordOperation], device: String? = nil
    ) throws -> WireRequest {
        let body = try RecordsModifyRequest(operations: operations, zoneID: WalkedCloud.zone).json(
            extras: true)
        return cloud.request(.recordsModify, body, device: device, operation: "worst")
    }

    /// As many records as an answer has room for, of so many bytes together.
    private static func fill(
        _ cloud: WalkedCloud, bytes: Int, character: String = "x"
    ) throws {
        let count = cloud.limits.itemsWithExtrasMax
        try cloud.makeZones(["todos"])
        let bytesOfOne = bytes / count
        let jsonBytes = bytesOfOne * (character == "x" ? 1 : 6) + 500
        try cloud.save(count, at: min(count, max(1, cloud.limits.bodyBytesMax / jsonBytes))) { _ in
            text(bytesOfOne, character)
        }
    }

    private static var modifyCases: [Case] {
        [
            Case("as many bytes as a body has") { cloud in
                try cloud.makeZones(["todos"])
                let count = cloud.limits.itemsWithExtrasMax
                let bytes = cloud.limits.bodyBytesMax / count - 200
                return try modify(cloud, (0..<count).map { WalkedCloud.save("r\($0)", text(bytes)) })
            },
            Case("as many fields") { cloud in
                try cloud.makeZones(["todos"])
                let fields = Dictionary(
                    uniqueKeysWithValues: (0..<300).map { ("f\($0)", Field(.int64(1))) })
                try cloud.modify([WalkedCloud.save("learned", fields)])
                return try modify(
                    cloud,
                    (0..<cloud.limits.itemsWithExtrasMax / 2).map { WalkedCloud.save("r\($0)", fields) })
            },
            Case("as many index entries") { cloud in
                try cloud.makeZones(["todos"])
                try cloud.modify([WalkedCloud.save("learned", numbers(1))])
                let count = cloud.limits.itemsWithExtrasMax
                let entries = cloud.limits.indexEntriesOfRequestMax / count - 8
                return try modify(
                    cloud,
                    (0..<count).map { WalkedCloud.save("r\($0)", numbers(entries, from: $0 * entries)) })
            },
            Case("records that had many index entries") { cloud in
                try entries(cloud, cloud.limits.itemsWithExtrasMax)
                return try modify(
                    cloud,
                    (0..<cloud.limits.itemsWithExtrasMax).map { WalkedCloud.save("r\($0)", numbers(1)) })
            },
            Case("deletions of records with many index entries") { cloud in
                try entries(cloud, cloud.limits.itemsWithExtrasMax)
                return try modify(
                    cloud,
                    (0..<cloud.limits.itemsWithExtrasMax).map {
                        WalkedCloud.save("r\($0)", kind: .forceDelete)
                    })
            },
            Case("a deletion that takes along records with many index entries") { cloud in
                try crowd(cloud, entries: cloud.limits.indexEntriesMax - 20)
                return try modify(cloud, deletions(cloud))
            },
            Case("a deletion that takes along as many records as it may") { cloud in
                try crowd(cloud, entries: 1)
                return try modify(cloud, deletions(cloud))
            },
            Case("as many references") { cloud in
                try cloud.makeZones(["todos"])
                try cloud.save(1) { _ in [:] }
                return try modify(
                    cloud,
                    (0..<4).map { number in
                        let references = (0..<450).map { index in
                            FieldValue.reference(
                                Reference(recordName: "\(number * 450 + index)", action: .deleteSelf))
                        }
                        return WalkedCloud.save(
                            "a\(number)", ["to": Field(.list(.referenceList, references))])
                    })
            },
            Case("parents with as many ancestors") { cloud in
                try cloud.makeZones(["todos"])
                let (lines, length) = (5, cloud.limits.ancestorsMax)
                for line in 0..<lines {
                    for first in stride(from: 0, to: length, by: cloud.limits.itemsWithExtrasMax) {
                        let last = min(length, first + cloud.limits.itemsWithExtrasMax)
                        try cloud.modify(
                            (first..<last).map { child("l\(line)-\($0)", of: "l\(line)-\($0 - 1)", $0) })
                    }
                }
                return try modify(cloud, (0..<lines).map { child("new\($0)", of: "l\($0)-\(length - 1)", 1) })
            },
            Case("conflicts that show large records") { cloud in
                try fill(cloud, bytes: cloud.limits.answerBytesMax * 7 / 8)
                return try modify(
                    cloud,
                    (0..<cloud.limits.itemsWithExtrasMax).map {
                        WalkedCloud.save("r\($0)", kind: .create, text(1))
                    })
            },
        ]
    }

    /// A record below `parent`; below none when its number is 0.
    private static func child(_ name: String, of parent: String, _ number: Int) -> RecordOperation {
        var operation = WalkedCloud.save(name)
        if number > 0 { operation.record.parent = Reference(recordName: parent) }
        return operation
    }

    /// Records with as many index entries as one may have.
    private static func entries(_ cloud: WalkedCloud, _ count: Int) throws {
        try cloud.makeZones(["todos"])
        try cloud.modify([WalkedCloud.save("learned", numbers(1))])
        let entries = cloud.limits.indexEntriesMax - 20
        try cloud.save(count, at: cloud.limits.indexEntriesOfRequestMax / cloud.limits.indexEntriesMax) {
            numbers(entries, from: $0 * entries)
        }
    }

    /// Parents, and as many records that go with them as may go, with so many entries.
    private static func crowd(_ cloud: WalkedCloud, entries: Int) throws {
        try cloud.makeZones(["todos"])
        let of = cloud.limits.deleteSelfReferencesMax
        try cloud.modify((0..<parents(cloud)).map { WalkedCloud.save("p\($0)") })
        try cloud.modify([WalkedCloud.save("learned", numbers(1))])
        try cloud.save(
            cloud.limits.cascadeRecordsMax,
            at: max(1, min(40, cloud.limits.indexEntriesOfRequestMax / (entries + 20)))
        ) { number in
            let parent = Reference(recordName: "p\(number / of)", action: .deleteSelf)
            return numbers(entries, from: number * entries).merging(["to": Field(.reference(parent))]) { $1 }
        }
    }

    private static func parents(_ cloud: WalkedCloud) -> Int {
        (cloud.limits.cascadeRecordsMax + cloud.limits.deleteSelfReferencesMax - 1)
            / cloud.limits.deleteSelfReferencesMax
    }

    private static func deletions(_ cloud: WalkedCloud) -> [RecordOperation] {
        (0..<parents(cloud)).map { WalkedCloud.save("p\($0)", kind: .forceDelete) }
    }

    private static var lookupCases: [Case] {
        [("text", "x"), ("text that grows as JSON", "\u{1}")].map { title, character in
            Case("as many bytes as an answer has, \(title)") { cloud in
                try fill(cloud, bytes: cloud.limits.answerBytesMax * 15 / 16, character: character)
                let names = (0..<cloud.limits.itemsWithExtrasMax).map { #"{"recordName":"r\#($0)"}"# }
                return cloud.request(
                    .recordsLookup,
                    Array(
                        #"{"records":[\#(names.joined(separator: ","))],"zoneID":{"zoneName":"todos"}}"#.utf8)
                )
            }
        }
    }

    private static func changesCases(_ endpoint: Endpoint, _ body: @escaping () -> String) -> [Case] {
        [("text", "x"), ("text that grows as JSON", "\u{1}")].map { title, character in
            Case("as many bytes as an answer has, \(title)") { cloud in
                try fill(cloud, bytes: cloud.limits.answerBytesMax * 15 / 16, character: character)
                return cloud.request(endpoint, Array(body().utf8))
            }
        } + [
            Case("a record whose JSON is long") { cloud in
                let name = longName(1)
                try cloud.makeZones([name])
                let references = (0..<450).map {
                    FieldValue.reference(
                        Reference(
                            recordName: "\($0)", zoneID: ZoneID(zoneName: name), action: Reference.Action.none
                        ))
                }
                try cloud.modify(
                    [WalkedCloud.save("a", ["to": Field(.list(.referenceList, references))])],
                    zone: ZoneID(zoneName: name))
                return cloud.request(
                    endpoint, Array(body().replacing("todos", with: name.replacing("\"", with: "\\\"")).utf8))
            },
            Case("many zones") { cloud in
                let count = endpoint == .changesZone ? cloud.limits.itemsWithExtrasMax : 1
                try cloud.makeZones((0..<count).map { "zone\($0)" } + ["todos"])
                try cloud.save(count, zone: ZoneID(zoneName: "zone0")) { _ in text(1) }
                let zones = (0..<count).map { #"{"zoneID":{"zoneName":"zone\#($0)"}}"# }
                guard endpoint == .changesZone else { return cloud.request(endpoint, Array(body().utf8)) }
                return cloud.request(endpoint, Array(#"{"zones":[\#(zones.joined(separator: ","))]}"#.utf8))
            },
        ]
    }

    // MARK: Queries

    private static func batch(_ query: String) -> String {
        #"{"batch":[\#(Array(repeating: query, count: 4).joined(separator: ","))]}"#
    }

    private static func queryCases(_ endpoint: Endpoint, _ body: @escaping (String) -> String) -> [Case] {
        func query(_ title: String, _ text: String, _ prepare: @escaping (WalkedCloud) throws -> Void) -> Case
        {
            Case(title) { cloud in
                try prepare(cloud)
                return cloud.request(endpoint, Array(body(text).utf8))
            }
        }
        let zone = #""zoneID":{"zoneName":"todos"}"#
        let nowhere =
            #"{"comparator":"NOT_EQUALS","fieldName":"n0","fieldValue":{"value":0}}"#
        let sort = #""sortBy":[{"fieldName":"n1","ascending":true}]"#
        let many = (0..<16).map { #"{"comparator":"EQUALS","fieldName":"n\#($0)","fieldValue":{"value":0}}"# }
            .joined(separator: ",")
        let sorts = Array(repeating: #"{"fieldName":"text","ascending":true}"#, count: 16)
            .joined(separator: ",")
        func numbered(_ cloud: WalkedCloud, _ count: Int, zone: String = "todos") throws {
            try cloud.save(count, zone: ZoneID(zoneName: zone)) { _ in
                Dictionary(uniqueKeysWithValues: (0..<16).map { ("n\($0)", Field(.int64(0))) })
            }
        }
        return [
            query(
                "records that are none of the query's",
                #"{"query":{"recordType":"todo","filterBy":[\#(nowhere)]},\#(zone)}"#
            ) {
                try $0.makeZones(["todos"])
                try numbered($0, $0.limits.queryRowsExaminedMax * 2)
            },
            query(
                "the same, sorted",
                #"{"query":{"recordType":"todo","filterBy":[\#(nowhere)],\#(sort)},\#(zone)}"#
            ) {
                try $0.makeZones(["todos"])
                try numbered($0, $0.limits.queryRowsExaminedMax * 2)
            },
            query(
                "many conditions that many records have, in many zones",
                #"{"query":{"recordType":"todo","filterBy":[\#(many),\#(nowhere)]},"zoneWide":true}"#
                    .replacing(
                        #"{"comparator":"EQUALS","fieldName":"n15","fieldValue":{"value":0}},"#, with: "")
            ) { cloud in
                let zones = (0..<40).map { "zone\($0)" }
                try cloud.makeZones(zones)
                for zone in zones { try numbered(cloud, 80, zone: zone) }
            },
            query(
                "many sorts by long texts", #"{"query":{"recordType":"todo","sortBy":[\#(sorts)]},\#(zone)}"#
            ) {
                try $0.makeZones(["todos"])
                try $0.save(300) { text(600).merging(["n0": Field(.int64(Int64($0)))]) { $1 } }
            },
            query(
                "as many bytes as an answer has",
                #"{"query":{"recordType":"todo"},"resultsLimit":40,\#(zone)}"#
            ) {
                try fill($0, bytes: $0.limits.answerBytesMax * 15 / 16, character: "\u{1}")
            },
            query("the same, of text", #"{"query":{"recordType":"todo"},"resultsLimit":40,\#(zone)}"#) {
                try fill($0, bytes: $0.limits.answerBytesMax * 15 / 16)
            },
        ]
    }

    // MARK: Zones

    private static func manyZones(_ endpoint: Endpoint) -> Case {
        Case("many zones") { cloud in
            try cloud.makeZones((0..<cloud.limits.itemsWithExtrasMax + 5).map(longName))
            return cloud.request(
                endpoint, Array(#"{"resultsLimit":\#(cloud.limits.itemsWithExtrasMax)}"#.utf8))
        }
    }

    /// A name as long as one may be, which JSON makes longer.
    static func longName(_ number: Int) -> String {
        "n\(number)" + String(repeating: "\"", count: 250 - "\(number)".utf8.count)
    }

    private static var zonesLookup: Case {
        Case("many zones") { cloud in
            let names = (0..<cloud.limits.itemsWithExtrasMax).map(longName)
            try cloud.makeZones(names)
            return cloud.request(
                .zonesLookup,
                try ZonesLookupRequest(zones: names.map { ZoneID(zoneName: $0) }).json(extras: true))
        }
    }

    private static var zonesModifyCases: [Case] {
        [
            Case("many zones made") { cloud in
                let names = (0..<cloud.limits.itemsWithExtrasMax).map(longName)
                return cloud.request(.zonesModify, try WalkedCloud.zones(.create, names), operation: "worst")
            },
            Case("many zones deleted") { cloud in
                let names = (0..<cloud.limits.itemsWithExtrasMax).map(longName)
                try cloud.makeZones(names)
                for name in names { try cloud.save(1, zone: ZoneID(zoneName: name)) { _ in text(1) } }
                return cloud.request(.zonesModify, try WalkedCloud.zones(.delete, names), operation: "worst")
            },
        ]
    }

    // MARK: Files

    private static var assetsUpload: Case {
        Case("many files") { cloud in
            let token =
                #"{"recordName":"\#(String(repeating: "r", count: 200))","recordType":"todo","fieldName":"file"}"#
            let tokens = Array(repeating: token, count: cloud.limits.itemsWithExtrasMax).joined(
                separator: ",")
            return cloud.request(.assetsUpload, Array(#"{"tokens":[\#(tokens)]}"#.utf8))
        }
    }

    private static var rereference: Case {
        Case("many large records") { cloud in
            try fill(cloud, bytes: cloud.limits.answerBytesMax * 15 / 16)
            let assets = (0..<cloud.limits.itemsWithExtrasMax).map {
                #"{"recordName":"r\#($0)","recordType":"todo","fieldName":"text"}"#
            }
            return cloud.request(
                .assetsRereference,
                Array(#"{"assets":[\#(assets.joined(separator: ","))],"zoneID":{"zoneName":"todos"}}"#.utf8))
        }
    }

    // MARK: Users

    private static func people(_ endpoint: Endpoint) -> Case {
        Case("many people") { cloud in
            var infos: [String] = []
            for number in 0..<cloud.limits.itemsWithExtrasMax + 5 {
                let email = "person\(number)@" + String(repeating: "e", count: 180) + ".example"
                let name = try cloud.addPerson("person\(number)", email: email)
                let isByName = endpoint == .usersLookupID
                infos.append(isByName ? #"{"userRecordName":"\#(name)"}"# : #"{"emailAddress":"\#(email)"}"#)
            }
            let list = infos.prefix(cloud.limits.itemsWithExtrasMax).joined(separator: ",")
            let body = endpoint == .usersDiscover ? #"{"lookupInfos":[\#(list)]}"# : #"{"users":[\#(list)]}"#
            let isListing = endpoint == .usersLookupContacts
            return cloud.request(endpoint, Array((isListing ? "{}" : body).utf8), scope: .public)
        }
    }

    // MARK: Subscriptions and pushes

    private static func subscription(_ id: String, bytes: Int) -> String {
        let text = String(repeating: "x", count: bytes)
        let filter = #"{"comparator":"EQUALS","fieldName":"text","fieldValue":{"value":"\#(text)"}}"#
        return #"{"subscriptionID":"\#(id)","subscriptionType":"query","#
            + #""query":{"recordType":"todo","filterBy":[\#(filter)]},"firesOn":["create"]}"#
    }

    private static func subscribe(_ cloud: WalkedCloud, _ kind: String, bytes: Int) -> [UInt8] {
        let operations = (0..<cloud.limits.subscriptionsMax).map {
            #"{"operationType":"\#(kind)","subscription":\#(subscription("s\($0)", bytes: bytes))}"#
        }
        return Array(#"{"operations":[\#(operations.joined(separator: ","))]}"#.utf8)
    }

    private static func prepareSubscriptions(_ cloud: WalkedCloud) throws {
        try cloud.makeZones(["todos"])
        try cloud.save(1) { _ in text(1) }
    }

    private static var subscriptionCases: [Case] {
        ["create", "delete"].map { kind in
            Case("many subscriptions, \(kind)") { cloud in
                try prepareSubscriptions(cloud)
                let bytes = cloud.limits.subscriptionBytesMax - 400
                for number in 0..<cloud.limits.devicesMax { _ = try cloud.makeDevice("device\(number)") }
                if kind == "delete" {
                    try cloud.ask(
                        cloud.request(.subscriptionsModify, subscribe(cloud, "create", bytes: bytes)))
                }
                return cloud.request(
                    .subscriptionsModify, subscribe(cloud, kind, bytes: kind == "delete" ? 1 : bytes),
                    operation: "worst")
            }
        }
    }

    private static func subscriptionsThere(_ endpoint: Endpoint) -> Case {
        Case("many subscriptions") { cloud in
            try prepareSubscriptions(cloud)
            let bytes = cloud.limits.subscriptionBytesMax - 400
            try cloud.ask(cloud.request(.subscriptionsModify, subscribe(cloud, "create", bytes: bytes)))
            let asked = Array(
                repeating: #"{"subscriptionID":"s0"}"#, count: cloud.limits.itemsWithExtrasMax)
            return cloud.request(
                endpoint,
                Array(
                    (endpoint == .subscriptionsList
                        ? "{}" : #"{"subscriptions":[\#(asked.joined(separator: ","))]}"#).utf8))
        }
    }

    private static var tokensCreate: Case {
        Case("one device more than there may be") { cloud in
            for number in 0..<cloud.limits.devicesMax { _ = try cloud.makeDevice("device\(number)") }
            return cloud.request(
                .tokensCreate, Array(#"{"apnsEnvironment":"development","clientId":"another"}"#.utf8))
        }
    }

    private static var tokensRegister: Case {
        Case("a device with many pushes gets another name") { cloud in
            try cloud.notify(cloud.limits.subscriptionsMax)
            let token = try cloud.makeDevice("device")
            return cloud.request(
                .tokensRegister,
                Array(
                    #"{"apnsEnvironment":"development","apnsToken":"\#(token)","clientId":"another"}"#.utf8))
        }
    }

    private static func notifications(_ endpoint: Endpoint) -> Case {
        Case("many notifications") { cloud in
            for number in 0..<cloud.limits.devicesMax - 1 { _ = try cloud.makeDevice("device\(number)") }
            try cloud.notify(cloud.limits.itemsWithExtrasMax * 2)
            guard endpoint == .notificationsRead else { return cloud.request(endpoint) }
            let list = try cloud.ask(cloud.request(.notificationsList))
            var names = try NotificationsListResponse(json: list.body).notifications.map(\.notificationID)
            names += names.indices.map { "none\($0)" }
            return cloud.request(
                endpoint,
                try NotificationsReadRequest(
                    notificationIDs: Array(names.prefix(cloud.limits.itemsWithExtrasMax))
                )
                .json(extras: true))
        }
    }
}
