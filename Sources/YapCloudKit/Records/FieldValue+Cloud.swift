package import CloudKit
package import CloudWire
import CoreLocation
import Foundation

// Converts between values of the framework's records and values in the tables. Uses only the framework's
// public API, which returns and accepts objects.

extension Field {
    /// Converts a value to a field.
    /// - Throws: `CKError.invalidArguments` for a value that a field can't hold.
    package init(
        cloudValue: any CKRecordValueProtocol, isEncrypted: Bool = false, in zoneID: CKRecordZone.ID
    ) throws(CKError) {
        let value = try FieldValue(cloudValue, isEncrypted: isEncrypted, in: zoneID)
        // The server knows the type of an empty list from the field's other values.
        let type: FieldType? = if case .list(.unknownList, _) = value { nil } else { value.type }
        self.init(value: value, type: type, isEncrypted: isEncrypted)
    }
}

extension FieldValue {
    init(_ value: Any, isEncrypted: Bool, in zoneID: CKRecordZone.ID) throws(CKError) {
        if let common = try Self.ofCommonType(value) {
            self = common
        } else {
            try self.init(casting: value, isEncrypted: isEncrypted, in: zoneID)
        }
    }

    /// Converts the most common types, checked by exact type. A cast that looks for a bridged type takes ten
    /// times as long.
    private static func ofCommonType(_ value: Any) throws(CKError) -> FieldValue? {
        let type = Swift.type(of: value)
        if type == NSString.self { return (value as? NSString).map { .string($0 as String) } }
        if type == String.self { return (value as? String).map { .string($0) } }
        if type == NSNumber.self, let number = value as? NSNumber { return try FieldValue(number: number) }
        if type == NSDate.self, let date = value as? NSDate { return try FieldValue(date: date as Date) }
        if type == Date.self, let date = value as? Date { return try FieldValue(date: date) }
        if type == Bool.self { return (value as? Bool).map { .int64($0 ? 1 : 0) } }
        if type == Int.self { return (value as? Int).map { .int64(Int64($0)) } }
        return nil
    }

    init(date: Date) throws(CKError) {
        guard let milliseconds = date.wholeMilliseconds else {
            throw .invalidValue("the date is further away than a field can hold")
        }
        self = .timestamp(milliseconds: milliseconds)
    }

    init(double: Double) throws(CKError) {
        guard double.isFinite else {
            throw .invalidValue("\(double) isn't a number that a field can hold")
        }
        self = .double(double)
    }

    private init(casting value: Any, isEncrypted: Bool, in zoneID: CKRecordZone.ID) throws(CKError) {
        switch value {
        case let value as String: self = .string(value)
        case let value as NSNumber: self = try FieldValue(number: value)
        case let value as Date: self = try FieldValue(date: value)
        case let value as Data: self = isEncrypted ? .encryptedBytes([UInt8](value)) : .bytes([UInt8](value))
        case let value as CKRecord.Reference: self = try FieldValue(reference: value, in: zoneID)
        case let value as CLLocation:
            guard value.isFinite else { throw .invalidValue("\(value) holds what isn't a number") }
            self = .location(Location(value))
        case let value as CKAsset: self = .asset(Asset(downloadURL: value.fileURL?.absoluteString))
        case let value as [Any]: self = try FieldValue(list: value, isEncrypted: isEncrypted, in: zoneID)
        // The error contains the framework's description of the invalid value.
        case let value as any __CKRecordObjCValue & NSObject: throw .invalidValue(value.description)
        default: throw .invalidValue("a field can't hold a \(Swift.type(of: value))")
        }
    }

    private init(number: NSNumber) throws(CKError) {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"):
            self = try FieldValue(double: number.doubleValue)
        case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max):
            throw .invalidValue("\(number) doesn't fit a 64-bit signed integer")
        default: self = .int64(number.int64Value)
        }
    }

    private init(reference: CKRecord.Reference, in zoneID: CKRecordZone.ID) throws(CKError) {
        guard reference.recordID.zoneID == zoneID else {
            throw .invalidValue("a reference can't leave its record's zone")
        }
        self = .reference(Reference(reference, in: zoneID))
    }

    private init(list: [Any], isEncrypted: Bool, in zoneID: CKRecordZone.ID) throws(CKError) {
        var elements: [FieldValue] = []
        for value in list { elements.append(try FieldValue(value, isEncrypted: isEncrypted, in: zoneID)) }
        let types = Set(elements.map(\.type))
        if types == [.int64, .double] {
            // Whole numbers mixed with fractions become a list of doubles.
            elements = elements.map { if case .int64(let value) = $0 { .double(Double(value)) } else { $0 } }
            self = .list(.doubleList, elements)
            return
        }
        guard let type = types.first else {
            self = .list(.unknownList, [])
            return
        }
        guard types.count == 1 else { throw .invalidValue("a list's elements have to be of one type") }
        guard let listType = type.listType else { throw .invalidValue("a list can't hold lists") }
        self = .list(listType, elements)
    }

    /// Returns the value in a record's type, or nil for a file that isn't on this device.
    package func cloudObject(in zoneID: CKRecordZone.ID) -> (any __CKRecordObjCValue)? {
        switch self {
        case .string(let value): value as NSString
        case .int64(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .timestamp(let milliseconds): Date(wholeMilliseconds: milliseconds) as NSDate
        case .bytes(let bytes), .encryptedBytes(let bytes): Data(bytes) as NSData
        case .reference(let reference): CKRecord.Reference(reference, in: zoneID)
        case .location(let location): CLLocation(location)
        case .asset(let asset): CloudFile(asset)?.asset ?? asset.fileURL.map { CKAsset(fileURL: $0) }
        case .list(_, let values): Self.cloudObject(of: values, in: zoneID)
        }
    }
}

extension FieldValue {
    /// Returns the list in a record's type, or nil if one of its files isn't on this device.
    private static func cloudObject(of values: [FieldValue], in zoneID: CKRecordZone.ID) -> NSArray? {
        let objects = values.compactMap { $0.cloudObject(in: zoneID) }
        return objects.count == values.count ? NSArray(array: objects) : nil
    }
}

extension Reference {
    init(_ reference: CKRecord.Reference, in zoneID: CKRecordZone.ID) {
        let target = reference.recordID.zoneID
        self.init(
            recordName: reference.recordID.recordName,
            zoneID: target == zoneID
                ? nil : ZoneID(zoneName: target.zoneName, ownerRecordName: target.ownerName),
            action: reference.action == .deleteSelf ? .deleteSelf : Reference.Action.none)
    }
}

extension CKRecord.Reference {
    convenience init(_ reference: Reference, in zoneID: CKRecordZone.ID) {
        let target = reference.zoneID.map {
            CKRecordZone.ID(zoneName: $0.zoneName, ownerName: $0.ownerRecordName ?? CKCurrentUserDefaultName)
        }
        self.init(
            recordID: CKRecord.ID(recordName: reference.recordName, zoneID: target ?? zoneID),
            action: reference.action == .deleteSelf ? .deleteSelf : .none)
    }
}

extension Asset {
    /// URL of the file on this device.
    var fileURL: URL? { downloadURL.flatMap { URL(string: $0) }.flatMap { $0.isFileURL ? $0 : nil } }
}

extension Date {
    init(wholeMilliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(wholeMilliseconds) / 1000)
    }

    /// Milliseconds since 1970, rounded, or nil for a date that exceeds 64 bits.
    var wholeMilliseconds: Int64? { Int64(exactly: (timeIntervalSince1970 * 1000).rounded()) }
}

extension CKError {
    fileprivate static func invalidValue(_ problem: String) -> CKError {
        CKError(.invalidArguments, userInfo: [NSLocalizedDescriptionKey: problem])
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
            timestamp: Date(wholeMilliseconds: location.timestampMilliseconds ?? 0))
    }
}

extension Location {
    fileprivate init(_ location: CLLocation) {
        self.init(
            latitude: location.coordinate.latitude, longitude: location.coordinate.longitude,
            horizontalAccuracy: location.horizontalAccuracy, verticalAccuracy: location.verticalAccuracy,
            altitude: location.altitude, speed: location.speed, course: location.course,
            timestampMilliseconds: location.timestamp.wholeMilliseconds)
    }
}
