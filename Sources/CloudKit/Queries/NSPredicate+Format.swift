public import Foundation
internal import System

// Foundation on Linux declares its own initializers with a format string unavailable. These replace them in files that
// import CloudKit. The predicate has a block that passes the parsed format to a probe, so it survives copies and
// compound predicates.
extension NSPredicate {
    /// Makes a predicate from `predicateFormat`. `%@`, `%d` and the like stand for `arguments`, `%K` for names of
    /// fields.
    ///
    /// An invalid format raises no exception. The query that uses it fails with `CKError.invalidArguments`, which has
    /// the reason and the position.
    public convenience init(format predicateFormat: String, _ arguments: any CVarArg...) {
        self.init(format: predicateFormat, argumentArray: arguments)
    }

    /// Makes a predicate from `predicateFormat` with the values of its placeholders.
    public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        let parsed = Result { () throws(PredicateFormatError) in
            try PredicateParser.parse(predicateFormat, arguments: arguments ?? [])
        }
        self.init { object, _ in
            guard let probe = object as? PredicateProbe else {
                return PredicateEvaluation.matches(parsed, object)
            }
            probe.found.withLock { $0 = (predicateFormat, parsed) }
            return false
        }
    }
}

/// Receives the parsed format of a predicate.
private final class PredicateProbe: NSObject, Sendable {
    typealias Found = (format: String, parsed: Result<Predicate, PredicateFormatError>)
    let found = Lock<Found?>(nil)
}

extension Predicate {
    /// The content of `predicate`.
    /// - Throws: `CKError.invalidArguments` for an invalid format, and for a predicate made from a block.
    init(_ predicate: NSPredicate) throws(CKError) {
        if let compound = predicate as? NSCompoundPredicate {
            self = try Predicate(compound)
            return
        }
        let probe = PredicateProbe()
        let result = predicate.evaluate(with: probe)
        if let found = probe.found.withLock({ $0 }) {
            do throws(PredicateFormatError) {
                self = try found.parsed.get()
            } catch {
                throw CKError(
                    .invalidArguments,
                    "The predicate \"\(found.format)\" can't be read at character \(error.offset): \(error.problem)"
                )
            }
            return
        }
        // A constant predicate equals other constant ones; one made from a block equals only itself.
        guard predicate.isEqual(NSPredicate(value: result)) else {
            throw CKError(
                .invalidArguments,
                "A query's predicate has to be made from a format string: the cloud can't run a block.")
        }
        self = .constant(result)
    }

    private init(_ compound: NSCompoundPredicate) throws(CKError) {
        var parts: [Predicate] = []
        for part in compound.subpredicates { parts.append(try Predicate(part)) }
        switch compound.compoundPredicateType {
        case .and: self = parts.isEmpty ? .constant(true) : .and(parts)
        case .or: self = parts.isEmpty ? .constant(false) : .or(parts)
        case .not:
            guard let part = parts.first else {
                throw CKError(.invalidArguments, "A compound predicate of NOT has no part.")
            }
            self = .not(part)
        }
    }
}
