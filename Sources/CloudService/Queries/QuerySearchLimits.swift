/// How a search goes about it: nothing of it can be seen but in the time that it takes.
struct QuerySearchLimits: Hashable, Sendable {
    /// Rows that are sorted in memory for a page.
    var gatheredMax = 10_000
    /// Bytes of the rows that are sorted in memory for a page; with more the order's index is walked.
    var gatheredBytesMax = 64 << 20
    /// Bytes that a value by which is sorted takes in memory beside its own.
    var bytesOfKey = 32
    /// Entries of an index that are counted, for choosing a way, and count as one row more.
    var countedOfRow = 16
    /// Records of a type that are counted for that.
    var namesCountedMax = 100_000
    /// Bytes of a record that count as one row more.
    var bytesOfRow = 8 << 10
    /// Rows that are asked for at once.
    var chunkRows = 256
    /// Rows that a search in one of many zones may look at in any case, so that each page comes further.
    var rowsInZoneMin = 20
    /// Values that are looked for in each record and count as one row more.
    var valuesOfRow = 16
    /// Records in a ring around a place.
    var ringRows = 512
    /// Entries of the cells of a ring, of which some lie outside of it.
    var ringEntriesMax = 20_000
    /// The same, when the ring can't be made narrower: all are at one place.
    var entriesAtOnePlaceMax = 200_000
    /// Maximum records processed in one step of index work.
    var indexedRecordsMax = 200
}
