internal import CloudWire

/// Creates and deletes zones, in one request.
struct ModifyZonesExchange: OperationExchange {
    enum Event: Sendable {
        case saved(CKRecordZoneID, Result<CKRecordZone, CKError>)
        case deleted(CKRecordZoneID, Result<Void, CKError>)
    }

    private let address: RequestAddress
    private let saves: [CKRecordZoneID]
    private let deletions: [CKRecordZoneID]
    private var end: Result<Void, CKError>?

    init(saving saves: [CKRecordZoneID], deleting deletions: [CKRecordZoneID], address: RequestAddress) {
        self.address = address
        self.saves = saves
        self.deletions = deletions
        if saves.isEmpty && deletions.isEmpty { end = .success(()) }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Void> {
        if let end { return .finished(try end.get()) }
        let operations =
            saves.map { ZoneOperation(operationType: .create, zone: WireZone(zoneID: $0.wire)) }
            + deletions.map { ZoneOperation(operationType: .delete, zone: WireZone(zoneID: $0.wire)) }
        let message = ZonesModifyRequest(operations: operations)
        return .send(try address.request("zones/modify", message: message))
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        do throws(CKError) {
            let response = try ResponseDecoder.decode(ZonesResponse.self, from: reply)
            guard response.zones.count == saves.count + deletions.count else {
                throw CKError.unreadable("\(response.zones.count) results for another number of zones")
            }
            end = .success(())
            return zip(saves, response.zones).map { zoneID, result in saved(zoneID, result, reply) }
                + zip(deletions, response.zones.dropFirst(saves.count)).map { zoneID, result in
                    switch result {
                    case .zone: .deleted(zoneID, .success(()))
                    case .error(let error):
                        .deleted(zoneID, .failure(address.error(error, in: reply, zone: zoneID)))
                    }
                }
        } catch {
            end = .failure(error)
            return []
        }
    }

    private func saved(
        _ zoneID: CKRecordZoneID, _ result: ZoneResult, _ reply: Result<WireResponse, CKError>
    ) -> Event {
        switch result {
        case .zone: .saved(zoneID, .success(address.zone(zoneID)))
        // Saving an existing zone is no error in the framework, and changes nothing.
        case .error(let error) where error.serverErrorCode == .exists:
            .saved(zoneID, .success(address.zone(zoneID)))
        case .error(let error): .saved(zoneID, .failure(address.error(error, in: reply, zone: zoneID)))
        }
    }
}

/// Fetches zones by their IDs, or all.
struct FetchZonesExchange: OperationExchange {
    typealias Event = (zoneID: CKRecordZoneID, result: Result<CKRecordZone, CKError>)

    private let address: RequestAddress
    /// The zones to fetch; nil for all.
    private let zoneIDs: [CKRecordZoneID]?
    private var end: Result<Void, CKError>?

    init(zoneIDs: [CKRecordZoneID]?, address: RequestAddress) {
        self.address = address
        self.zoneIDs = zoneIDs
        if zoneIDs?.isEmpty == true { end = .success(()) }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Void> {
        if let end { return .finished(try end.get()) }
        guard let zoneIDs else {
            return .send(try address.request("zones/list", message: ZonesListRequest()))
        }
        let message = ZonesLookupRequest(zones: zoneIDs.map(\.wire))
        return .send(try address.request("zones/lookup", message: message))
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        do throws(CKError) {
            let response = try ResponseDecoder.decode(ZonesResponse.self, from: reply)
            guard zoneIDs == nil || response.zones.count == zoneIDs?.count else {
                throw CKError.unreadable("\(response.zones.count) results for another number of zones")
            }
            end = .success(())
            return response.zones.enumerated().compactMap { index, result in
                switch result {
                case .zone(let zone):
                    let zoneID = zoneIDs?[index] ?? address.zoneID(zone.zoneID)
                    return (zoneID, .success(address.zone(zoneID)))
                case .error(let error):
                    let zoneID = zoneIDs?[index] ?? error.zoneID.map { address.zoneID($0) }
                    return zoneID.map { ($0, .failure(address.error(error, in: reply, zone: $0))) }
                }
            }
        } catch {
            end = .failure(error)
            return []
        }
    }
}

extension RequestAddress {
    /// Returns a zone of the server. Its capabilities follow from its database; sharing isn't available yet.
    fileprivate func zone(_ zoneID: CKRecordZoneID) -> CKRecordZone {
        let isCustom = scope != .public && zoneID.zoneName != CKRecordZoneID.defaultZoneName
        return CKRecordZone(zoneID: zoneID, capabilities: isCustom ? [.fetchChanges, .atomic] : [])
    }
}
