/// A record as it crosses the wire, in requests and in answers.
package struct WireRecord: Hashable, Sendable {
    /// The author and time of a record's creation or last change.
    package struct Stamp: Hashable, Sendable {
        /// Milliseconds since 1970.
        package var timestampMilliseconds: Int64
        /// The record name of the user.
        package var userRecordName: String?
        /// The device it was done on.
        package var deviceID: String?

        /// Makes a stamp.
        package init(timestampMilliseconds: Int64, userRecordName: String? = nil, deviceID: String? = nil) {
            self.timestampMilliseconds = timestampMilliseconds
            self.userRecordName = userRecordName
            self.deviceID = deviceID
        }
    }

    /// The record's name; left out of a create, the server makes one.
    package var recordName: String?
    /// The record's type.
    package var recordType: String?
    /// The fields by name. In a request, those that shall change.
    package var fields: [String: Field]
    /// Names this version of the record; an update sends the one it knows.
    package var recordChangeTag: String?
    /// The creator and time of creation.
    package var created: Stamp?
    /// The author and time of the last change.
    package var modified: Stamp?
    /// False in Apple's answers; a deleted record is a `Tombstone`.
    package var deleted: Bool?
    /// The record's zone. Nil if the message contains it.
    package var zoneID: ZoneID?
    /// The record this one hangs under when it is shared.
    package var parent: Reference?
    /// The share the record is in.
    package var share: Reference?
    /// The short name of a shared record in links.
    package var shortGUID: String?
    /// Fields of Apple's own plug-ins, mostly empty.
    package var pluginFields: [String: Field]?
    /// Fields of a response that can't be read, as they came: recordings of Apple's have some without a value
    /// or with damaged base64. In a request such a field is refused.
    package var unreadableFields: [String: JSONValue] = [:]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]
    /// True if a request says that the record hangs under nothing any more: its `parent` is null.
    package var takesParentAway: Bool {
        get { parent == nil && unknown["parent"] == .null }
        set { unknown["parent"] = newValue ? .null : nil }
    }
    /// The fields as they lie on disk, which a response is written from in place of `fields`.
    package var storedFields: [UInt8]?
    /// True if this record's numbers are written as text; nil: as the message has it.
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
