import CloudStore
import CloudWire

extension RecordDraft {
    /// Returns the record's part of its zone's checksum. Nil in a zone without a feed, which has no checksum.
    func checksum(of key: RecordKey, changeTag: ChangeTag) -> StoreChecksum? {
        guard changeTag.counter > 0 else { return nil }
        let content =
            assets.isEmpty
            ? ZoneChecksum.content(recordName: key.recordName, fieldBytes: fieldBytes)
            : ZoneChecksum.content(recordName: key.recordName, fields: fields.toldAssets)
        return StoreChecksum(
            ZoneChecksum(
                recordName: key.recordName, recordType: recordType, changeTag: changeTag.text,
                content: content))
    }
}

extension StoredRecord {
    /// The record's part of its zone's checksum, computed from its row.
    package var countedChecksum: StoreChecksum {
        // Unreadable fields are never sent. They are counted as stored, so that a later save subtracts the
        // same.
        let fields = (try? FieldsBinary.decode(fields)) ?? [:]
        let content =
            fields.assetUses.isEmpty
            ? ZoneChecksum.content(recordName: key.recordName, fieldBytes: self.fields)
            : ZoneChecksum.content(recordName: key.recordName, fields: fields.toldAssets)
        return StoreChecksum(
            ZoneChecksum(
                recordName: key.recordName, recordType: recordType, changeTag: changeTag, content: content))
    }
}

extension [String: Field] {
    /// The fields with each file as clients receive it, which is the form that clients count.
    fileprivate var toldAssets: [String: Field] {
        mapValues { $0.mappingAssets(\.told) }
    }
}

extension Asset {
    fileprivate var told: Asset { StoredAsset(self)?.told(in: .privateDatabase) ?? self }
}

extension StoreChecksum {
    init(_ checksum: ZoneChecksum) {
        self.init(identities: checksum.identities, contents: checksum.contents)
    }
}

extension ZoneRow {
    /// The checksum for our own clients on the last page of the zone's changes. Nil until all records are
    /// counted.
    package var toldChecksum: ZoneChecksum? {
        isCounted ? ZoneChecksum(identities: checksum.identities, contents: checksum.contents) : nil
    }
}
