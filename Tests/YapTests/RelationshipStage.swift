import SQLite
import System

@testable import Yap

/// An object of a graph. Its edges are what it says.
struct GraphNode: Codable, Sendable, Equatable, YapDatabaseRelationshipNode {
    struct Link: Codable, Sendable, Equatable {
        var name: String
        /// The key of a node, or the text of a file.
        var to: String
        var rules: Int64
        var isFile = false
    }

    var links: [Link] = []
    var mark = 0

    init(mark: Int = 0, _ links: [Link] = []) { (self.links, self.mark) = (links, mark) }

    /// Links of one name to several nodes.
    init(_ name: String, _ keys: [String], _ rules: YapDatabaseEdgeRules = []) {
        links = keys.map { Link(name: name, to: $0, rules: rules.rawValue) }
    }

    init(file: String, _ rules: YapDatabaseEdgeRules = .deleteDestinationIfSourceDeleted) {
        links = [Link(name: "file", to: file, rules: rules.rawValue, isFile: true)]
    }

    func edges(from source: YapCollectionKey) -> [YapDatabaseEdge] {
        links.map { link in
            YapDatabaseEdge(
                link.name, from: source, to: link.isFile ? .file(link.to) : .row(link.to, in: "nodes"),
                rules: YapDatabaseEdgeRules(rawValue: link.rules))
        }
    }
}

/// A database with the nodes of a graph, and what its relationship was called with.
struct RelationshipStage {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection
    let graph: YapDatabaseRelationship

    init(
        _ graph: YapDatabaseRelationship = YapDatabaseRelationship("graph", version: "1"),
        in folder: TestFolder? = nil, isRegistered: Bool = true
    ) throws {
        self.folder = try folder ?? TestFolder()
        self.graph = graph
        database = try Self.open(self.folder)
        connection = database.newConnection()
        if isRegistered { try database.blocking.register(graph) }
    }

    static func open(_ folder: TestFolder) throws -> YapDatabase {
        try folder.open { $0.register(GraphNode.self, inCollection: "nodes") }
    }

    func write<Result>(_ body: (YapDatabaseReadWriteTransaction) throws -> Result) throws -> Result {
        try connection.blocking.readWrite(body)
    }

    /// Reads with a connection whose caches are empty.
    func read<Result>(_ body: (YapDatabaseReadTransaction) throws -> Result) throws -> Result {
        try database.newConnection().blocking.read(body)
    }

    func keys() throws -> [String] { try read { try $0.keys() } }

    func count() throws -> Int { try read { try $0[graph].count() } }

    /// The rows of a table of the relationship.
    func table(_ kind: String = "") throws -> Int {
        try read { transaction in
            try transaction.store.statement("SELECT count(*) FROM \"relationship\(kind)_\(graph.name)\"") {
                try $0.step() ? Int($0.int64(at: 0)) : -1
            }
        }
    }
}

extension YapDatabaseReadTransaction {
    /// The keys of all nodes, in order.
    func keys() throws -> [String] { try allKeys(inCollection: "nodes").sorted() }

    func node(_ key: String) throws -> GraphNode? {
        try object(GraphNode.self, forKey: key, inCollection: "nodes")
    }
}

extension YapDatabaseReadWriteTransaction {
    func set(_ node: GraphNode, _ key: String) throws {
        try setObject(node, forKey: key, inCollection: "nodes")
    }

    func remove(_ key: String) throws { try removeObject(forKey: key, inCollection: "nodes") }
}

extension YapCollectionKey {
    /// The row of a node.
    static func node(_ key: String) -> YapCollectionKey { YapCollectionKey(collection: "nodes", key: key) }
}

extension YapDatabaseEdgeDestination {
    static func node(_ key: String) -> YapDatabaseEdgeDestination { .row(key, in: "nodes") }
}

/// Files that exist in memory only, and which of them were deleted.
final class MemoryFiles: Sendable {
    private let state = Lock<(deleted: [String], isFailing: Bool)>(([], false))

    var deleted: [String] { state.withLock { $0.deleted } }

    var deletion: YapDatabaseFileDeletion {
        YapDatabaseFileDeletion { file in
            try self.state.withLock { state in
                if state.isFailing { throw Refused() }
                state.deleted.append(file)
            }
        }
    }

    func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }
}
