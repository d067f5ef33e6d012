import SQLite

/// SQL statements on the virtual table of one R-tree index.
///
/// The tree's own columns are bounds in 32 bits, rounded outwards. The exact values are in auxiliary columns.
struct RTreeSQL: Sendable {
    /// The statements that read exact values.
    let exact: SecondaryIndexSQL
    /// Bounds of the exact columns, by the columns' SQL.
    let bounds: [String: IndexBounds]
    let create: String
    /// Inserts or replaces a row.
    let insert: String
    let delete: String
    /// Returns a row of the database by its rowid.
    let row = "SELECT rowid, key, data FROM database2 WHERE rowid = ?1"
    /// Returns the key of a row by its rowid.
    let key = "SELECT rowid, key FROM database2 WHERE rowid = ?1"

    init(table: String, columns: [String], dimensions: [RTreeDimension]) {
        let exact = SecondaryIndexSQL(table: table, columns: columns)
        var bounds: [String: IndexBounds] = [:]
        for dimension in dimensions {
            let names = IndexBounds(
                lower: "i.\(Connection.quoted(dimension.lower))",
                upper: "i.\(Connection.quoted(dimension.upper))")
            for place in [dimension.from, dimension.to] { bounds[exact.column(place)] = names }
        }
        (self.exact, self.bounds) = (exact, bounds)
        let table = Connection.quoted(table)
        let tree = dimensions.flatMap { [$0.lower, $0.upper] }.map(Connection.quoted)
        let names = columns.map(Connection.quoted)
        create =
            "DROP TABLE IF EXISTS \(table); CREATE VIRTUAL TABLE \(table) USING rtree"
            + "(rowid, \((tree + names.map { "+\($0)" }).joined(separator: ", ")));"
        let values = (1...(1 + tree.count + names.count)).map { "?\($0)" }.joined(separator: ", ")
        insert =
            "INSERT OR REPLACE INTO \(table) (rowid, \((tree + names).joined(separator: ", "))) VALUES (\(values))"
        delete = "DELETE FROM \(table) WHERE rowid = ?1"
    }

    /// Returns the bounds of a dimension.
    func bounds(of dimension: RTreeDimension) -> IndexBounds? { bounds[exact.column(dimension.from)] }
}
