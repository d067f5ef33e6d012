internal import CloudWire
import Foundation
internal import System

/// The database of an operation's requests, and their common properties.
struct RequestAddress: Sendable {
    var containerIdentifier: String
    var environment: String
    var scope: DatabaseScope
    /// True for a request about the device itself, not about a database.
    var isOfDevice = false
    /// True if a user is signed in.
    var isSignedIn: Bool
    /// The user; nil if unknown.
    var userRecordName: String?
    /// The user as the server has named it. Only used in requests: otherwise the creator of a record would have two
    /// names, depending on the operation.
    var askedUserRecordName: String?
    /// Idempotency keys, so that a write that is sent again is answered and not executed again.
    var idempotencyKeys: IdempotencyKeys
    /// The cache of fetched files; nil if no files are fetched.
    var assetCache: AssetCache?
    /// The kind of server.
    var serverKind = ServerKind.yap
    /// The clock of `now()` in predicates.
    var clock: any TimeSource = SystemTimeSource()
    /// Returns the long-lived operation's own copy of a file to upload; nil if it has none.
    var fileCopy: @Sendable (URL) -> URL? = { _ in nil }

    /// Maximum items that Apple's servers accept in one request.
    static let itemsMaxAtApple = 200
    /// Maximum items of one request.
    var itemsMax: Int { serverKind == .apple ? Self.itemsMaxAtApple : .max }

    /// Endpoints that Apple's servers don't have.
    private static let ourEndpoints: Set<String> = [
        "users/discoverability", "notifications/list", "notifications/read",
    ]

    /// Returns the request with `message` to the database's `endpoint`, for example `records/modify`.
    ///
    /// - Parameters:
    ///   - identity: the part of the message that stays the same when the write is sent again; nil for all of it.
    ///   - zoneID: the zone of the written records.
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

    /// Returns the request to the database's `endpoint`.
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

    /// The address for requests about the device itself.
    var ofDevice: RequestAddress {
        var address = self
        address.isOfDevice = true
        return address
    }

    /// Returns the zone of a response, converted for the app: outside the shared database every zone is the user's
    /// own, and the framework uses one name for that owner, regardless of the server's.
    func zoneID(_ zoneID: ZoneID) -> CKRecordZoneID {
        let owner = scope == .shared ? zoneID.ownerRecordName : nil
        return CKRecordZoneID(zoneName: zoneID.zoneName, ownerName: owner ?? CKCurrentUserDefaultName)
    }
}

extension CKRecordZoneID {
    /// The zone in a request. The user's own zone has no owner there.
    var wire: ZoneID {
        ZoneID(
            zoneName: zoneName, ownerRecordName: ownerName == CKCurrentUserDefaultName ? nil : ownerName)
    }
}

extension [CKRecord.FieldKey] {
    /// The keys in a request. For an app, no keys means no fields; in the protocol it means all. A key that no field
    /// can have stands for none.
    var onWire: [String] { isEmpty ? [CKRecord.SystemFieldKey.recordID] : self }
}
