import Foundation

/// Writes a keyed archive: objects in a row that name each other by their numbers.
struct AppleArchive {
    private var objects: [Any] = ["$null"]

    private static func reference(_ number: Int) -> [String: Any] { ["CF$UID": number] }

    mutating func add(value: Any) -> Int {
        objects.append(value)
        return objects.count - 1
    }

    /// Adds an object of the class `name`; `references` are numbers of other objects.
    mutating func add(
        _ name: String, _ values: [String: Any] = [:], references: [String: Int] = [:]
    ) -> Int {
        let type = add(value: ["$classname": name, "$classes": [name, "NSObject"]])
        var object = values
        for (key, number) in references { object[key] = Self.reference(number) }
        object["$class"] = Self.reference(type)
        return add(value: object)
    }

    mutating func add(array numbers: [Int], _ name: String = "NSArray") -> Int {
        add(name, ["NS.objects": numbers.map { Self.reference($0) }])
    }

    mutating func add(dictionary pairs: [(Int, Int)]) -> Int {
        add(
            "NSDictionary",
            [
                "NS.keys": pairs.map { Self.reference($0.0) },
                "NS.objects": pairs.map { Self.reference($0.1) },
            ])
    }

    func xml(top references: [String: Int], values: [String: Any] = [:]) -> Data {
        var top = values
        for (key, number) in references { top[key] = Self.reference(number) }
        let members: [(String, Any)] = [
            ("$archiver", "NSKeyedArchiver"), ("$objects", objects),
            ("$top", top), ("$version", 100_000),
        ]
        let list = "<dict>" + members.map { "<key>\($0.0)</key>" + Self.xml($0.1) }.joined() + "</dict>"
        return Data(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">\(list)</plist>
            """.utf8)
    }

    private static func xml(_ value: Any) -> String {
        switch value {
        case let value as Data: "<data>\(value.base64EncodedString())</data>"
        case let value as Bool: value ? "<true/>" : "<false/>"
        case let value as Int: "<integer>\(value)</integer>"
        case let value as Double: "<real>\(value)</real>"
        case let value as String: "<string>\(value)</string>"
        case let value as [Any]: "<array>" + value.map { xml($0) }.joined() + "</array>"
        case let value as [String: Any]:
            "<dict>"
                + value.sorted { $0.key < $1.key }.map { "<key>\($0.key)</key>" + xml($0.value) }.joined()
                + "</dict>"
        default: ""
        }
    }

    mutating func addZone(_ name: String) -> Int {
        let (zone, owner) = (add(value: name), add(value: "__defaultOwner__"))
        return add(
            "CKRecordZoneID", ["databaseScopeKey": 2],
            references: ["ZoneName": zone, "ownerName": owner, "anonymousCKUserID": 0])
    }

    mutating func addID(_ name: String, zone: Int) -> Int {
        add("CKRecordID", references: ["RecordName": add(value: name), "ZoneID": zone])
    }

    /// The system fields of a record that the server knows.
    mutating func systemFields() -> (values: [String: Any], references: [String: Int]) {
        let zone = addZone("todos")
        let made = add("NSDate", ["NS.time": 700_000_000.5])
        let parent = addID("list", zone: zone)
        return (
            [
                "KnownToServer": true, "WasCached": false, "Permission": 3,
                "HasUpdatedParentReference": false,
                "HasUpdatedShareReference": false,
            ],
            [
                "RecordType": add(value: "todo"), "RecordID": addID("42", zone: zone),
                "ETag": add(value: "k3x"),
                "RecordCtime": made, "RecordMtime": made,
                "CreatorUserRecordID": addID("_ada", zone: addZone("_defaultZone")),
                "LastModifiedUserRecordID": addID("__defaultOwner__", zone: addZone("_defaultZone")),
                "ModifiedByDevice": add(value: "Ada's phone"), "ShareReference": 0,
                "PreviousShareReference": 0,
                "ParentReference": add(
                    "CKReference", ["ReferenceAction": 0], references: ["RecordID": parent]),
                "ProtectionData": 0, "PCSKeyID": 0,
            ]
        )
    }
}

// MARK: Shares, as the server's answers to Apple's own clients are archived

extension AppleArchive {
    /// A user: by an address, with a name.
    mutating func addIdentity(_ recordName: String, email: String, given: String, family: String) -> Int {
        let name = add(
            "_NSPersonNameComponentsData",
            references: ["NS.givenName": add(value: given), "NS.familyName": add(value: family)])
        let info = add(
            "CKUserIdentityLookupInfo",
            references: ["EmailAddress": add(value: email), "PhoneNumber": 0, "RecordID": 0])
        return add(
            "CKUserIdentity", ["HasICloudAccount": true],
            references: [
                "UserRecordID": addID(recordName, zone: addZone("_defaultZone")), "LookupInfo": info,
                "NameComponents": add(
                    "NSPersonNameComponents", references: ["NS.nameComponentsPrivate": name]),
                "ContactIdentifiers": add(array: []),
            ])
    }

    /// A participant; the numbers are Apple's.
    mutating func addParticipant(
        _ identity: Int, id: String, type: Int, permission: Int, acceptanceStatus: Int
    ) -> Int {
        add(
            "CKShareParticipant",
            [
                "Type": type, "Permission": permission, "AcceptanceStatus": acceptanceStatus,
                "OriginalParticipantType": type, "OriginalPermission": permission,
            ], references: ["ParticipantID": add(value: id), "UserIdentity": identity])
    }

    /// A share of a zone with an owner and a participant.
    mutating func addShare() -> Int {
        let fields = systemFields()
        let ada = addIdentity("_ada", email: "ada@example.com", given: "Ada", family: "Lovelace")
        let bob = addIdentity("_bob", email: "bob@example.com", given: "Bob", family: "Builder")
        let participants = add(array: [
            addParticipant(ada, id: "P1", type: 1, permission: 3, acceptanceStatus: 2),
            addParticipant(bob, id: "P2", type: 3, permission: 2, acceptanceStatus: 1),
        ])
        var references = fields.references
        references["RecordType"] = add(value: "cloudkit.share")
        references["Participants"] = participants
        references["LastFetchedParticipants"] = participants
        references["AddedParticipantIDs"] = add(array: [], "NSSet")
        references["RemovedParticipantIDs"] = add(array: [], "NSSet")
        references["DisplayedHostname"] = 0
        references["ContainerID"] = addContainer()
        references["ParentReference"] = 0
        return add(
            "CKShare",
            fields.values.merging(["PublicPermission": 2, "AllowsAnonymousAccess": false]) { $1 },
            references: references)
    }

    mutating func addContainer() -> Int {
        add(
            "CKContainerID", ["Environment": 1],
            references: ["ContainerIdentifier": add(value: "iCloud.com.example.todo")])
    }

    /// What Bob, who was invited, knows of the share.
    mutating func addMetadata() -> Int {
        let ada = addIdentity("_ada", email: "ada@example.com", given: "Ada", family: "Lovelace")
        let root = addID("list", zone: addZone("todos"))
        return add(
            "CKShareMetadata",
            [
                "ParticipantStatus": 1, "ParticipantPermission": 2, "ParticipantType": 3,
                "ParticipantRole": 3,
            ],
            references: [
                "Share": addShare(), "ContainerID": addContainer(), "RootRecordID": root, "RootRecord": 0,
                "OwnerIdentity": ada, "CallingParticipant": 0,
            ])
    }

    /// An archive of one object.
    func xml(root: Int) -> Data { xml(top: ["root": root]) }
}
