internal import System

/// The value of a field. Two values are equal if their encodings are the same bytes. This differs from
/// `String`, where canonically equivalent texts are equal, and from `Double`, where zero and minus zero are
/// equal.
///
/// The large cases are indirect, so that the more frequent fields with text or numbers stay small.
package enum FieldValue: Hashable, Sendable {
    /// Text.
    case string(String)
    /// A whole number.
    case int64(Int64)
    /// A floating-point number. Only finite numbers can be sent, because JSON has no others.
    case double(Double)
    /// Milliseconds since 1970, negative before.
    case timestamp(milliseconds: Int64)
    /// Bytes.
    case bytes([UInt8])
    /// Bytes that the server must never index.
    case encryptedBytes([UInt8])
    /// The name of another record.
    indirect case reference(Reference)
    /// A place on earth.
    indirect case location(Location)
    /// A file.
    indirect case asset(Asset)
    /// Values of one type; the type is the list's (`stringList`).
    case list(FieldType, [FieldValue])

    /// The type of this value on the wire.
    package var type: FieldType {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .encryptedBytes: .encryptedBytes
        case .reference: .reference
        case .location: .location
        case .asset: .asset
        case .list(let type, _): type
        }
    }
}

extension FieldValue {
    /// Returns true if the encodings of both are the same bytes.
    package static func == (left: FieldValue, right: FieldValue) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.int64(let left), .int64(let right)): left == right
        case (.double(let left), .double(let right)): left.hasSameBits(as: right)
        case (.timestamp(let left), .timestamp(let right)): left == right
        case (.bytes(let left), .bytes(let right)): left == right
        case (.encryptedBytes(let left), .encryptedBytes(let right)): left == right
        case (.reference(let left), .reference(let right)): left == right
        case (.location(let left), .location(let right)): left == right
        case (.asset(let left), .asset(let right)): left == right
        case (.list(let leftType, let left), .list(let rightType, let right)):
            leftType == rightType && left == right
        default: false
        }
    }
}

/// The name of another record, and the effect of its deletion on this record.
package struct Reference: Hashable, Sendable {
    /// The effect of the target's deletion. The raw value is Apple's name.
    package enum Action: String, Hashable, Sendable {
        /// Nothing.
        case none = "NONE"
        /// This record is deleted too.
        case deleteSelf = "DELETE_SELF"
        /// The deletion is rejected.
        case validate = "VALIDATE"
    }

    /// The target's name.
    package var recordName: String
    /// The target's zone, or nil for the zone of the referencing record.
    package var zoneID: ZoneID?
    /// The effect of the target's deletion. Omitted in queries and for parents.
    package var action: Action?

    /// Makes a reference.
    package init(recordName: String, zoneID: ZoneID? = nil, action: Action? = nil) {
        self.recordName = recordName
        self.zoneID = zoneID
        self.action = action
    }

    /// Returns true if both have the same record name and zone, compared by bytes.
    package static func == (left: Reference, right: Reference) -> Bool {
        left.recordName.hasSameBytes(as: right.recordName) && left.zoneID == right.zoneID
            && left.action == right.action
    }
}

/// A place on earth.
package struct Location: Hashable, Sendable {
    /// Degrees north.
    package var latitude: Double
    /// Degrees east.
    package var longitude: Double
    /// Metres.
    package var horizontalAccuracy: Double?
    /// Metres.
    package var verticalAccuracy: Double?
    /// Metres above the sea.
    package var altitude: Double?
    /// Metres per second.
    package var speed: Double?
    /// Degrees clockwise from north.
    package var course: Double?
    /// Milliseconds since 1970.
    package var timestampMilliseconds: Int64?

    /// Makes a place.
    package init(
        latitude: Double, longitude: Double, horizontalAccuracy: Double? = nil,
        verticalAccuracy: Double? = nil, altitude: Double? = nil, speed: Double? = nil,
        course: Double? = nil, timestampMilliseconds: Int64? = nil
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.altitude = altitude
        self.speed = speed
        self.course = course
        self.timestampMilliseconds = timestampMilliseconds
    }

    /// Returns true if all numbers have the same bits.
    package static func == (left: Location, right: Location) -> Bool {
        left.numbers.elementsEqual(right.numbers) { $0.hasSameBits(as: $1) }
            && left.timestampMilliseconds == right.timestampMilliseconds
    }

    private var numbers: [Double?] {
        [latitude, longitude, horizontalAccuracy, verticalAccuracy, altitude, speed, course]
    }
}

/// A file: the receipt of an upload, or the description in a fetched record. All properties except the size
/// are opaque text.
package struct Asset: Hashable, Sendable {
    /// The checksum of the file.
    package var fileChecksum: String?
    /// Size in bytes.
    package var size: Int64?
    /// Key that encrypts the file. Private databases only.
    package var wrappingKey: String?
    /// Checksum of the reference. Private databases only.
    package var referenceChecksum: String?
    /// Proof of an upload, in requests.
    package var receipt: String?
    /// URL of the file, in responses. A literal `${f}` in it is a placeholder for a file name.
    package var downloadURL: String?
    /// Contents of the file in base64, if the server includes small files in the response.
    package var downloadedData: String?

    /// Makes a file's description.
    package init(
        fileChecksum: String? = nil, size: Int64? = nil, wrappingKey: String? = nil,
        referenceChecksum: String? = nil, receipt: String? = nil, downloadURL: String? = nil,
        downloadedData: String? = nil
    ) {
        self.fileChecksum = fileChecksum
        self.size = size
        self.wrappingKey = wrappingKey
        self.referenceChecksum = referenceChecksum
        self.receipt = receipt
        self.downloadURL = downloadURL
        self.downloadedData = downloadedData
    }

    /// Returns true if all texts are the same bytes.
    package static func == (left: Asset, right: Asset) -> Bool {
        left.size == right.size && left.texts.elementsEqual(right.texts) { $0.hasSameBytes(as: $1) }
    }

    private var texts: [String?] {
        [fileChecksum, wrappingKey, referenceChecksum, receipt, downloadURL, downloadedData]
    }
}
