import System

/// A directed graph of edges between rows, with rules that delete or notify one end when the other is deleted.
///
/// ```swift
/// let owns = YapDatabaseRelationship("owns", version: "1") {
///     $0.edge(
///         "author", \Book.author, in: "books", to: "authors", rules: .deleteSourceIfDestinationDeleted)
/// }
/// try await database.register(owns)
/// // Removes the author's books too:
/// try await connection.readWrite { try $0.removeObject(forKey: "hugo", inCollection: "authors") }
/// let books = try await connection.read {
///     try $0[owns].sources(named: "author", of: .row("zola", in: "authors"))
/// }
/// ```
///
/// Edges come from declared properties, from objects that are a `YapDatabaseRelationshipNode`, and from `add`. They
/// are updated with each write in the same transaction. Rules run at the end of the transaction's closure, so rows
/// can be written in any order. An edge with a missing end at that time is dropped, and the rules for a deleted end
/// run. The edge of an object that remains comes back when its destination is stored.
///
/// Stored objects get their edges at the registration, which triggers no rule: an edge to a missing row is created
/// when that row is stored. Rows that were removed while the relationship wasn't registered count as deleted, up to
/// the 100,000 changes that the database logs.
///
/// Rows fetched by a sync come in pages, each in a transaction of its own. If the other end of such a row's edge is
/// missing, the edge is kept and triggers nothing, because the end may come with a later page. Once it has come, its
/// deletion triggers the rules.
public final class YapDatabaseRelationship: YapDatabaseNamedExtension {
    /// Version of the tables.
    public static let classVersion = 3
    /// Its transactions record the edges that they read.
    public static let notesReads = true
    /// True: its edges have the names of rows.
    public static let catchesUp = true

    /// Name of the relationship in transactions and in the file.
    public let name: String
    /// The app's version, and the declared edges.
    public let versionTag: String
    /// Collections of all ends. Nil for all collections.
    public let collections: [String]?
    let declarations: [ExactString: [YapDatabaseRelationshipEdges.Declaration]]
    let whenEdgeDeleted: @Sendable (YapDatabaseEdgeDeletion) throws -> (any Sendable)?
    let files: RelationshipFiles

    /// Describes a relationship.
    ///
    /// - Parameters:
    ///   - name: Name of the relationship in transactions and in the file.
    ///   - version: Change it if objects have other edges than before. The edges of objects are then created again.
    ///     Manual edges are kept. Changed declarations are detected without it.
    ///   - collections: Collections of all ends of edges. Default: all collections. Writes in other collections are
    ///     faster.
    ///   - fileDeletion: How files are deleted, after the commit. Default: by absolute paths.
    ///   - declare: Declares the edges of properties.
    ///   - whenEdgeDeleted: Called inside the transaction for an edge with a rule that notifies. Returns the object
    ///     that replaces the one at the other end, or nil. An error fails the transaction, except one that stores
    ///     fetched or missed changes: there the error is recorded, see `problems()`.
    public init(
        _ name: String, version: String, in collections: [String]? = nil,
        fileDeletion: YapDatabaseFileDeletion = .atPaths,
        _ declare: (inout YapDatabaseRelationshipEdges) -> Void = { _ in },
        whenEdgeDeleted: @escaping @Sendable (YapDatabaseEdgeDeletion) throws -> (any Sendable)? = { _ in nil
        }
    ) {
        var edges = YapDatabaseRelationshipEdges()
        declare(&edges)
        self.name = name
        self.collections = collections
        self.whenEdgeDeleted = whenEdgeDeleted
        declarations = Dictionary(grouping: edges.declarations) { ExactString($0.collection) }
        files = RelationshipFiles(fileDeletion)
        let shape = edges.declarations.map(\.shape).joined(separator: ",")
        let heard = collections.map { $0.sorted().map { "\($0.utf8.count) \($0)" }.joined() } ?? "all"
        versionTag = "\(version);\(heard);\(shape)"
    }

    /// Returns the tables of edges, pending rules, files to delete, problems, and edges of objects to missing rows.
    public func tableNames(registeredName: String) -> [String] {
        ["", "Pending", "Files", "Problems", "Absent"].map { "relationship\($0)_\(registeredName)" }
    }

    /// Creates the part of one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseRelationshipConnection {
        YapDatabaseRelationshipConnection(self, tables: tableNames(registeredName: registeredName))
    }

    /// Deletes the files that an earlier run of the app left.
    public func didRegister(registeredName: String, database: YapDatabase) {
        files.begin(registeredName, in: database)
    }

    /// Returns true if edges may begin and end in a collection.
    func hears(of collection: String) -> Bool {
        collections?.contains { $0.hasSameBytes(as: collection) } ?? true
    }

    /// Returns the edges of an object, each once, in the order of their declarations. Nil if nothing declares any.
    ///
    /// - Returns: Also the mistake of the first edge that is skipped.
    func edges(of object: any Sendable, at source: YapCollectionKey) -> (
        edges: [YapDatabaseEdge], mistake: YapDatabaseError?
    )? {
        let declared = declarations[ExactString(source.collection)]
        let node = object as? any YapDatabaseRelationshipNode
        guard declared != nil || node != nil else { return nil }
        var (edges, seen, count) = ([YapDatabaseEdge](), Set<YapDatabaseEdge>(), 0)
        var mistake: YapDatabaseError?
        func add(_ more: [YapDatabaseEdge]) {
            let room = Self.edgesPerObjectMax - count
            count += min(more.count, room)
            if more.count > room {
                mistake =
                    mistake ?? error("the object has more than \(Self.edgesPerObjectMax) edges", at: source)
            }
            for edge in more.prefix(room) where seen.insert(edge.ofObject).inserted {
                let isBegunHere = edge.source == source
                let text =
                    isBegunHere ? self.mistake(in: edge) : "an edge \"\(edge.name)\" begins at another row"
                guard let text else {
                    edges.append(edge.ofObject)
                    continue
                }
                mistake = mistake ?? error(text, at: source)
            }
        }
        add(node?.edges(from: source) ?? [])
        for declaration in declared ?? [] { add(declaration.edges(of: object, at: source)) }
        return (edges, mistake)
    }

    /// Maximum edges of one object.
    static let edgesPerObjectMax = 100_000
    private static let nameBytesMax = 1_024
    private static let fileBytesMax = 4_096

    /// Throws `invalidExtension` for an edge that can't be stored.
    func check(_ edge: YapDatabaseEdge) throws {
        if let mistake = mistake(in: edge) { throw error(mistake, at: edge.source) }
    }

    private func error(_ mistake: String, at source: YapCollectionKey) -> YapDatabaseError {
        YapDatabaseError(
            .invalidExtension, "\(mistake), in \"\(name)\"", collection: source.collection, key: source.key)
    }

    private func mistake(in edge: YapDatabaseEdge) -> String? {
        if edge.name.utf8.count > Self.nameBytesMax {
            return "the name of an edge has more than \(Self.nameBytesMax) bytes"
        }
        if !YapDatabaseEdgeRules.all.isSuperset(of: edge.rules) {
            return "an edge has the unknown rules \(edge.rules.rawValue)"
        }
        if !hears(of: edge.source.collection) {
            return
                "an edge begins in the collection \"\(edge.source.collection)\", which isn't in `collections`"
        }
        switch edge.destination {
        case .row(let row):
            return hears(of: row.collection)
                ? nil : "an edge ends in the collection \"\(row.collection)\", which isn't in `collections`"
        case .file(let file):
            // A zero byte ends a path of the system, which would be another file.
            return (1...Self.fileBytesMax).contains(file.utf8.count) && !file.utf8.contains(0)
                ? nil : "the text of a file is empty, too long, or has a zero byte"
        }
    }

    /// Throws if the declarations are invalid.
    func check(in transaction: YapDatabaseReadTransaction) throws {
        for declaration in declarations.values.joined() {
            try declaration.check(transaction, name)
            let destination = declaration.destinationCollection ?? declaration.collection
            _ = try transaction.store.registered(destination)
            let source = YapCollectionKey(collection: declaration.collection, key: "")
            try check(
                YapDatabaseEdge(
                    declaration.name, from: source, to: .row("", in: destination), rules: declaration.rules))
        }
    }
}

extension YapDatabaseEdge {
    /// The edge as one that belongs to its object.
    var ofObject: YapDatabaseEdge {
        var edge = self
        edge.isManual = false
        return edge
    }
}

/// A relationship at one SQLite handle. It only keeps its SQL texts.
public final class YapDatabaseRelationshipConnection: YapDatabaseExtensionConnection {
    let relationship: YapDatabaseRelationship
    let sql: RelationshipSQL

    init(_ relationship: YapDatabaseRelationship, tables: [String]) {
        self.relationship = relationship
        sql = RelationshipSQL(tables: tables)
    }

    /// Creates the part of a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseRelationshipTransaction {
        guard let writing = transaction as? YapDatabaseReadWriteTransaction else {
            return YapDatabaseRelationshipTransaction(self, transaction, tables)
        }
        return YapDatabaseRelationshipWriteTransaction(self, writing, tables)
    }

    /// Does nothing, because nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Does nothing, because nothing is cached.
    public func dropCaches() {}
}
