/// Kinds of transactions that a connection may begin.
///
/// Restrict a connection that has one purpose, so that a mistake fails at its first run. For example, a connection
/// for a list only reads.
///
/// ```swift
/// let list = database.newConnection(name: "list", permits: .anyRead)
/// ```
public struct YapDatabasePermittedTransactions: OptionSet, Hashable, Sendable {
    /// One bit for each kind.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `connection.read`, and calls that use it: `observe`, `changes(of:)`, `beginLongLivedRead`.
    public static let read = Self(rawValue: 1)
    /// `connection.blocking.read`.
    public static let blockingRead = Self(rawValue: 2)
    /// `connection.readWrite`, and a proxy of the connection, which uses it.
    public static let readWrite = Self(rawValue: 4)
    /// `connection.blocking.readWrite`.
    public static let blockingReadWrite = Self(rawValue: 8)

    /// All transactions that read.
    public static let anyRead: Self = [.read, .blockingRead]
    /// All transactions that write.
    public static let anyReadWrite: Self = [.readWrite, .blockingReadWrite]
    /// All transactions.
    public static let any: Self = [.anyRead, .anyReadWrite]
}

extension YapDatabasePermittedTransactions: CustomStringConvertible {
    /// Names of the kinds.
    public var description: String {
        let names = ["read", "blockingRead", "readWrite", "blockingReadWrite"]
        let bits = 0..<names.count
        return "[" + bits.filter { rawValue & 1 << $0 != 0 }.map { names[$0] }.joined(separator: ", ") + "]"
    }

    /// Checks that all of `wanted` are permitted.
    ///
    /// - Throws: `YapDatabaseError` of code `transactionNotPermitted`.
    func check(_ wanted: Self, of owner: String) throws {
        if contains(wanted) { return }
        throw YapDatabaseError(.transactionNotPermitted, "\(owner) permits \(self) and not \(wanted)")
    }
}

extension YapDatabaseConnection {
    /// Checks that the connection may begin such a transaction.
    ///
    /// - Throws: `YapDatabaseError` of code `transactionNotPermitted`.
    func check(_ wanted: YapDatabasePermittedTransactions) throws {
        try permits.check(wanted, of: name.map { "the connection \"\($0)\"" } ?? "a connection")
    }
}
