internal import CloudWire
import Foundation
internal import System

/// Which database a request goes to.
struct RequestAddress: Sendable {
    var containerIdentifier: String
    var environment: String
    var scope: DatabaseScope
    /// Whether a device asks for itself and not for a database.
    var isOfDevice = false
    /// Whether anybody is signed in.
    var isSignedIn: Bool
    /// Who asks, where that is known.
    var userRecordName: String?
    /// The same where the server was asked. Only what goes out has it: else a record's creator would have one name or
    /// the other by whether an operation had to ask.
    var askedUserRecordName: String?
    /// Names writes, so that one that is sent again is answered and not done again.
    var idempotencyKeys: IdempotencyKeys
    /// Where fetched files are; nil where none are fetched.
    var assetCache: AssetCache?
    /// Whose servers are asked.
    var serverKind = ServerKind.yap
    /// What `now()` in a predicate is told by.
    var clock: any TimeSource = SystemTimeSource()
    /// The copies of the files that the operation sends, where it has any of its own.
    var fileCopy: @Sendable (URL) -> URL? = { _ in nil }

    /// Items that Apple's servers take in one request.
    static let itemsMaxAtApple = 200
    /// Items that one request may have.
    var itemsMax: Int { serverKind == .apple ? Self.itemsMaxAtApple : .max }

    /// What Apple's servers don't have.
    private static let ourEndpoints: Set<String> = [
        "users/discoverability", "notifications/list", "notifications/read",
    ]

    /// The request with `message` to the database's `endpoint`, for example `records/modify`.
    ///
    /// - Parameters:
    ///   - identity: what of the message is the same when the write is sent again; nil means all of it.
    ///   - zoneID: the zone of the records that it writes.
    func request<Body: JSONMessage>(
        _ endpoint: String, message: Body, identity: Body? = nil, zoneID: CKRecordZoneID? = nil
    ) throws(CKError) -> WireRequest {
        if serverKind == .apple, Self.ourEndpoints.contains(endpoint) {
            throw CKError(.serverRejectedRequest, "Apple's web service doesn't have \(endpoint).")
        }
        do {
            return request(
                endpoint, method: "POST", body: try message.json(), identity: try identity?.json(),
                zoneID: zoneID)
        } catch {
            throw CKError(.invalidArguments, "The request can't be written as JSON: \(error)")
        }
    }

    /// The request to the database's `endpoint`.
    func request(
        _ endpoint: String, method: String, body: [UInt8] = [], identity: [UInt8]? = nil,
        zoneID: CKRecordZoneID? = nil
    ) -> WireRequest {
        let place = "1/\(containerIdentifier)/\(environment)"
        let path =
            isOfDevice ? "/device/\(place)/\(endpoint)" : "/database/\(place)/\(scope.rawValue)/\(endpoint)"
        var headers = [("Content-Type", "application/json")]
        if serverKind == .yap {
            headers.append((WireHeader.client, "1"))
            if endpoint.hasSuffix("/modify") {
                let name = idempotencyKeys.key(path: path, body: identity ?? body, zoneID: zoneID)
                headers.append((WireHeader.operation, name))
            }
        }
        return WireRequest(method: method, path: path, headers: headers, body: body)
    }

    /// The same for what a device asks for itself.
    var ofDevice: RequestAddress {
        var address = self
        address.isOfDevice = true
        return address
    }

    /// A zone of an answer as the app knows it: outside the shared database every zone is the user's own, and
    /// the framework calls that owner by one name whatever the server says.
    func zoneID(_ zoneID: ZoneID) -> CKRecordZoneID {
        let owner = scope == .shared ? zoneID.ownerRecordName : nil
        return CKRecordZoneID(zoneName: zoneID.zoneName, ownerName: owner ?? CKCurrentUserDefaultName)
    }
}

extension CKRecordZoneID {
    /// The zone as it goes out: the user's own without an owner.
    var wire: ZoneID {
        ZoneID(
            zoneName: zoneName, ownerRecordName: ownerName == CKCurrentUserDefaultName ? nil : ownerName)
    }
}

extension [CKRecord.FieldKey] {
    /// To an app no keys means no fields; on the wire it means all. A key that no field can have stands for
    /// none.
    var onWire: [String] { isEmpty ? [CKRecord.SystemFieldKey.recordID] : self }
}
