import CloudStore
import CloudWire

extension RecordDraft {
    /// What the record adds to its zone's checksum; nil in a zone without a feed, which has none.
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
    /// What the record adds to its zone's checksum, counted from its row.
    package var countedChecksum: StoreChecksum {
        // Fields that can't be read are told to nobody. They count as they lie there, so that a later save takes the
        // same away.
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
    /// The fields with each file as clients are told of it: that is what they count.
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
    /// What clients of ours are told on the last page of the zone's changes; nil while not all records are counted.
    package var toldChecksum: ZoneChecksum? {
        isCounted ? ZoneChecksum(identities: checksum.identities, contents: checksum.contents) : nil
    }
}
