import CloudService
import CloudStore
import CloudWire
import Crypto
import Foundation
import SQLiteTestSupport
import StoreAudit
import System

/// A service with three users. Ada has everything that one can have; she sleeps while the others ask, and what she
/// has is the same when she wakes.
public final class FuzzWorld {
    /// The container that is served.
    public static let container = CloudService.Container(identifier: "iCloud.com.example.fuzz")
    /// What stands in Ada's private records, and in no request of the others.
    static let secret = "what Ada keeps to herself"
    /// Small, so that answers meet it: the usual one is 16 MB.
    static let answerBytesMax = 1 << 20

    /// The service that is asked.
    public let service: CloudService
    let clock: ManualTimeSource
    /// What Ada was given.
    private(set) var sealed = SealedValues()
    /// What the others were given before they began.
    private(set) var othersSealed = SealedValues()
    private let store: SQLiteCloudStore
    private let folder: TemporaryFolder
    private let key: P256PrivateKey
    private var dumpBefore: [String] = []

    /// Makes the world of a seed.
    ///
    /// - Parameter store: puts something between the service and its store, for tests of the checks.
    /// - Throws: when it can't be made.
    package init(
        seed: UInt64, clock: ManualTimeSource = ManualTimeSource(),
        wrap: (any CloudStore) -> any CloudStore = { $0 }
    ) throws {
        self.clock = clock
        folder = try TemporaryFolder()
        store = try SQLiteCloudStore(path: folder.file("store.db"))
        key = try P256PrivateKey()
        var limits = ServiceLimits()
        limits.answerBytesMax = Self.answerBytesMax
        service = CloudService(
            store: wrap(store), clock: clock, random: SeededRandomSource(seed: seed),
            container: Self.container,
            accounts: FuzzAccounts(publicKey: key.publicKey), limits: limits)
        sealed = try fill("ada", secret: Self.secret, recordType: "post")
        for user in ["mallory", "eve"] {
            for (name, values) in try fill(user, secret: "nothing", recordType: "post").values {
                for value in values { othersSealed.take(.object([name: .string(value)])) }
            }
        }
        while try service.keepUp() {}
        dumpBefore = try dump()
    }

    /// Answers a request.
    package func respond(to request: FuzzRequest) throws -> WireResponse {
        service.respond(to: request.isSigned ? try signed(request.wire) : request.wire)
    }

    /// The request as a client can send it: with a path, a method that is answered with a body, headers of one line.
    package func overHTTP(_ request: FuzzRequest) throws -> WireRequest {
        var wire = request.wire
        // What is longer ends the connection, and what HTTP's own limits do has tests of its own.
        if wire.body.count > service.limits.bodyBytesMax {
            wire.body.removeSubrange(service.limits.bodyBytesMax...)
        }
        let target = "\((wire.rawTarget ?? "").prefix(4_000))"
        wire.rawTarget = target.hasPrefix("/") ? target : "/" + target
        if request.isSigned { wire = try signed(wire) }
        // Methods that HTTP doesn't have are refused before (501), and some answers have no body.
        if !["POST", "PUT", "DELETE"].contains(wire.method), wire.method != "GET" || !wire.body.isEmpty {
            wire.method = "POST"
        }
        wire.headers.removeAll {
            !$0.value.utf8.allSatisfy { 0x20..<0x7F ~= $0 } || $0.value.utf8.count > 1_000
        }
        return wire
    }

    /// The same request with the signature of the server's key.
    package func signed(_ request: WireRequest) throws -> WireRequest {
        var request = request
        let date = Date(timeIntervalSince1970: Double(clock.nowMilliseconds() / 1_000)).ISO8601Format()
        let hash = SignedRequest.base64(try SHA256.hash(request.body))
        let signature = try key.signature(of: Array("\(date):\(hash):\(request.rawTarget ?? "")".utf8))
        request.headers += [
            (WireHeader.keyID, FuzzAccounts.keyID), (WireHeader.signedDate, date),
            (WireHeader.signature, SignedRequest.base64(signature)),
        ]
        return request
    }

    /// What isn't as it was for Ada, and what in the store doesn't fit.
    public func findings() throws -> [String] {
        let after = try dump()
        var findings = dumpBefore.filter { !after.contains($0) }.map { "Ada's is gone: \($0.prefix(500))" }
        findings += after.filter { !dumpBefore.contains($0) }.map { "Ada's is new: \($0.prefix(500))" }
        return findings + (try StoreAudit.findings(path: store.path))
    }

    /// Without indexes: `StoreAudit` works them out from the records and the schema, which others' new fields extend.
    private func dump() throws -> [String] {
        try UserDump.lines(of: "_ada", in: store, includesIndexes: false)
    }
}

// MARK: - What is there in the beginning

extension FuzzWorld {
    /// Everything that a user can have, made by the user.
    private func fill(_ user: String, secret: String, recordType: String) throws -> SealedValues {
        var sealed = SealedValues()
        func ask(_ path: String, _ body: String, device: String = "phone") throws {
            let root = path.hasPrefix("device") ? "" : "/database/1/\(Self.container.identifier)/development/"
            let full =
                path.hasPrefix("device")
                ? "/device/1/\(Self.container.identifier)/development/\(path.dropFirst(7))" : root + path
            let response = service.respond(
                to: WireRequest(
                    path: full, query: [("ckWebAuthToken", user), ("clientId", device)],
                    headers: [(WireHeader.client, "1")], body: Array(body.utf8),
                    serverURL: "https://cloud.example.com"))
            let text = String(decoding: response.body, as: UTF8.self)
            guard response.status == 200, !text.contains("serverErrorCode") else {
                throw FuzzFinding("\(user) \(path): \(text)")
            }
            sealed.take(try JSONValue(json: response.body))
        }
        try ask("private/zones/modify", Self.zones)
        try ask("device/tokens/create", #"{"apnsEnvironment":"development","clientId":"phone"}"#)
        try ask("private/assets/upload", #"{"zoneID":{"zoneName":"todos"},"tokens":[{"fieldName":"file"}]}"#)
        try upload(&sealed)
        for place in [
            #""zoneID":{"zoneName":"todos"}"#, #""zoneID":{"zoneName":"other"}"#, #""atomic":false"#,
        ] {
            let file = sealed.of("receipt").last.map { #","file":{"value":{"receipt":"\#($0)"}}"# } ?? ""
            let operations = ValidBodies.recordNames.prefix(4).map { name in
                Self.operation(name, secret, place.contains("todos") && name == "a" ? file : "")
            }
            try ask(
                "private/records/modify", #"{"operations":[\#(operations.joined(separator: ","))],\#(place)}"#
            )
        }
        let own = Self.operation("\(user)s", "what everybody may read", "", type: recordType)
        try ask("public/records/modify", #"{"operations":[\#(own)]}"#)
        try ask("private/subscriptions/modify", Self.subscriptions)
        let change = Self.operation("e", secret, "")
        try ask(
            "private/records/modify", #"{"operations":[\#(change)],"zoneID":{"zoneName":"todos"}}"#,
            device: "pad")
        while try service.keepUp() {}
        try ask("private/changes/database", "{}")
        try ask(
            "private/changes/zone",
            #"{"zones":[{"zoneID":{"zoneName":"todos"}},{"zoneID":{"zoneName":"other"}}]}"#)
        try ask("private/records/query", #"{"query":{"recordType":"todo"},"zoneWide":true,"resultsLimit":1}"#)
        try ask("device/notifications/list", "{}")
        return sealed
    }

    /// Sends a file to the first address, and keeps its receipt.
    private func upload(_ sealed: inout SealedValues) throws {
        guard let ticket = sealed.of("url").last?.split(separator: "?t=").last else { return }
        let upload = try service.beginUpload(ticket: String(ticket))
        try upload.write([1, 2, 3])
        sealed.take(try JSONValue(json: try upload.finish().json()))
    }

    private static let zones = {
        let zones = ValidBodies.zones.map {
            #"{"operationType":"create","zone":{"zoneID":{"zoneName":"\#($0)"}}}"#
        }
        return #"{"operations":[\#(zones.joined(separator: ","))]}"#
    }()

    private static func operation(
        _ name: String, _ text: String, _ file: String, type: String = "todo"
    ) -> String {
        let fields = [
            #""s":{"value":"\#(text)"}"#, #""n":{"value":1}"#, #""t":{"value":1000,"type":"TIMESTAMP"}"#,
            #""d":{"value":0.5,"type":"DOUBLE"}"#, #""b":{"value":"AQI=","type":"BYTES"}"#,
            #""l":{"value":["a"],"type":"STRING_LIST"}"#,
            #""r":{"value":{"recordName":"a","action":"NONE"},"type":"REFERENCE"}"#,
            #""p":{"value":{"latitude":1,"longitude":2},"type":"LOCATION"}"#,
        ].joined(separator: ",")
        return #"{"operationType":"forceUpdate","record":{"recordName":"\#(name)","recordType":"\#(type)","#
            + #""fields":{\#(fields)\#(file)}}}"#
    }

    private static let subscriptions = """
        {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","subscriptionType":"zone",
        "zoneID":{"zoneName":"todos"}}},{"operationType":"create","subscription":{"subscriptionID":"q",
        "subscriptionType":"query","query":{"recordType":"todo"},"firesOn":["create","update"],
        "notificationInfo":{"alertBody":"changed"}}}]}
        """
}

/// Something that must hold, and didn't.
public struct FuzzFinding: Error, CustomStringConvertible {
    /// What was wrong.
    public let description: String

    init(_ description: String) { self.description = description }
}
