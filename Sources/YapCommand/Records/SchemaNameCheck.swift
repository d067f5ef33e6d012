import CloudService

/// Checks names against the schema. Otherwise a mistyped name would look like an empty result.
struct SchemaNameCheck {
    let schema: Schema
    /// Description of the place: the environment and the container.
    let place: String

    /// Fields of every record besides those of its type.
    private static let systemFields = ["recordName", "recordType", "createdTimestamp", "modifiedTimestamp"]
    /// Other names of these fields, which aren't suggested.
    private static let otherNames = [
        "___recordID", "___createTime", "createdTime", "___modTime", "modificationTime",
    ]

    /// Checks the type and the fields of a query.
    ///
    /// - Throws: `Failure.notThere` with the closest names.
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

    /// Returns the conditions with values of the fields' types.
    ///
    /// - Throws: `Failure.usage`: see `RecordCondition.fitting`.
    func fitting(_ conditions: [RecordCondition], of recordType: String) throws -> [RecordCondition] {
        guard let type = schema.recordTypes[recordType] else { return conditions }
        return try conditions.flatMap { try $0.fitting(type) }
    }
}
