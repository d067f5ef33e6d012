import CloudWire

/// Reduces the response of an operator's query to the number of records, or to truncated values.
package struct OperatorView: Sendable {
    /// The query item that requests only the number of records.
    package static let countItem = "count"
    /// The query item with the maximum bytes of a value.
    package static let bytesItem = "valueBytesMax"
    private static let bytesMax = 65_536

    let isCount: Bool
    let valueBytesMax: Int?

    /// - Throws: a `WireError` if the number of bytes is invalid.
    init(_ request: WireRequest) throws(WireError) {
        isCount = request.flag(Self.countItem)
        let text = request.queryItem(Self.bytesItem)
        valueBytesMax = text.flatMap { Int($0) }
        guard text == nil || (1...Self.bytesMax).contains(valueBytesMax ?? 0) else {
            throw ServiceError.badRequest("\(Self.bytesItem) is a number from 1 to \(Self.bytesMax)")
        }
    }
}
