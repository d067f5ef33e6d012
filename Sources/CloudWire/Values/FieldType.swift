/// The type of a field on the wire. The raw value is Apple's name.
package enum FieldType: String, Hashable, CaseIterable, Sendable {
    /// Text.
    case string = "STRING"
    /// A 64-bit whole number.
    case int64 = "INT64"
    /// A 64-bit floating-point number.
    case double = "DOUBLE"
    /// Milliseconds since 1970.
    case timestamp = "TIMESTAMP"
    /// Bytes, base64 on the wire.
    case bytes = "BYTES"
    /// The name of another record.
    case reference = "REFERENCE"
    /// A place on earth.
    case location = "LOCATION"
    /// A file.
    case asset = "ASSETID"
    /// Bytes that the server must never index.
    case encryptedBytes = "ENCRYPTED_BYTES"
    /// A list of text.
    case stringList = "STRING_LIST"
    /// A list of whole numbers.
    case int64List = "INT64_LIST"
    /// A list of floating-point numbers.
    case doubleList = "DOUBLE_LIST"
    /// A list of times.
    case timestampList = "TIMESTAMP_LIST"
    /// A list of bytes.
    case bytesList = "BYTES_LIST"
    /// A list of references.
    case referenceList = "REFERENCE_LIST"
    /// A list of places.
    case locationList = "LOCATION_LIST"
    /// A list of files.
    case assetList = "ASSETID_LIST"
    /// A list of encrypted bytes.
    case encryptedBytesList = "ENCRYPTED_BYTES_LIST"
    /// An empty list of unknown element type.
    case unknownList = "UNKNOWN_LIST"

    /// True if values of this type are lists.
    package var isList: Bool { elementType != nil || self == .unknownList }

    /// The type of a list's elements, or nil for `unknownList` and for a type that isn't a list.
    package var elementType: FieldType? {
        switch self {
        case .stringList: .string
        case .int64List: .int64
        case .doubleList: .double
        case .timestampList: .timestamp
        case .bytesList: .bytes
        case .referenceList: .reference
        case .locationList: .location
        case .assetList: .asset
        case .encryptedBytesList: .encryptedBytes
        default: nil
        }
    }

    /// The type of a list with elements of this type, or nil if this is a list type itself.
    package var listType: FieldType? {
        switch self {
        case .string: .stringList
        case .int64: .int64List
        case .double: .doubleList
        case .timestamp: .timestampList
        case .bytes: .bytesList
        case .reference: .referenceList
        case .location: .locationList
        case .asset: .assetList
        case .encryptedBytes: .encryptedBytesList
        default: nil
        }
    }
}
