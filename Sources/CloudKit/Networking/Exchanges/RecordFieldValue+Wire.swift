package import CloudWire
import CoreLocation
import Foundation

extension RecordFieldValue {
    /// A value of a response.
    package init(_ value: FieldValue, in zoneID: CKRecordZoneID) {
        switch value {
        case .string(let value): self = .string(value)
        case .int64(let value): self = .int64(value)
        case .double(let value): self = .double(value)
        case .timestamp(let milliseconds): self = .date(Date(milliseconds: milliseconds))
        case .bytes(let bytes), .encryptedBytes(let bytes): self = .data(Data(bytes))
        case .reference(let reference): self = .reference(CKReference(reference, in: zoneID))
        case .location(let location): self = .location(CLLocation(location))
        case .asset(let asset):
            // The caller sets the field of the asset when it reads the whole record.
            let unknown = CKRecordID(recordName: "", zoneID: zoneID)
            self = .asset(CKAsset(FetchedAsset(asset: asset, recordID: unknown, key: "")))
        case .list(_, let values): self = .list(values.map { RecordFieldValue($0, in: zoneID) })
        }
    }

    /// The same value, with its field set in its assets.
    func fetched(of recordID: CKRecordID, _ key: String) -> RecordFieldValue {
        switch self {
        case .asset(let asset):
            .asset(CKAsset(asset.fetched.map { FetchedAsset(asset: $0.asset, recordID: recordID, key: key) }))
        case .list(let values) where hasAssets:
            .list(values.map { $0.fetched(of: recordID, key) })
        default: self
        }
    }

    /// Returns the value as a field of a request.
    /// - Parameter assets: returns the wire form of an asset, which is at this index of a list.
    /// - Throws: `CKError.invalidArguments` for a value that no field can hold, `CKError.assetNotAvailable` for an
    ///   asset.
    package func wire(isEncrypted: Bool, in zoneID: CKRecordZoneID) throws(CKError) -> Field {
        try wire(isEncrypted: isEncrypted, in: zoneID) { _, _ throws(CKError) in
            throw CKError(.assetNotAvailable, "an asset is a field of a record")
        }
    }

    func wire(isEncrypted: Bool, in zoneID: CKRecordZoneID, assets: AssetForm) throws(CKError) -> Field {
        let value = try fieldValue(isEncrypted: isEncrypted, in: zoneID, 0, assets)
        if case .list(.unknownList, _) = value {
            // The server knows the element type of an empty list from other values of the field.
            return Field(value: value, type: nil, isEncrypted: isEncrypted)
        }
        return Field(value, isEncrypted: isEncrypted)
    }

    /// Returns the wire form of an asset at the index of a list.
    typealias AssetForm = (CKAsset, Int) throws(CKError) -> Asset

    private func fieldValue(
        isEncrypted: Bool, in zoneID: CKRecordZoneID, _ index: Int, _ assets: AssetForm
    ) throws(CKError) -> FieldValue {
        switch self {
        case .string(let value): return .string(value)
        case .int64(let value): return .int64(value)
        case .double(let value):
            guard value.isFinite else { throw .invalidValue("\(value) isn't a number that a field can hold") }
            return .double(value)
        case .date(let date):
            guard let milliseconds = date.milliseconds else {
                throw .invalidValue("the date is further away than a field can hold")
            }
            return .timestamp(milliseconds: milliseconds)
        case .data(let data): return isEncrypted ? .encryptedBytes([UInt8](data)) : .bytes([UInt8](data))
        case .reference(let reference):
            guard reference.recordID.zoneID == zoneID else {
                throw .invalidValue("a reference can't leave its record's zone")
            }
            return .reference(
                Reference(
                    recordName: reference.recordID.recordName,
                    action: reference.action == .deleteSelf ? .deleteSelf : Reference.Action.none))
        case .location(let location):
            guard location.isFinite else {
                throw .invalidValue("\(location) has a value that isn't a number")
            }
            return .location(Location(location))
        case .asset(let asset): return .asset(try assets(asset, index))
        case .list(let values): return try Self.list(values, isEncrypted: isEncrypted, in: zoneID, assets)
        case .unsupported(let reason): throw .invalidValue(reason)
        }
    }

    private static func list(
        _ values: [RecordFieldValue], isEncrypted: Bool, in zoneID: CKRecordZoneID, _ assets: AssetForm
    ) throws(CKError) -> FieldValue {
        var elements: [FieldValue] = []
        for (index, value) in values.enumerated() {
            elements.append(try value.fieldValue(isEncrypted: isEncrypted, in: zoneID, index, assets))
        }
        guard let type = elements.first?.type else { return .list(.unknownList, []) }
        guard elements.allSatisfy({ $0.type == type }) else {
            guard Set(elements.map(\.type)) == [.int64, .double] else {
                throw .invalidValue("a list's elements have to be of one type")
            }
            // A list with integers and fractions is one list of numbers.
            return .list(
                .doubleList,
                elements.map { if case .int64(let value) = $0 { .double(Double(value)) } else { $0 } })
        }
        guard let listType = type.listType else { throw .invalidValue("a list can't hold lists") }
        return .list(listType, elements)
    }
}

extension CKError {
    fileprivate static func invalidValue(_ problem: String) -> CKError {
        CKError(.invalidArguments, problem)
    }
}

extension CLLocation {
    fileprivate var isFinite: Bool {
        [
            coordinate.latitude, coordinate.longitude, altitude, horizontalAccuracy, verticalAccuracy, course,
            speed,
        ].allSatisfy(\.isFinite)
    }

    fileprivate convenience init(_ location: Location) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: location.latitude, longitude: location.longitude),
            altitude: location.altitude ?? 0, horizontalAccuracy: location.horizontalAccuracy ?? 0,
            verticalAccuracy: location.verticalAccuracy ?? -1, course: location.course ?? -1,
            speed: location.speed ?? -1,
            timestamp: Date(milliseconds: location.timestampMilliseconds ?? 0))
    }
}

extension Location {
    fileprivate init(_ location: CLLocation) {
        self.init(
            latitude: location.coordinate.latitude, longitude: location.coordinate.longitude,
            horizontalAccuracy: location.horizontalAccuracy, verticalAccuracy: location.verticalAccuracy,
            altitude: location.altitude, speed: location.speed, course: location.course,
            timestampMilliseconds: location.timestamp.milliseconds)
    }
}
