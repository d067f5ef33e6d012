/// The body of `assets/upload`: requests addresses for uploads.
package struct AssetsUploadRequest: Hashable, Sendable {
    /// A file that is to be uploaded.
    package struct Token: Hashable, Sendable {
        /// The record's name. Nil lets the server make one.
        package var recordName: String?
        /// The record's type.
        package var recordType: String?
        /// The file's field.
        package var fieldName: String
        /// Unknown keys, kept as received.
        package var unknown: [String: JSONValue] = [:]

        /// Names a field of a record.
        package init(fieldName: String, recordType: String? = nil, recordName: String? = nil) {
            self.fieldName = fieldName
            self.recordType = recordType
            self.recordName = recordName
        }
    }

    /// The files, in the order of the response.
    package var tokens: [Token]
    /// The zone of the records. Nil is the default zone.
    package var zoneID: ZoneID?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(tokens: [Token], zoneID: ZoneID? = nil) {
        self.tokens = tokens
        self.zoneID = zoneID
    }
}

/// The response of `assets/upload`.
package struct AssetsUploadResponse: Hashable, Sendable {
    /// The address for one file.
    package struct Token: Hashable, Sendable {
        /// The file's record.
        package var recordName: String
        /// The file's field.
        package var fieldName: String
        /// URL to which the file's bytes are sent by POST.
        package var url: String
        /// Unknown keys, kept as received.
        package var unknown: [String: JSONValue] = [:]

        /// Makes a response for one file.
        package init(recordName: String, fieldName: String, url: String) {
            self.recordName = recordName
            self.fieldName = fieldName
            self.url = url
        }
    }

    /// One for each file of the request, in its order.
    package var tokens: [Token]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(tokens: [Token]) {
        self.tokens = tokens
    }
}

/// The response to an upload: the value of the record's field.
package struct AssetUploadedResponse: Hashable, Sendable {
    /// The file with its receipt.
    package var singleFile: Asset
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(singleFile: Asset) {
        self.singleFile = singleFile
    }
}

/// The body of `assets/rereference`: requests new receipts for files of records, without another upload.
package struct AssetsRereferenceRequest: Hashable, Sendable {
    /// A field of a record that holds a file.
    package struct Source: Hashable, Sendable {
        /// The record.
        package var recordName: String
        /// The field.
        package var fieldName: String
        /// Unknown keys, kept as received.
        package var unknown: [String: JSONValue] = [:]

        /// Names a field of a record.
        package init(recordName: String, fieldName: String) {
            self.recordName = recordName
            self.fieldName = fieldName
        }
    }

    /// The fields.
    package var assets: [Source]
    /// The zone of the records. Nil is the default zone.
    package var zoneID: ZoneID?
    /// The zone in which the files will be saved. Nil is the same zone.
    package var targetZoneID: ZoneID?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(assets: [Source], zoneID: ZoneID? = nil, targetZoneID: ZoneID? = nil) {
        self.assets = assets
        self.zoneID = zoneID
        self.targetZoneID = targetZoneID
    }
}

/// The response of `assets/rereference`.
package struct AssetsRereferenceResponse: Hashable, Sendable {
    /// The result for one field.
    package enum Result: Hashable, Sendable {
        /// The file with a receipt.
        case asset(Asset)
        /// The error, with the record's name.
        case error(WireError)
    }

    /// One for each field of the request, in its order.
    package var assets: [Result]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(assets: [Result]) {
        self.assets = assets
    }
}
