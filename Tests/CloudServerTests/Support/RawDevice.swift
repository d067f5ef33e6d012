import CloudWire
import Foundation

/// What a device sends to be let in.
struct Credential: Sendable, ExpressibleByStringLiteral {
    var webAuthToken: String
    var apiToken: String?

    init(webAuthToken: String, apiToken: String?) {
        self.webAuthToken = webAuthToken
        self.apiToken = apiToken
    }

    init(stringLiteral value: String) { self.init(webAuthToken: value, apiToken: nil) }

    /// The items of a query.
    var query: String {
        let items = [("ckWebAuthToken", webAuthToken), ("ckAPIToken", apiToken)]
        return items.compactMap { name, value in
            value?.addingPercentEncoding(withAllowedCharacters: .alphanumerics).map { "\(name)=\($0)" }
        }.joined(separator: "&")
    }
}

/// A device that speaks the wire by hand over one connection. Its calls block.
final class RawDevice {
    static let container = "iCloud.test"

    let port: Int
    let token: Credential
    let clientID: String
    let wantsExtras: Bool
    private let connection: RawConnection
    /// Called when a request has been sent, before its response is read.
    var sent: () -> Void {
        get { connection.sent }
        set { connection.sent = newValue }
    }

    init(port: Int, token: Credential, clientID: String = "phone", wantsExtras: Bool = true) throws {
        self.port = port
        self.token = token
        self.clientID = clientID
        self.wantsExtras = wantsExtras
        connection = try RawConnection(port: port)
    }

    func target(_ path: String, module: String = "database") -> String {
        return "/\(module)/1/\(Self.container)/development/\(path)?\(token.query)&clientId=\(clientID)"
    }

    func post(
        _ path: String, module: String = "database", _ message: some JSONMessage,
        headers: [(name: String, value: String)] = []
    ) throws -> RawResponse {
        let extra = wantsExtras ? [(name: WireHeader.client, value: "1")] : []
        return try connection.exchange(
            "POST", target(path, module: module), headers: headers + extra,
            body: try message.json(extras: true))
    }

    /// Returns once the server has taken the connection.
    func reachServer() throws {
        let response = try connection.exchange("GET", "/yap/1/health")
        guard response.status == 200 else { throw Failure("health: \(response.status)") }
    }

    func makeZone(_ name: String) throws {
        let operation = ZoneOperation(operationType: .create, zone: WireZone(zoneID: ZoneID(zoneName: name)))
        let response = try post("private/zones/modify", ZonesModifyRequest(operations: [operation]))
        guard response.status == 200 else { throw Failure("zone: \(response.status) \(response.text)") }
    }

    func modify(
        _ operations: [RecordOperation], zone: String, operationID: String? = nil
    ) throws -> RawResponse {
        let headers = operationID.map { [(name: WireHeader.operation, value: $0)] } ?? []
        return try post(
            "private/records/modify",
            RecordsModifyRequest(operations: operations, zoneID: ZoneID(zoneName: zone)), headers: headers)
    }

    func lookup(_ names: [String], zone: String) throws -> [RecordResult] {
        let request = RecordsLookupRequest(
            records: names.map { RecordsLookupRequest.Item(recordName: $0) }, zoneID: ZoneID(zoneName: zone))
        let response = try post("private/records/lookup", request)
        guard response.status == 200 else { throw Failure("lookup: \(response.status) \(response.text)") }
        return try RecordsResponse(json: response.body).records
    }

    static func record(_ name: String, _ number: Int64, tag: String? = nil) -> WireRecord {
        WireRecord(
            recordName: name, recordType: "counter", fields: ["number": Field(.int64(number))],
            recordChangeTag: tag)
    }
}
