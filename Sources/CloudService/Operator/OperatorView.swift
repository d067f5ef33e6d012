import CloudWire

/// What an operator wants of a query in the place of whole records: their number, or values that are cut.
package struct OperatorView: Sendable {
    /// The query item that asks for the number of records alone.
    package static let countItem = "count"
    /// The query item with the bytes that a value may have.
    package static let bytesItem = "valueBytesMax"
    private static let bytesMax = 65_536

    let isCount: Bool
    let valueBytesMax: Int?

    /// - Throws: a `WireError` when the bytes are no number that is allowed.
    init(_ request: WireRequest) throws(WireError) {
        isCount = request.flag(Self.countItem)
        let text = request.queryItem(Self.bytesItem)
        valueBytesMax = text.flatMap { Int($0) }
        guard text == nil || (1...Self.bytesMax).contains(valueBytesMax ?? 0) else {
            throw ServiceError.badRequest("\(Self.bytesItem) is a number from 1 to \(Self.bytesMax)")
        }
    }
}
