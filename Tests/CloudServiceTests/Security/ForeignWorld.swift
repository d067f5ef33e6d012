import CloudStore
import CloudWire
import System
import Testing

@testable import CloudService

/// A service with Bob, and with Ada unless it is the one in which she never was.
struct ForeignWorld {
    static let users = [
        "adas-session": ServiceUser(
            userRecordName: "_ada", givenName: "Ada", emailAddress: "ada@example.com"),
        "bob": ServiceUser(userRecordName: "_bob"),
    ]

    let store: any CloudStore
    let cloud: TestService
    /// Ada's values by their names, and for each one like it that stands for nothing.
    private(set) var pairs: [String: (adas: String, nobodys: String)] = [:]

    init(store: any CloudStore, hasAda: Bool) throws {
        self.store = store
        let clock = ManualTimeSource()
        cloud = TestService(
            service: CloudService(
                store: store, clock: clock, random: SeededRandomSource(seed: 7),
                container: TestService.container,
                users: Self.users.filter { hasAda || $0.value.userRecordName != "_ada" }), clock: clock)
        try Self.learn(cloud, store)
        try Self.fill(cloud, zone: "bobs", record: "own", user: "bob")
        guard hasAda else { return }
        try Self.fill(cloud, zone: "adas", record: "secret", user: "adas-session")
        try collect()
    }

    // MARK: What there is

    /// Types that the schema knows; nobody but its maker may read a record of the type `hidden`.
    private static func learn(_ cloud: TestService, _ store: any CloudStore) throws {
        let fields = ["s": Field(.string("")), "to": reference("x", .none)]
        try cloud.modify([operation(.create, "learned", fields)], zone: nil, token: "bob")
        try cloud.modify(
            [operation(.create, "learned", type: "hidden")], zone: nil, database: "public", token: "bob")
        try store.write { writer in
            var wanted = StoreLoad()
            wanted.schema = true
            guard let row = try writer.load(wanted).schema else { throw CloudStoreError.busy(path: "schema") }
            var schema = try Schema(row)
            schema.recordTypes["hidden"]?.grants = [
                SystemRole.creator: [.read, .write], SystemRole.signedIn: .create,
            ]
            var changes = StoreChanges()
            changes.schema = schema.row(version: row.version + 99)
            try writer.apply(changes)
        }
    }

    private static func fill(_ cloud: TestService, zone: String, record: String, user: String) throws {
        let zoneID = ZoneID(zoneName: zone)
        try cloud.zones(.create, [zoneID], token: user)
        let file = try upload(cloud, zone: zoneID, ticket: ticket(cloud, zone: zoneID, user: user))
        let held = Field(.asset(file))
        for place in [zoneID, ZoneID()] {
            let usual = place.isDefault ? [:] : ["file": held]
            let fields = ["s": Field(.string("what is \(user)'s"))].merging(usual) { $1 }
            let results = try cloud.modify(
                [operation(.create, record, fields), operation(.create, "\(record)s child", parent: record)],
                zone: place, token: user)
            #expect(results.summaries == ["saved", "saved"])
        }
        try cloud.modify(
            [operation(.create, "\(record)s page", type: "hidden")], zone: nil, database: "public",
            token: user)
        _ = try cloud.device("\(record)s phone", user: user)
        try cloud.subscribe("\(record)s zone", zone: zoneID, user: user)
        for database in ["private", "public"] {
            try cloud.watch("\(record)s watch", type: "hidden", database: database, user: user)
        }
        try cloud.change(
            [operation(.create, "changed", type: "hidden")], from: "\(record)s pad", zone: zoneID, user: user)
    }

    static func ticket(_ cloud: TestService, zone: ZoneID, user: String) throws -> String {
        var request = cloud.request(
            "assets/upload", try AssetsUploadRequest(tokens: [.init(fieldName: "file")], zoneID: zone).json(),
            token: user)
        request.serverURL = "https://cloud.example.com"
        let answer = try cloud.read(cloud.service.respond(to: request), as: AssetsUploadResponse.self)
        return String(try #require(answer.tokens.first?.url.split(separator: "?t=").last))
    }

    static func upload(_ cloud: TestService, zone: ZoneID, ticket: String) throws -> Asset {
        let upload = try cloud.service.beginUpload(ticket: ticket)
        try upload.write([1, 2, 3])
        return try upload.finish().singleFile
    }

    // MARK: What Bob knows of it

    private mutating func collect() throws {
        let user = "adas-session"
        let zone = ZoneID(zoneName: "adas")
        let page = try cloud.changes(zone: zone, user: user)
        let tag = page.records.compactMap(\.record).first { $0.recordName == "secret" }?.recordChangeTag
        let database = try cloud.ask(
            "changes/database", ChangesDatabaseRequest(), as: ChangesDatabaseResponse.self, token: user)
        let list = try cloud.list(user: user)
        let query = try cloud.ask(
            "records/query",
            RecordsQueryRequest(query: RecordQuery(recordType: "todo"), zoneID: zone, resultsLimit: 1),
            as: RecordsQueryResponse.self, token: user)
        let file = try Self.upload(cloud, zone: zone, ticket: Self.ticket(cloud, zone: zone, user: user))
        let found = [
            ("zoneToken", page.syncToken), ("databaseToken", database.syncToken),
            ("feedToken", list.syncToken),
            ("tag", tag), ("marker", query.continuationMarker), ("receipt", file.receipt),
            ("checksum", file.fileChecksum), ("notification", list.notifications.first?.notificationID),
            ("deviceToken", try cloud.device("secrets phone", user: user).apnsToken),
            (
                "bobsReceiptOfAdasAddress",
                try Self.upload(cloud, zone: zone, ticket: Self.ticket(cloud, zone: zone, user: user)).receipt
            ),
        ]
        for (name, value) in found {
            let value = try #require(value, "\(name)")
            pairs[name] = (value, Self.likeNothing(value))
        }
        pairs["user"] = ("_ada", "_qzx")
        pairs["address"] = ("ada@example.com", "qzx@example.com")
        pairs["record"] = ("secret", "qzxwvu")
        pairs["publicRecord"] = ("secrets page", "qzxwvus page")
        pairs["subscription"] = ("secrets watch", "qzxwvus watch")
        pairs["device"] = ("secrets phone", "qzxwvus phone")
    }

    /// A value of the same form that nobody was given: a token of a user who isn't there, and other letters.
    private static func likeNothing(_ value: String) -> String {
        if var token = try? ChangeToken(text: value) {
            switch token.subject {
            case .database: token.subject = .database(ownerRecordName: "_qzx")
            case .zone: token.subject = .zone(ownerRecordName: "_qzx", zoneName: "qzxw")
            case .notifications: token.subject = .notifications(ownerRecordName: "_qzx")
            }
            token.epoch ^= 0x5555
            return token.text
        }
        if let tag = ChangeTag(value) {
            return ChangeTag(epoch: tag.epoch ^ 0x5555, counter: tag.counter).text
        }
        // Capitals and padding stay where they are; digits and letters become others.
        return String(
            decoding: value.utf8.map { byte -> UInt8 in
                switch byte {
                case 0x30...0x39: 0x39 - (byte - 0x30)
                case 0x61...0x66: 0x66 - (byte - 0x61)
                case 0x67...0x7A: 0x7A - (byte - 0x67)
                case 0x41...0x5A: 0x5A - (byte - 0x41)
                default: byte
                }
            }, as: UTF8.self)
    }
}

// MARK: - Spellings

extension ForeignWorld {
    /// Ways to write a name that might come to the same, as they stand in JSON, each with how it is called.
    private static func spellings(_ name: String) -> [String] {
        let first = String(name.prefix(name.hasPrefix("_") ? 2 : 1))
        let rest = String(name.dropFirst(first.count))
        let encoded = first.utf8.map { "%\(String($0, radix: 16, uppercase: true))" }.joined()
        // Letters that look like the first one, and one that is put together.
        let alike = first.replacing("a", with: "\u{430}").replacing("q", with: "\u{51B}")
        let wide = first.replacing("a", with: "\u{FF41}").replacing("q", with: "\u{FF51}")
        return [
            name, name.uppercased(), encoded + rest, alike + rest, wide + rest, name + ".", name + " ",
            " " + name,
            name + "\\u0000", name + "/", "./" + name, name + "%00", "\(first)\u{301}\(rest)",
            "\u{200B}" + name,
            "\\u00\(String(first.utf8.last ?? 0, radix: 16))".replacing(
                "\\u00", with: "\(first.dropLast())\\u00") + rest,
        ]
    }

    /// Zones of Ada's as Bob may name them, each beside one that isn't there and is spelled alike.
    static let zones: [(adas: String, nobodys: String)] = {
        func zone(_ name: String, _ owner: String?) -> String {
            #"{"zoneName":"\#(name)"\#(owner.map { #","ownerRecordName":"\#($0)""# } ?? "")}"#
        }
        var pairs: [(String, String)] = []
        let owners: [(String?, String?)] =
            zip(spellings("_ada"), spellings("_qzx")).map { ($0, $1) }
            + [
                (nil, nil), ("", ""), ("__defaultOwner__", "__defaultOwner__"), ("_bob", "_bob"),
                ("__defaultOwner__/_ada", "__defaultOwner__/_qzx"), ("_bob/../_ada", "_bob/../_qzx"),
            ]
        for (adas, nobodys) in owners { pairs.append((zone("adas", adas), zone("qzxw", nobodys))) }
        for (adas, nobodys) in zip(spellings("adas"), spellings("qzxw")) {
            for (owner, other) in [(nil, nil), ("_ada", "_qzx")] as [(String?, String?)] {
                pairs.append((zone(adas, owner), zone(nobodys, other)))
            }
        }
        for name in ["_ada/adas", "_ada:adas", "../_ada/adas", "_ada\\/adas"] {
            let other = name.replacing("_ada", with: "_qzx").replacing("adas", with: "qzxw")
            pairs.append((zone(name, nil), zone(other, nil)))
        }
        // The zone that everybody has: another's is not there either.
        for (adas, nobodys) in zip(spellings("_ada"), spellings("_qzx")).dropFirst(0) {
            pairs.append((zone("_defaultZone", adas), zone("_defaultZone", nobodys)))
        }
        return pairs
    }()

    /// Tokens that are like the one by which Ada is signed in.
    static let sessions: [(adas: String, nobodys: String)] = zip(
        ["adas-session", "adas-session", "_ada", "adas-sess", "adas-session\u{0}"].enumerated()
            .map {
                $0.offset == 0 ? $0.element.uppercased() : $0.offset == 1 ? $0.element + " " : $0.element
            },
        ["QZXW-SESSION", "qzxw-session ", "_qzx", "qzxw-sess", "qzxw-session\u{0}"]
    ).map { ($0, $1) }
}
