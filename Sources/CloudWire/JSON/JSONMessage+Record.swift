/// A single record, for tools that print stored records.
extension WireRecord: JSONMessage {}
