internal import System

/// Objects that are shared by all who ask for the same, for as long as one of these keeps them: the table doesn't.
/// An object takes itself out with `forget` when it goes.
final class WeakTable<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
    /// A class: a weak reference in a generic struct in a dictionary is read through a null pointer (Swift 6.3.1).
    private final class Entry {
        private(set) weak var value: Value?
        /// Tells the object that goes from the one that has taken its place.
        let id: ObjectIdentifier

        init(_ value: Value) {
            self.value = value
            id = ObjectIdentifier(value)
        }
    }

    private let entries = Lock<[Key: Entry]>([:])

    /// The object for `key`: the one that is there, or the one that `make` makes.
    ///
    /// Nothing is made, and nothing goes, while the lock is held: of two threads that make one at a time, the slower
    /// one's goes unused.
    func value(_ key: Key, orMake make: () -> Value) -> Value {
        if let value = entries.withLock({ $0[key]?.value }) { return value }
        let made = make()
        return entries.withLock { entries in
            if let value = entries[key]?.value { return value }
            entries[key] = Entry(made)
            return made
        }
    }

    /// Forgets `value`, which is about to go: called at its end.
    func forget(_ key: Key, _ value: Value) {
        let id = ObjectIdentifier(value)
        entries.withLock { if $0[key]?.id == id { $0[key] = nil } }
    }
}
