/// The keys that Apple's answers may have, object by object: a table of what may stand in what.
enum AnswerKeys {
    private static let error: Set = [
        "recordName", "zoneID", "subscriptionID", "shortGUID", "reason", "serverErrorCode", "retryAfter",
        "uuid",
        "redirectURL",
    ]
    private static let record: Set = [
        "recordName", "recordType", "fields", "pluginFields", "recordChangeTag", "created", "modified",
        "deleted",
        "zoneID", "parent", "share", "shortGUID",
    ]

    /// The keys of each object, and where there is an object under a key, which one.
    private static let objects: [String: [String: String]] = [
        "answer records": [
            "records": "record", "syncToken": "", "continuationMarker": "", "moreComing": "", "reverse": "",
        ],
        "answer records/modify": ["records": "record", "syncToken": ""],
        "answer records/lookup": ["records": "record", "syncToken": ""],
        "answer records/query": ["records": "record", "syncToken": "", "continuationMarker": ""],
        "answer internal/records/query/batch": ["batch": "answer records/query"],
        "answer records/changes": ["records": "record", "syncToken": "", "moreComing": "", "reverse": ""],
        "answer changes/zone": ["zones": "zone changes"],
        "answer changes/database": ["zones": "zone", "syncToken": "", "moreComing": ""],
        "answer zones/changes": ["zones": "zone", "metaSyncToken": "", "moreComing": ""],
        "answer zones/list": ["zones": "zone", "syncToken": "", "moreComing": ""],
        "answer zones/lookup": ["zones": "zone"], "answer zones/modify": ["zones": "zone"],
        "answer users/caller": ["userRecordName": "", "nameComponents": "name"],
        "answer users/current": ["userRecordName": "", "firstName": "", "lastName": ""],
        "answer users/discover": ["users": "identity"], "answer users/lookup/email": ["users": "user"],
        "answer users/lookup/id": ["users": "user"], "answer users/lookup/contacts": ["users": "user"],
        // Ours.
        "answer users/discoverability": ["discoverable": "", "listed": ""],
        "answer subscriptions/list": ["subscriptions": "subscription", "moreComing": "", "syncToken": ""],
        "answer subscriptions/lookup": ["subscriptions": "subscription"],
        "answer subscriptions/modify": ["subscriptions": "subscription"],
        "answer tokens/create": ["apnsEnvironment": "", "apnsToken": "", "webcourierURL": ""],
        "answer tokens/register": ["apnsEnvironment": "", "apnsToken": "", "webcourierURL": ""],
        "answer assets/upload": ["tokens": "upload"], "answer assets/rereference": ["assets": "asset"],
        "upload": ["recordName": "", "fieldName": "", "url": ""],
        "asset": [
            "fileChecksum": "", "size": "", "wrappingKey": "", "referenceChecksum": "", "downloadURL": "",
            "receipt": "",
        ],
        "request error": [
            "uuid": "", "serverErrorCode": "", "reason": "", "retryAfter": "", "redirectURL": "",
            "zoneID": "zoneID",
        ],
        "zoneID": ["zoneName": "", "ownerRecordName": "", "zoneType": ""],
        "zone": ["zoneID": "zoneID", "syncToken": "", "atomic": "", "deleted": ""],
        "zone changes": ["zoneID": "zoneID", "records": "record", "syncToken": "", "moreComing": ""],
        "stamp": ["timestamp": "", "userRecordName": "", "deviceID": ""],
        "reference": ["recordName": "", "zoneID": "zoneID", "action": ""],
        "field": ["value": "", "type": "", "isEncrypted": ""],
        "name": ["givenName": "", "familyName": ""],
        "identity": ["userRecordName": "", "nameComponents": "name", "lookupInfo": "lookup"],
        "lookup": ["emailAddress": "", "phoneNumber": "", "userRecordName": ""],
        "user": ["userRecordName": "", "firstName": "", "lastName": "", "emailAddress": ""],
        "subscription": [
            "subscriptionID": "", "subscriptionType": "", "query": "", "zoneID": "zoneID", "zoneWide": "",
            "firesOn": "", "firesOnce": "", "notificationInfo": "", "deleted": "",
        ],
    ]

    /// The endpoints of ours, whose answers nobody else knows.
    private static let ours: Set = ["answer notifications/list", "answer notifications/read"]

    /// The paths of keys that an object of that kind may not have.
    static func unknown(in json: Any, as kind: String, at path: String = "") -> [String] {
        if ours.contains(kind) || kind.isEmpty { return [] }
        if let elements = json as? [Any] {
            return elements.enumerated().flatMap {
                unknown(in: $0.element, as: kind, at: "\(path)[\($0.offset)]")
            }
        }
        guard let object = json as? [String: Any] else { return ["\(path) is no object"] }
        if object["serverErrorCode"] != nil, kind != "request error" {
            return object.keys.filter { !error.contains($0) }.map { "\(path).\($0)" }.sorted()
        }
        if kind == "record" { return unknown(inRecord: object, at: path) }
        guard let keys = objects[kind] else { return ["\(path): no table for \(kind)"] }
        return object.flatMap { key, value in
            keys[key].map { unknown(in: value, as: $0, at: "\(path).\(key)") } ?? ["\(path).\(key)"]
        }.sorted()
    }

    private static func unknown(inRecord object: [String: Any], at path: String) -> [String] {
        if object["deleted"] as? Bool == true {
            let others = object.keys.filter { !["recordName", "deleted", "zoneID"].contains($0) }
            return others.map { "\(path).\($0) of a tombstone" }.sorted()
        }
        var found = object.keys.filter { !record.contains($0) }.map { "\(path).\($0)" }
        for (key, kind) in [
            "zoneID": "zoneID", "created": "stamp", "modified": "stamp", "parent": "reference",
        ] {
            if let value = object[key] { found += unknown(in: value, as: kind, at: "\(path).\(key)") }
        }
        for (name, field) in object["fields"] as? [String: Any] ?? [:] {
            found += unknown(in: field, as: "field", at: "\(path).fields.\(name)")
        }
        return found.sorted()
    }

    /// All records in an answer that are neither errors nor tombstones.
    static func records(in json: Any) -> [[String: Any]] {
        if let elements = json as? [Any] { return elements.flatMap { records(in: $0) } }
        guard let object = json as? [String: Any] else { return [] }
        if object["recordName"] != nil, object["fields"] != nil { return [object] }
        return ["records", "zones", "batch"].flatMap { key in object[key].map { records(in: $0) } ?? [] }
    }

    static func missing(inRecord object: [String: Any]) -> [String] {
        var missing = [
            "recordName", "recordType", "fields", "pluginFields", "recordChangeTag", "created", "modified",
            "deleted",
            "zoneID",
        ].filter { object[$0] == nil }
        for key in ["created", "modified"] {
            let stamp = object[key] as? [String: Any] ?? [:]
            missing += ["timestamp", "userRecordName", "deviceID"].filter { stamp[$0] == nil }.map {
                "\(key).\($0)"
            }
        }
        for (name, field) in object["fields"] as? [String: Any] ?? [:]
        where (field as? [String: Any])?["type"] == nil {
            missing.append("fields.\(name).type")
        }
        return missing
    }
}
