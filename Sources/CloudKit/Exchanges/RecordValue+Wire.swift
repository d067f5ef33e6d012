package import CloudWire
import CoreLocation
import Foundation

extension RecordValue {
    /// A value of an answer.
    package init(_ value: FieldValue, in zoneID: CKRecordZoneID) {
        switch value {
        case .string(let value): self = .string(value)
        case .int64(let value): self = .int64(value)
        case .double(let value): self = .double(value)
        case .timestamp(let milliseconds): self = .date(Date(milliseconds: milliseconds))
        case .bytes(let bytes), .encryptedBytes(let bytes): self = .data(Data(bytes))
        case .reference(let reference): self = .reference(CKReference(reference, in: zoneID))
        case .location(let location): self = .location(CLLocation(location))
        case .asset: self = .asset(CKAsset(notDownloaded: ()))
        case .list(_, let values): self = .list(values.map { RecordValue($0, in: zoneID) })
        }
    }

    /// The value as a field goes out.
    /// - Throws: `CKError.invalidArguments` for what no field can hold, `CKError.assetNotAvailable` for an
    ///   asset.
    package func wire(isEncrypted: Bool, in zoneID: CKRecordZoneID) throws(CKError) -> Field {
        let value = try fieldValue(isEncrypted: isEncrypted, in: zoneID)
        if case .list(.unknownList, _) = value {
            // Of what an empty list is a list the server knows from the field's other values.
            return Field(value: value, type: nil, isEncrypted: isEncrypted)
        }
        return Field(value, isEncrypted: isEncrypted)
    }

    private func fieldValue(isEncrypted: Bool, in zoneID: CKRecordZoneID) throws(CKError) -> FieldValue {
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
            guard location.isFinite else { throw .invalidValue("\(location) holds what isn't a number") }
            return .location(Location(location))
        case .asset:
            throw CKError(
                .assetNotAvailable, "uploading assets isn't there yet; take the asset out of the record")
        case .list(let values): return try Self.list(values, isEncrypted: isEncrypted, in: zoneID)
        case .unsupported(let reason): throw .invalidValue(reason)
        }
    }

    private static func list(
        _ values: [RecordValue], isEncrypted: Bool, in zoneID: CKRecordZoneID
    ) throws(CKError) -> FieldValue {
        var elements: [FieldValue] = []
        for value in values { elements.append(try value.fieldValue(isEncrypted: isEncrypted, in: zoneID)) }
        let types = Set(elements.map(\.type))
        if types == [.int64, .double] {
            // Whole numbers among fractions: an app's list of numbers is one list.
            return .list(
                .doubleList,
                elements.map { if case .int64(let value) = $0 { .double(Double(value)) } else { $0 } })
        }
        guard let type = types.first else { return .list(.unknownList, []) }
        guard types.count == 1 else { throw .invalidValue("a list's elements have to be of one type") }
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
