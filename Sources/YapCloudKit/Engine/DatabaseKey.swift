/// A cloud database of one account, by the app's identifier; nil is the private database of the default container.
package struct DatabaseKey: Hashable, Comparable, Sendable {
    /// The account of a new file, before its user is known.
    package static let firstAccount: Int64 = 1

    /// Number of the account in the device's database.
    package let account: Int64
    /// The app's identifier of the user's database.
    package let identifier: String?

    package init(_ identifier: String?, account: Int64 = firstAccount) {
        self.account = account
        self.identifier = identifier
    }

    /// The value in a table. Nil and "" are different databases, and a UNIQUE index takes no NULL.
    package var column: String { identifier.map { "\(account):\($0)" } ?? "\(account)" }

    /// Reads the value of a table.
    package init(column: String) {
        let parts = column.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        account = parts.first.flatMap { Int64($0) } ?? 0
        identifier = parts.count == 2 ? String(parts[1]) : nil
    }

    package static func < (left: DatabaseKey, right: DatabaseKey) -> Bool {
        guard left.account == right.account else { return left.account < right.account }
        guard let right = right.identifier else { return false }
        return left.identifier.map { $0 < right } ?? true
    }
}
