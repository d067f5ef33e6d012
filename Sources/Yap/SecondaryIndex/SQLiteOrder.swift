/// SQLite's order of two values.
enum SQLiteOrder {
    case less, same, greater

    init<Value: Comparable>(_ left: Value, _ right: Value) {
        self = left < right ? .less : left > right ? .greater : .same
    }

    /// Compares whole and floating-point numbers exactly, without rounding the whole one.
    init(_ left: Int64, _ right: Double) {
        if right < -0x1p63 {
            self = .greater
        } else if right >= 0x1p63 {
            self = .less
        } else {
            let whole = SQLiteOrder(left, Int64(right))
            self = whole == .same ? SQLiteOrder(0.0, right - right.rounded(.towardZero)) : whole
        }
    }

    /// Compares by bytes. The shorter one is first.
    init(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) {
        self =
            left.lexicographicallyPrecedes(right)
            ? .less : right.lexicographicallyPrecedes(left) ? .greater : .same
    }

    var reversed: SQLiteOrder {
        switch self {
        case .less: .greater
        case .same: .same
        case .greater: .less
        }
    }
}

extension YapDatabaseColumnValue {
    /// True if SQLite stores it as null, including NaN.
    var isStoredAsNull: Bool {
        switch self {
        case .null: true
        case .real(let number): number.isNaN
        default: false
        }
    }

    /// Returns SQLite's order of this value and another, in a column without a type. Nil if one is null.
    func compared(to other: YapDatabaseColumnValue) -> SQLiteOrder? {
        if isStoredAsNull || other.isStoredAsNull { return nil }
        return switch (self, other) {
        case (.integer(let left), .integer(let right)): SQLiteOrder(left, right)
        case (.real(let left), .real(let right)): SQLiteOrder(left, right)
        case (.integer(let left), .real(let right)): SQLiteOrder(left, right)
        case (.real(let left), .integer(let right)): SQLiteOrder(right, left).reversed
        case (.text(let left), .text(let right)): SQLiteOrder(left.utf8, right.utf8)
        case (.blob(let left), .blob(let right)): SQLiteOrder(left, right)
        default: SQLiteOrder(storageClass, other.storageClass)
        }
    }

    /// Rank of its storage class.
    private var storageClass: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }
}
