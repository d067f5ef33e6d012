import CloudService

/// Whether the schema has what a question names. A typo would be answered with nothing, as if nothing were stored.
struct RecordNames {
    let schema: Schema
    /// Where it is asked, for a person: the environment and the container.
    let place: String

    /// What every record has beside the fields of its type.
    private static let systemFields = ["recordName", "recordType", "createdTimestamp", "modifiedTimestamp"]
    /// Other names of those, which needn't be told.
    private static let otherNames = [
        "___recordID", "___createTime", "createdTime", "___modTime", "modificationTime",
    ]

    /// Checks a question's type and fields.
    ///
    /// - Throws: `Failure.notThere` with the nearest names.
    func check(_ recordType: String, _ conditions: [RecordCondition], _ orders: [RecordOrder]) throws {
        guard let type = schema.recordTypes[recordType] else {
            let nearest = Nearest.list(schema.recordTypes.keys, to: recordType)
            throw Failure.notThere(
                "\(place) has no record type \(recordType)."
                    + (nearest.map { " There are: \($0)." }
                        ?? " It has none yet: a record's save makes its type."))
        }
        let known = type.fields.keys + Self.systemFields
        for field in conditions.map(\.field) + orders.map(\.field)
        where !known.contains(field) && !Self.otherNames.contains(field) {
            throw Failure.notThere(
                "\(recordType) has no field \(field). There are: \(Nearest.list(known, to: field) ?? "none")."
            )
        }
    }

    /// The same conditions on values that the fields can have.
    ///
    /// - Throws: `Failure.usage`, as `RecordCondition.fitting`.
    func fitting(_ conditions: [RecordCondition], of recordType: String) throws -> [RecordCondition] {
        guard let type = schema.recordTypes[recordType] else { return conditions }
        return try conditions.flatMap { try $0.fitting(type) }
    }
}
