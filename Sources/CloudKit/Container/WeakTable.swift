internal import System

/// Objects that are shared by key. The table doesn't retain them: an object removes itself with `forget` in
/// its `deinit`.
final class WeakTable<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
    /// A class: a weak reference in a generic struct in a dictionary is read through a null pointer (Swift 6.3.1).
    private final class Entry {
        private(set) weak var value: Value?
        /// Distinguishes a released object from its replacement.
        let id: ObjectIdentifier

        init(_ value: Value) {
            self.value = value
            id = ObjectIdentifier(value)
        }
    }

    private let entries = Lock<[Key: Entry]>([:])

    /// Returns the object for `key`, and makes it with `make` if it doesn't exist.
    ///
    /// No object is made or released while the lock is held. If two threads make one at once, both get the first one.
    func value(_ key: Key, orMake make: () -> Value) -> Value {
        if let value = entries.withLock({ $0[key]?.value }) { return value }
        let made = make()
        return entries.withLock { entries in
            if let value = entries[key]?.value { return value }
            entries[key] = Entry(made)
            return made
        }
    }

    /// Removes `value`. Called by its `deinit`.
    func forget(_ key: Key, _ value: Value) {
        let id = ObjectIdentifier(value)
        entries.withLock { if $0[key]?.id == id { $0[key] = nil } }
    }
}
