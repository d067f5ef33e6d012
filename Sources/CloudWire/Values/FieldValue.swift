internal import System

/// What a field holds. Two values are equal when they are written in the same bytes. For `String` and `Double` two
/// normal forms of a text are equal, and so are zero and minus zero.
///
/// The large cases are indirect, so that the many fields which are text or numbers stay small.
package enum FieldValue: Hashable, Sendable {
    /// Text.
    case string(String)
    /// A whole number.
    case int64(Int64)
    /// A floating-point number. Only finite ones can travel: JSON has no other.
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

    /// The type that goes with this value on the wire.
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
    /// Returns true if both are written in the same bytes.
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

/// The name of another record, and what becomes of this one when that one is deleted.
package struct Reference: Hashable, Sendable {
    /// What the deletion of the target does; the raw value is Apple's name.
    package enum Action: String, Hashable, Sendable {
        /// Nothing.
        case none = "NONE"
        /// This record is deleted too.
        case deleteSelf = "DELETE_SELF"
        /// The deletion is refused.
        case validate = "VALIDATE"
    }

    /// The target's name.
    package var recordName: String
    /// The target's zone; nil means the zone of the record that holds the reference.
    package var zoneID: ZoneID?
    /// What the deletion of the target does; queries and parents leave it out.
    package var action: Action?

    /// Makes a reference.
    package init(recordName: String, zoneID: ZoneID? = nil, action: Action? = nil) {
        self.recordName = recordName
        self.zoneID = zoneID
        self.action = action
    }

    /// Returns true if both name the same record, in the same bytes.
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
    /// Metres a second.
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

    /// Returns true if all numbers are the same bits.
    package static func == (left: Location, right: Location) -> Bool {
        left.numbers.elementsEqual(right.numbers) { $0.hasSameBits(as: $1) }
            && left.timestampMilliseconds == right.timestampMilliseconds
    }

    private var numbers: [Double?] {
        [latitude, longitude, horizontalAccuracy, verticalAccuracy, altitude, speed, course]
    }
}

/// A file: the receipt of an upload, or what a fetch says of it. All but the size are opaque text.
package struct Asset: Hashable, Sendable {
    /// The checksum of the file.
    package var fileChecksum: String?
    /// Bytes.
    package var size: Int64?
    /// The key the file is wrapped with; private databases only.
    package var wrappingKey: String?
    /// The checksum of the reference; private databases only.
    package var referenceChecksum: String?
    /// The proof of an upload, in requests.
    package var receipt: String?
    /// Where the file can be had, in answers; a literal `${f}` in it stands for a file name.
    package var downloadURL: String?
    /// The file itself, base64, where a server sends small ones inline.
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
