/// Tuning parameters of a search. They affect only its duration.
struct QuerySearchLimits: Hashable, Sendable {
    /// Maximum rows sorted in memory for a page.
    var gatheredMax = 10_000
    /// Maximum bytes of rows sorted in memory for a page. Above it, the sort index is read.
    var gatheredBytesMax = 64 << 20
    /// Memory overhead in bytes of a sort key's value.
    var bytesOfKey = 32
    /// Index entries counted to choose a plan that are charged as one row.
    var countedOfRow = 16
    /// Maximum records of a type counted to choose a plan.
    var namesCountedMax = 100_000
    /// Bytes of a record that are charged as one additional row.
    var bytesOfRow = 8 << 10
    /// Rows read at once.
    var chunkRows = 256
    /// Minimum rows that a search of one of many zones may read, so that each page makes progress.
    var rowsInZoneMin = 20
    /// Values searched in each record that are charged as one additional row.
    var valuesOfRow = 16
    /// Target number of records in a ring around a place.
    var ringRows = 512
    /// Maximum entries of the cells of a ring, including those outside of the ring.
    var ringEntriesMax = 20_000
    /// The same maximum if the ring can't be narrowed because all records are at one place.
    var entriesAtOnePlaceMax = 200_000
    /// Maximum records processed in one step of index work.
    var indexedRecordsMax = 200
}
