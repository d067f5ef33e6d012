import CloudService
import CloudStore
import CloudWire

/// A zone of many records that an index on a whole number finds.
enum RankedNotes {
    private static let batchRecords = 10_000

    private static let schema = """
        DEFINE SCHEMA RECORD TYPE Note (
            "___recordID" REFERENCE QUERYABLE, rank INT64 QUERYABLE SORTABLE, title STRING, body STRING,
            GRANT READ TO "_world"
        );
        """

    /// Writes the records into the default zone of a user: ranks in no order, each twice; the rows as the service
    /// writes them.
    static func fill(_ store: SQLiteCloudStore, of user: String, recordsCount: Int) throws {
        let zone = ZoneKey(database: .privateDatabase(of: user), zoneName: "_defaultZone")
        let stamp = StoreStamp(
            timestampMilliseconds: 1_700_000_000_000, userRecordName: user, deviceID: "1")
        let names = ServiceRequests(seed: 4).names(recordsCount)
        for start in stride(from: 0, to: recordsCount, by: batchRecords) {
            var changes = StoreChanges()
            if start == 0 { changes.schema = SchemaRow(version: 1, content: Array(schema.utf8)) }
            for number in start..<start + batchRecords {
                let rank = Int64(number) * 7_919 % Int64(recordsCount / 2)
                let key = RecordKey(zone: zone, recordName: names[number])
                changes.records.append(
                    StoredRecord(
                        key: key, recordType: "Note", tagEpoch: UInt64(number) + 1, counter: 0,
                        created: stamp, modified: stamp,
                        fields: FieldsBinary.encode(fields(number, rank: rank))))
                changes.indexes.append(
                    RecordIndexRow(
                        key: key, recordType: "Note",
                        entries: [StoredIndexEntry(field: "rank", kind: .order, value: indexValue(rank))]))
            }
            try store.write { try $0.apply(changes) }
        }
    }

    /// A rank as it stands in the index.
    static func indexValue(_ rank: Int64) -> [UInt8] {
        [1] + withUnsafeBytes(of: (UInt64(bitPattern: rank) ^ 1 << 63).bigEndian) { Array($0) }
    }

    private static func fields(_ number: Int, rank: Int64) -> [String: Field] {
        [
            "rank": Field(.int64(rank)), "title": Field(.string("Note number \(number)")),
            "body": Field(.string("Two dozen eggs from the farm, and the bill of the 28th.")),
        ]
    }
}
