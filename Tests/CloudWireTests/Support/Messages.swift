import CloudWire
import Foundation
import Testing

/// A message of a known shape: what the tests ask of each of them, without its type.
struct MessageShape: Sendable {
    let decode: @Sendable ([UInt8]) throws -> any JSONMessage

    init<Message: JSONMessage>(_ type: Message.Type) {
        decode = { bytes in try Message(json: bytes) }
    }

    /// By endpoint and direction: `records/modify request`.
    static let byName: [String: MessageShape] = [
        "records/modify request": .init(RecordsModifyRequest.self),
        "records/modify response": .init(RecordsModifyResponse.self),
        "records/lookup request": .init(RecordsLookupRequest.self),
        "records/lookup response": .init(RecordsLookupResponse.self),
        "records/query request": .init(RecordsQueryRequest.self),
        "records/query response": .init(RecordsQueryResponse.self),
        "records/query/batch request": .init(RecordsQueryBatchRequest.self),
        "records/query/batch response": .init(RecordsQueryBatchResponse.self),
        "changes/database request": .init(ChangesDatabaseRequest.self),
        "changes/database response": .init(ChangesDatabaseResponse.self),
        "changes/zone request": .init(ChangesZoneRequest.self),
        "changes/zone response": .init(ChangesZoneResponse.self),
        "records/changes request": .init(RecordsChangesRequest.self),
        "records/changes response": .init(RecordsChangesResponse.self),
        "zones/changes request": .init(ZonesChangesRequest.self),
        "zones/changes response": .init(ZonesChangesResponse.self),
        "zones/list request": .init(ZonesListRequest.self),
        "zones/list response": .init(ZonesListResponse.self),
        "zones/lookup request": .init(ZonesLookupRequest.self),
        "zones/lookup response": .init(ZonesLookupResponse.self),
        "zones/modify request": .init(ZonesModifyRequest.self),
        "zones/modify response": .init(ZonesModifyResponse.self),
        "subscriptions/list request": .init(SubscriptionsListRequest.self),
        "subscriptions/list response": .init(SubscriptionsResponse.self),
        "subscriptions/lookup request": .init(SubscriptionsLookupRequest.self),
        "subscriptions/lookup response": .init(SubscriptionsResponse.self),
        "subscriptions/modify request": .init(SubscriptionsModifyRequest.self),
        "subscriptions/modify response": .init(SubscriptionsResponse.self),
        "tokens/create request": .init(TokensCreateRequest.self),
        "tokens/create response": .init(TokensResponse.self),
        "tokens/register request": .init(TokensRegisterRequest.self),
        "tokens/register response": .init(TokensResponse.self),
        "courier/database response": .init(PushPayload.self),
        "courier/zone response": .init(PushPayload.self),
        "courier/query response": .init(PushPayload.self),
        "users/discover request": .init(UsersDiscoverRequest.self),
        "users/discover response": .init(UsersDiscoverResponse.self),
        "users/lookup request": .init(UsersLookup.self),
        "users/lookup response": .init(UsersLookup.self),
        "users/current response": .init(WireUser.self),
        "users/discoverability request": .init(UsersDiscoverability.self),
        "users/discoverability response": .init(UsersDiscoverability.self),
        "users/caller response": .init(UsersCallerResponse.self),
        "request/error response": .init(WireError.self),
        "field/types response": .init(RecordsResponse.self),
    ]
}

/// One of our own fixtures: its file's name tells its shape (`records-modify.request.json`).
struct Fixture: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let shape: MessageShape

    var testDescription: String { name }

    static let all: [Fixture] = {
        guard let folder = Bundle.module.resourceURL?.appendingPathComponent("Fixtures"),
            let files = try? FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: nil)
        else { return [] }
        return files.filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }.compactMap { file in
            let parts = file.deletingPathExtension().lastPathComponent.split(separator: ".")
            let name = "\(parts[0].replacing("-", with: "/")) \(parts[1])"
            guard let shape = MessageShape.byName[name], let data = try? Data(contentsOf: file) else {
                return nil
            }
            return Fixture(name: name, bytes: Array(data), shape: shape)
        }
    }()
}

extension JSONMessage {
    /// All records that stand in the message.
    var recordsInside: [WireRecord] {
        switch self {
        case let request as RecordsModifyRequest: request.operations.map(\.record)
        case let response as RecordsResponse: response.records.compactMap(\.record)
        case let response as RecordsQueryResponse: response.records.compactMap(\.record)
        case let response as RecordsQueryBatchResponse:
            response.batch.flatMap { $0.records.compactMap(\.record) }
        case let response as ChangesZoneResponse:
            response.zones.flatMap { result in
                if case .changes(let changes) = result {
                    changes.records.compactMap(\.record)
                } else {
                    [WireRecord]()
                }
            }
        default: []
        }
    }
}

extension RecordResult {
    /// The record, if it is one.
    var record: WireRecord? {
        if case .record(let record) = self { record } else { nil }
    }
}
