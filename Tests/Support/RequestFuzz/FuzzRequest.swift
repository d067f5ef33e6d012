import CloudService
import CloudWire

/// A request of a run.
public struct FuzzRequest: Sendable {
    /// Its place in the run.
    public let number: Int
    /// What it asks for, as `private/records/modify`.
    public let name: String
    /// True when a server's key signs it.
    public let isSigned: Bool
    /// What crosses the wire, but for the signature.
    package var wire: WireRequest

    /// In words, for who looks for what went wrong.
    public var description: String {
        let body = String(decoding: wire.body.prefix(500), as: UTF8.self)
        let headers = wire.headers.map { "\($0.name): \($0.value.prefix(60))" }
        return "request \(number), \(wire.method) \(wire.rawTarget?.prefix(300) ?? "") \(headers) "
            + "\(wire.body.count) bytes: \(body)"
    }
}

/// Draws requests: who asks for what, with which body.
struct RequestMaker {
    /// Who may ask, and how often each does.
    private static let askers = [
        "mallory", "mallory", "mallory", "mallory", "eve", "eve", "nobody", "key", "guess",
    ]
    static let users = ["mallory", "mallory", "eve"]

    let draw: Draw
    let own: SealedValues
    let foreign: SealedValues
    let container: String

    /// - Parameter isHostile: whether something is wrong with it; else it is one that the service takes.
    func request(_ number: Int, isHostile: Bool) -> FuzzRequest {
        let endpoint = draw.one(of: Endpoint.allCases)
        let row = EndpointRow.row(of: endpoint)
        let scope = row.isOfDevice ? DatabaseScope.private : draw.one(of: row.scopes)
        return request(number, endpoint, scope, asker: asker(in: scope, row), isHostile: isHostile)
    }

    func request(
        _ number: Int, _ endpoint: Endpoint, _ scope: DatabaseScope, asker: String, isHostile: Bool
    ) -> FuzzRequest {
        let row = EndpointRow.row(of: endpoint)
        let tree = ValidBodies(draw: draw, scope: scope, own: own).body(of: endpoint)
        let prefix =
            row.isOfDevice ? "/device/1/\(container)/development" : "/database/1/\(container)/development"
        let path = "\(prefix)/\(row.isOfDevice ? "" : "\(scope.rawValue)/")\(endpoint.rawValue)"
        var wire = WireRequest(
            method: row.allowsGet && tree == nil && draw.once(in: 2) ? "GET" : "POST", path: path,
            query: [("clientId", draw.one(of: ["phone", "pad"]))], body: tree?.bytes ?? [],
            serverURL: "https://cloud.example.com", peer: "192.0.2.1")
        switch asker {
        case "nobody", "key": break
        case "guess": wire.query.append((WireHeader.webAuthTokenItem, guess))
        default: wire.query.append((WireHeader.webAuthTokenItem, asker))
        }
        if draw.once(in: 2) { wire.headers.append((WireHeader.client, "1")) }
        if draw.once(in: 6) { wire.query.append(("getCurrentSyncToken", "true")) }
        if draw.once(in: 6) {
            wire.headers.append((WireHeader.operation, "operation-\(draw.number(0..<40))"))
        }
        if isHostile { spoil(&wire, tree) }
        wire.rawTarget = Self.target(of: wire)
        return FuzzRequest(
            number: number, name: "\(row.isOfDevice ? "device" : scope.rawValue)/\(endpoint.rawValue)",
            isSigned: asker == "key", wire: wire)
    }

    /// Most of the time one who may.
    private func asker(in scope: DatabaseScope, _ row: EndpointRow) -> String {
        guard !draw.once(in: 8) else { return draw.one(of: Self.askers) }
        var askers = Self.users
        let callers = row.callers(in: scope)
        if callers.contains(.nobody) { askers.append("nobody") }
        if callers.contains(.serverKey) { askers.append("key") }
        return draw.one(of: askers)
    }

    /// What isn't a token of anybody's.
    private var guess: String {
        let values = HostileValues(draw: draw, own: own, foreign: foreign)
        return draw.one(
            of: ["", "ADA", "ada ", "ada\u{0}", "a", "_ada", values.changed("ada")].filter { $0 != "ada" })
    }

    private func spoil(_ wire: inout WireRequest, _ tree: JSONTree?) {
        let values = HostileValues(draw: draw, own: own, foreign: foreign)
        // Most of the time it is the body: there most is read.
        guard draw.once(in: 8) else {
            wire.body = Hostility(draw: draw, values: values).spoiled(tree)
            if wire.method == "GET" { wire.method = "POST" }
            return
        }
        let text = { () -> String in
            if case .text(let text) = values.one { return text }
            return draw.one(of: ["", "..", "a/b", "a%2Fb", "\u{0}", "é", String(repeating: "n", count: 300)])
        }
        switch draw.number(0..<8) {
        case 0: wire.method = draw.one(of: ["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "post", "X"])
        case 1:
            var parts = wire.path.pathSegments()
            parts[draw.number(0..<parts.count)] = text()
            wire.path = parts.joined(separator: "/")
        case 2: wire.path += draw.one(of: ["/", "/x", "//", "?", "%00", "."])
        case 3: wire.query = [("clientId", text())] + wire.query.dropFirst()
        case 4: wire.query.append((draw.one(of: ["ckAPIToken", "clientId", "remapEnums", "x", ""]), text()))
        case 5: wire.headers.append((WireHeader.operation, text()))
        case 6:
            wire.headers.append(
                (draw.one(of: [WireHeader.client, WireHeader.origin, WireHeader.signature]), text()))
        default:
            // Over the limit of a body, and at it.
            let bytes = draw.one(of: [(2 << 20) - wire.body.count, 2 << 20])
            wire.body += [UInt8](repeating: 0x20, count: bytes)
        }
    }

    /// Path and query as they stand in a request line.
    static func target(of wire: WireRequest) -> String {
        let items = wire.query.map { "\(encoded($0.name))=\(encoded($0.value))" }
        return encoded(wire.path, keepsSlashes: true)
            + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    }

    private static func encoded(_ text: String, keepsSlashes: Bool = false) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if plain.contains(byte) || keepsSlashes && byte == UInt8(ascii: "/") {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
