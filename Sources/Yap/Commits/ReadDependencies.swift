/// Reads of a transaction, for observations: a commit that changes none of them can't change the result.
struct ReadDependencies: Sendable {
    /// Maximum keys recorded for one collection. Beyond it the whole collection is recorded.
    static let keysPerCollectionMax = 100
    /// Maximum parts recorded for one extension. Beyond it all changes of the extension count.
    static let partsPerExtensionMax = 100

    typealias Part = @Sendable (any Sendable) -> Bool

    private enum Rows: Sendable {
        case all
        case keys(Set<ExactString>)
    }

    private enum Parts: Sendable {
        case all
        case some([Part])
    }

    private var isEverything = false
    private var rows: [ExactString: Rows] = [:]
    private var extensions: [UInt64: Parts] = [:]

    /// Records a read that any commit may change.
    mutating func addEverything() { isEverything = true }

    /// Records a read of any rows of a collection.
    mutating func add(collection: String) { rows[ExactString(collection)] = .all }

    /// Records a read of one row.
    mutating func add(key: String, collection: String) {
        switch rows[ExactString(collection), default: .keys([])] {
        case .all: return
        case .keys(var keys):
            // Removed first, so that the set is changed in place.
            rows[ExactString(collection)] = nil
            keys.insert(ExactString(key))
            rows[ExactString(collection)] = keys.count > Self.keysPerCollectionMax ? .all : .keys(keys)
        }
    }

    /// Records a read of a part of an extension.
    ///
    /// - Parameters:
    ///   - generation: The generation of the registration.
    ///   - part: Returns whether a result of the extension's `changesForConnections()` changes the part.
    mutating func add(_ generation: UInt64, part: @escaping Part) {
        switch extensions[generation, default: .some([])] {
        case .all: return
        case .some(let parts):
            extensions[generation] =
                parts.count < Self.partsPerExtensionMax ? .some(parts + [part]) : .all
        }
    }

    /// Returns true if a commit may have changed something that was read.
    func areChanged(by commit: YapDatabaseCommit) -> Bool {
        if isEverything { return true }
        for (collection, rows) in rows {
            switch rows {
            case .all:
                if commit.hasChange(inCollection: collection.string) { return true }
            case .keys(let keys):
                let isChanged = keys.contains {
                    commit.hasChange(forKey: $0.string, inCollection: collection.string)
                }
                if isChanged { return true }
            }
        }
        return extensions.contains { generation, parts in
            commit.hasChange(ofExtension: generation) { changes in
                switch parts {
                case .all: true
                case .some(let parts): parts.contains { $0(changes) }
                }
            }
        }
    }
}
