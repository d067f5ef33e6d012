/// The body of `assets/upload`: asks where files may be sent.
public struct AssetsUploadRequest: Hashable, Sendable {
    /// A file that is to be uploaded.
    public struct Token: Hashable, Sendable {
        /// The record; a name is made where it is absent.
        public var recordName: String?
        /// The record's type.
        public var recordType: String?
        /// The field that the file is for.
        public var fieldName: String
        /// Unknown keys, kept as received.
        public var unknown: [String: JSONValue] = [:]

        /// Names a field of a record.
        public init(fieldName: String, recordType: String? = nil, recordName: String? = nil) {
            self.fieldName = fieldName
            self.recordType = recordType
            self.recordName = recordName
        }
    }

    /// The files, in the order of the response.
    public var tokens: [Token]
    /// The zone of the records; the default zone where it is absent.
    public var zoneID: ZoneID?
    /// Unknown keys, kept as received.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    public init(tokens: [Token], zoneID: ZoneID? = nil) {
        self.tokens = tokens
        self.zoneID = zoneID
    }
}

/// The response of `assets/upload`.
public struct AssetsUploadResponse: Hashable, Sendable {
    /// Where one file may be sent.
    public struct Token: Hashable, Sendable {
        /// The record that the file is for.
        public var recordName: String
        /// The field that the file is for.
        public var fieldName: String
        /// Where its bytes are sent by POST.
        public var url: String
        /// Unknown keys, kept as received.
        public var unknown: [String: JSONValue] = [:]

        /// Makes a response for one file.
        public init(recordName: String, fieldName: String, url: String) {
            self.recordName = recordName
            self.fieldName = fieldName
            self.url = url
        }
    }

    /// One for each file of the request, in its order.
    public var tokens: [Token]
    /// Unknown keys, kept as received.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    public init(tokens: [Token]) {
        self.tokens = tokens
    }
}

/// The response to a file that was sent: what a record's field is set to.
public struct AssetUploadedResponse: Hashable, Sendable {
    /// The file with its receipt.
    public var singleFile: Asset
    /// Unknown keys, kept as received.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    public init(singleFile: Asset) {
        self.singleFile = singleFile
    }
}

/// The body of `assets/rereference`: asks for new receipts of files that records have, without sending them again.
public struct AssetsRereferenceRequest: Hashable, Sendable {
    /// A field of a record that holds a file.
    public struct Source: Hashable, Sendable {
        /// The record.
        public var recordName: String
        /// The field.
        public var fieldName: String
        /// Unknown keys, kept as received.
        public var unknown: [String: JSONValue] = [:]

        /// Names a field of a record.
        public init(recordName: String, fieldName: String) {
            self.recordName = recordName
            self.fieldName = fieldName
        }
    }

    /// The fields.
    public var assets: [Source]
    /// The zone of the records; the default zone where it is absent.
    public var zoneID: ZoneID?
    /// The zone in which the files will be saved; the same one where it is absent.
    public var targetZoneID: ZoneID?
    /// Unknown keys, kept as received.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    public init(assets: [Source], zoneID: ZoneID? = nil, targetZoneID: ZoneID? = nil) {
        self.assets = assets
        self.zoneID = zoneID
        self.targetZoneID = targetZoneID
    }
}

/// The response of `assets/rereference`.
public struct AssetsRereferenceResponse: Hashable, Sendable {
    /// What one field came to.
    public enum Result: Hashable, Sendable {
        /// The file with a receipt.
        case asset(Asset)
        /// Why there is none; it names the record.
        case error(WireError)
    }

    /// One for each field of the request, in its order.
    public var assets: [Result]
    /// Unknown keys, kept as received.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    public init(assets: [Result]) {
        self.assets = assets
    }
}
