internal import CloudWire
import Foundation

/// Fetches the changes of zones since their tokens, page by page.
struct FetchZoneChangesExchange: OperationExchange {
    enum Event: Sendable {
        case changed(CKRecordID, Result<RecordState, CKError>)
        case deleted(CKRecordID, recordType: String)
        /// A page was read. This exchange fetches more of the zone.
        case tokenUpdated(CKRecordZoneID, CKServerChangeToken, clientToken: Data?)
        case zoneEnded(CKRecordZoneID, Result<ZoneEnd, CKError>)
    }

    struct ZoneEnd: Sendable {
        var token: CKServerChangeToken
        /// The client token of this device's last write into the zone.
        var clientToken: Data?
        var moreComing: Bool
        /// Checksum of the zone; only from our server, with the last page.
        var checksum: ZoneChecksum?
        /// Version of the schema; only from our server, with the last page.
        var schemaVersion: String?
    }

    struct Zone: Sendable {
        var zoneID: CKRecordZoneID
        var token: CKServerChangeToken?
        var resultsLimit: Int?
        var desiredKeys: [String]?
        /// True if each record is reported with its contribution to the zone's checksum.
        var countsRecords = false
    }

    /// Maximum zones of one request.
    static let zonesMax = 50

    private let address: RequestAddress
    private let fetchesAllChanges: Bool
    private var waiting: [Zone]
    private var sent: [Zone] = []
    private var failure: CKError?

    init(zones: [Zone], fetchesAllChanges: Bool, address: RequestAddress) {
        self.address = address
        self.fetchesAllChanges = fetchesAllChanges
        waiting = zones
        if address.scope == .public, !zones.isEmpty {
            failure = CKError(.badDatabase, "The public database has no change feed; query it.")
        }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Void> {
        if let failure { throw failure }
        guard !waiting.isEmpty else { return .finished(()) }
        sent = Array(waiting.prefix(Self.zonesMax))
        waiting.removeFirst(sent.count)
        let message = ChangesZoneRequest(
            zones: sent.map { zone in
                ChangesZoneRequest.Item(
                    zoneID: zone.zoneID.wire, syncToken: zone.token?.token,
                    options: ChangesZoneOptions(
                        resultsLimit: zone.resultsLimit.flatMap { $0 > 0 ? Int64($0) : nil },
                        desiredKeys: zone.desiredKeys?.onWire))
            })
        return .send(try address.request("changes/zone", message: message))
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        do throws(CKError) {
            let response = try ResponseDecoder.decode(ChangesZoneResponse.self, from: reply)
            guard response.zones.count == sent.count else {
                throw CKError.unreadable("\(response.zones.count) results for \(sent.count) zones")
            }
            var next: [Zone] = []
            let events = zip(sent, response.zones).flatMap { zone, result in
                switch result {
                case .error(let error):
                    let error = address.error(error, in: reply, zone: zone.zoneID)
                    return [Event.zoneEnded(zone.zoneID, .failure(error))]
                case .changes(let changes): return take(changes, of: zone, in: reply, next: &next)
                }
            }
            if events.isEmpty, !next.isEmpty {
                throw .unreadable("more changes are coming, but no token changes")
            }
            // Partially fetched zones come before others, so that they are completed soon.
            waiting = next + waiting
            return events
        } catch {
            // With one zone, the error of the whole request can be the zone's.
            if sent.count == 1, error.isOfOneZone || error.code == .changeTokenExpired {
                let error = error.naming(zone: sent[0].zoneID, container: address.containerIdentifier)
                return [.zoneEnded(sent[0].zoneID, .failure(error))]
            }
            failure = error
            return []
        }
    }

    private func take(
        _ changes: ZoneChanges, of zone: Zone, in reply: Result<WireResponse, CKError>, next: inout [Zone]
    ) -> [Event] {
        var events: [Event] = []
        for result in changes.records {
            switch result {
            case .record(let record):
                guard let recordName = record.recordName else { continue }
                events.append(
                    .changed(
                        CKRecordID(recordName: recordName, zoneID: zone.zoneID),
                        address.record(record, in: zone.zoneID).map { $0.counted(record, zone) }))
            case .tombstone(let tombstone):
                events.append(
                    .deleted(
                        CKRecordID(recordName: tombstone.recordName, zoneID: zone.zoneID),
                        recordType: tombstone.recordType ?? ""))
            case .error(let error):
                guard let recordName = error.recordName else { continue }
                let recordID = CKRecordID(recordName: recordName, zoneID: zone.zoneID)
                events.append(
                    .changed(recordID, .failure(address.error(error, in: reply, record: recordID))))
            }
        }
        guard let token = changes.syncToken.map({ CKServerChangeToken(token: $0) }) else {
            let error = CKError.unreadable("a zone's changes without a token").naming(
                zone: zone.zoneID, container: address.containerIdentifier, request: reply.value?.requestID)
            return events + [.zoneEnded(zone.zoneID, .failure(error))]
        }
        let moreComing = changes.moreComing ?? false
        let clientToken = changes.clientChangeToken.map { Data($0) }
        guard moreComing, fetchesAllChanges else {
            let end = ZoneEnd(
                token: token, clientToken: clientToken, moreComing: moreComing, checksum: changes.checksum,
                schemaVersion: changes.schemaVersion)
            return events + [.zoneEnded(zone.zoneID, .success(end))]
        }
        // A zone makes no progress if the zones before it filled the response. But a zone that returned records without
        // a new token would return the same ones forever.
        let movedOn = token != zone.token
        guard movedOn || events.isEmpty else {
            let error = CKError.unreadable("more changes are coming, but the token doesn't change").naming(
                zone: zone.zoneID, container: address.containerIdentifier, request: reply.value?.requestID)
            return events + [.zoneEnded(zone.zoneID, .failure(error))]
        }
        var zone = zone
        zone.token = token
        next.append(zone)
        guard movedOn else { return events }
        return events + [.tokenUpdated(zone.zoneID, token, clientToken: clientToken)]
    }
}

extension RecordState {
    /// Returns the record with its contribution to the zone's checksum, if that is wanted and the record is
    /// complete.
    fileprivate func counted(_ record: WireRecord, _ zone: FetchZoneChangesExchange.Zone) -> RecordState {
        guard zone.countsRecords, zone.desiredKeys == nil, record.unreadableFields.isEmpty else {
            return self
        }
        var state = self
        state.contentChecksum = ZoneChecksum.content(recordName: recordID.recordName, fields: record.fields)
        return state
    }
}

extension FetchZoneChangesExchange.Event: FetchedRecordEvent {
    var fetchedRecord: RecordState? {
        if case .changed(_, .success(let record)) = self { record } else { nil }
    }

    func with(_ result: Result<RecordState, CKError>) -> FetchZoneChangesExchange.Event {
        if case .changed(let recordID, _) = self { .changed(recordID, result) } else { self }
    }
}
