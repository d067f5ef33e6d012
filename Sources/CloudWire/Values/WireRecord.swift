/// A record on the wire, in requests and in responses.
package struct WireRecord: Hashable, Sendable {
    /// The author and time of a record's creation or last change.
    package struct Stamp: Hashable, Sendable {
        /// Milliseconds since 1970.
        package var timestampMilliseconds: Int64
        /// The record name of the user.
        package var userRecordName: String?
        /// Device that made the change.
        package var deviceID: String?

        /// Makes a stamp.
        package init(timestampMilliseconds: Int64, userRecordName: String? = nil, deviceID: String? = nil) {
            self.timestampMilliseconds = timestampMilliseconds
            self.userRecordName = userRecordName
            self.deviceID = deviceID
        }
    }

    /// Name of the record. If a create request omits it, the server generates one.
    package var recordName: String?
    /// The record's type.
    package var recordType: String?
    /// Fields by name. In a request, the fields to change.
    package var fields: [String: Field]
    /// Tag of this version of the record. An update contains the tag of the version that it changes.
    package var recordChangeTag: String?
    /// The creator and time of creation.
    package var created: Stamp?
    /// The author and time of the last change.
    package var modified: Stamp?
    /// False in Apple's responses. A deleted record is a `Tombstone`.
    package var deleted: Bool?
    /// The record's zone. Nil if the message contains it.
    package var zoneID: ZoneID?
    /// The record's parent in a shared hierarchy.
    package var parent: Reference?
    /// The share that contains the record.
    package var share: Reference?
    /// The short name of a shared record in links.
    package var shortGUID: String?
    /// Fields of Apple's own plug-ins, usually empty.
    package var pluginFields: [String: Field]?
    /// Unreadable fields of a response, kept as received. Recorded responses of Apple's have some fields
    /// without a value or with damaged base64. A request with such a field is rejected.
    package var unreadableFields: [String: JSONValue] = [:]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]
    /// True if a request removes the record's parent: its `parent` is null.
    package var takesParentAway: Bool {
        get { parent == nil && unknown["parent"] == .null }
        set { unknown["parent"] = newValue ? .null : nil }
    }
    /// The fields in their binary form from the disk. If set, a response is written from them instead of
    /// `fields`.
    package var storedFields: [UInt8]?
    /// True to write this record's numbers as text. Nil to use the message's setting.
    package var numbersAsStrings: Bool?

    /// Makes a record.
    package init(
        recordName: String? = nil, recordType: String? = nil, fields: [String: Field] = [:],
        recordChangeTag: String? = nil, created: Stamp? = nil, modified: Stamp? = nil, deleted: Bool? = nil,
        zoneID: ZoneID? = nil, parent: Reference? = nil, share: Reference? = nil, shortGUID: String? = nil,
        pluginFields: [String: Field]? = nil
    ) {
        self.recordName = recordName
        self.recordType = recordType
        self.fields = fields
        self.recordChangeTag = recordChangeTag
        self.created = created
        self.modified = modified
        self.deleted = deleted
        self.zoneID = zoneID
        self.parent = parent
        self.share = share
        self.shortGUID = shortGUID
        self.pluginFields = pluginFields
    }
}
