import Foundation

/// Writes a predicate as a format string and its arguments, which parse to the same predicate. Used in archives,
/// because Foundation on Linux has no form for them.
struct PredicateWriter {
    private(set) var format = ""
    /// The arguments of the placeholders. A keyed archive accepts their classes.
    private(set) var arguments: [Any] = []

    init(_ predicate: Predicate) {
        write(predicate)
    }

    private mutating func write(_ predicate: Predicate) {
        switch predicate {
        case .constant(let holds): format += holds ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let parts): write(parts, joinedBy: " AND ")
        case .or(let parts): write(parts, joinedBy: " OR ")
        case .not(let part):
            format += "NOT ("
            write(part)
            format += ")"
        case .comparison(let comparison): write(comparison)
        }
    }

    private mutating func write(_ parts: [Predicate], joinedBy sign: String) {
        for (index, part) in parts.enumerated() {
            if index > 0 { format += sign }
            format += "("
            write(part)
            format += ")"
        }
    }

    private mutating func write(_ comparison: PredicateComparison) {
        if comparison.modifier != .direct { format += comparison.modifier.rawValue + " " }
        write(comparison.left)
        format += " " + comparison.comparator.rawValue
        if !comparison.options.isEmpty { format += "[\(comparison.options)]" }
        format += " "
        write(comparison.right)
    }

    private mutating func write(_ operand: PredicateOperand) {
        switch operand {
        case .key(let key):
            format += "%K"
            arguments.append(key as NSString)
        case .record: format += "SELF"
        case .value(let value):
            format += "%@"
            arguments.append(value.object)
        case .null: format += "nil"
        case .list(let operands):
            format += "{"
            write(operands)
            format += "}"
        case .function(let name, let operands):
            format += name + "("
            write(operands)
            format += ")"
        case .variable(let name): format += "$" + name
        }
    }

    private mutating func write(_ operands: [PredicateOperand]) {
        for (index, operand) in operands.enumerated() {
            if index > 0 { format += ", " }
            write(operand)
        }
    }
}
