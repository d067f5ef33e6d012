import CloudWire

/// What the service should be, in dictionaries, lists and loops: it shares no code with the product but the values that
/// cross the wire. What only the service can know (tags, tokens, names that it makes) is taken from its answers, and
/// must be new where it must.
struct ModelCloud {
    struct Record: Hashable {
        var name: String
        var type: String
        var parent: String?
        var fields: [String: Field]
        var tag: String
        var created: WireRecord.Stamp
        var modified: WireRecord.Stamp
    }

    /// A line of a zone's history; its number is its place, from 1.
    struct Change: Hashable {
        var name: String
        var type: String
        var isDeleted: Bool
    }

    struct Zone {
        var isThere = true
        /// Another one whenever tokens from before shall not be understood any more.
        var life: Int
        var records: [String: Record] = [:]
        var history: [Change] = []
        /// Who knows less than this many changes can't learn what was deleted.
        var floor = 0
    }

    struct Database {
        /// Nil until there is something in it that its feed could tell.
        var life: Int?
        var zones: [String: Zone] = [:]
        /// The names of zones, one for each time that one changed.
        var history: [String] = []
    }

    /// What a token stands for.
    struct Token: Hashable {
        var subject: String
        var life: Int?
        var seen: Int
        /// Deletions up to here are no news: the client knew nothing yet.
        var bornAt: Int
    }

    /// A named write, and what was answered to it.
    struct Kept {
        var request: [UInt8]
        var atMilliseconds: Int64
        var expected: ModelAnswer
    }

    /// The owner's name is the key; the public database's is empty.
    var databases: [String: Database] = ["": Database()]
    var tokens: [String: Token] = [:]
    var usedTags: Set<String> = []
    /// Tokens that were given for two positions.
    var contradictions: [String] = []
    var kept: [String: Kept] = [:]
    var schema: ModelSchema
    /// Fields by type whose indexes may not be there for all records yet.
    var unfinished: [String: Set<String>] = [:]
    var lastLife = 0
    let limits: ModelLimits

    init(limits: ModelLimits, schema: ModelSchema = ModelSchema()) {
        self.limits = limits
        self.schema = schema
    }

    mutating func newLife() -> Int {
        lastLife += 1
        return lastLife
    }
}

/// The limits that the model knows of.
struct ModelLimits {
    var items = 200
    var itemsWithExtras = 400
    var cascade = 5_000
    var indexedAtOnce = 200
    var answerMilliseconds: Int64 = 86_400_000
}

/// What the service should answer.
enum ModelAnswer: Equatable {
    /// The request failed as a whole.
    case refused(ServerErrorCode, Int)
    case records([RecordResult])
    case zones([ZoneResult], moreComing: Bool?)
    case changes([ModelZoneChanges])
    case subscriptions([SubscriptionResult])
}

/// A zone's part of the answer to `changes/zone`.
enum ModelZoneChanges: Equatable {
    case page(ZoneID, [RecordResult], moreComing: Bool)
    case error(WireError)
}

/// Who asks, when, and in which database.
struct ModelCaller {
    var user: String?
    var scope: DatabaseScope
    var device: String?
    var extras: Bool
    var nowMilliseconds: Int64

    /// The key of the caller's database; nil for the shared one.
    var database: String? {
        switch scope {
        case .public: ""
        case .private: user
        case .shared: nil
        }
    }

    var stamp: WireRecord.Stamp {
        WireRecord.Stamp(
            timestampMilliseconds: nowMilliseconds, userRecordName: user ?? "", deviceID: device ?? "1")
    }

    /// The name of the zone in the caller's database; nil when the caller can have no such zone.
    func zoneName(_ zoneID: ZoneID?) -> String? {
        let zoneID = zoneID ?? ZoneID()
        switch scope {
        case .public: return zoneID.zoneName == "_defaultZone" ? zoneID.zoneName : nil
        case .private:
            let isOwn = [nil, "", "__defaultOwner__", user].contains(zoneID.ownerRecordName)
            return isOwn ? zoneID.zoneName : nil
        case .shared: return nil
        }
    }

    func zoneID(_ name: String) -> ZoneID {
        ZoneID(zoneName: name, ownerRecordName: scope == .private ? user : nil)
    }
}

extension ModelCloud {
    /// The zone, when it is there. Default zones always are.
    func zone(_ name: String, _ caller: ModelCaller) -> Zone? {
        guard let database = caller.database else { return nil }
        let zone = databases[database]?.zones[name]
        if name == "_defaultZone" { return zone ?? Zone(life: 0) }
        return zone.flatMap { $0.isThere ? $0 : nil }
    }

    func wire(_ record: Record, in zone: String, _ caller: ModelCaller, desired: [String]? = nil)
        -> WireRecord
    {
        var fields = record.fields
        if let desired, !desired.isEmpty { fields = fields.filter { desired.contains($0.key) } }
        return WireRecord(
            recordName: record.name, recordType: record.type, fields: fields, recordChangeTag: record.tag,
            created: record.created, modified: record.modified, deleted: false, zoneID: caller.zoneID(zone),
            parent: record.parent.map { Reference(recordName: $0) }, pluginFields: [:])
    }

    func tombstone(_ name: String, type: String?, in zone: String?, _ caller: ModelCaller) -> RecordResult {
        .tombstone(Tombstone(recordName: name, zoneID: zone.map(caller.zoneID), recordType: type))
    }

    /// Whether so many items are too many for one request.
    func isTooMany(_ count: Int, _ caller: ModelCaller) -> Bool {
        count > (caller.extras ? limits.itemsWithExtras : limits.items)
    }
}
